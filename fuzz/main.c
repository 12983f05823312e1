/*
 * tilefuzz: finds the command in the table and hands over. A command is one file
 * fuzz/cmd_NAME.c and one row of fuzz/commands.def.
 */
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/cmd.h"

static const struct command commands[] = {
#define COMMAND(id, args, help) { #id, cmd_##id, args, help },
#include "fuzz/commands.def"
#undef COMMAND
};

static void print_help(void)
{
    puts("Usage: tilefuzz COMMAND [OPTION...] [ARGUMENT...]\n"
         "Kernel fuzzer and differential tester for tensor compilers.\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        printf("  %-9s %-31s %s\n", commands[i].name, commands[i].args, commands[i].help);
    puts("\nExamples:\n"
         "  tilefuzz fuzz --preset all --for 60s     hunt for a minute\n"
         "  tilefuzz db ls                           what was found\n"
         "  tilefuzz explain 1                       why bug 1 is wrong\n"
         "\n`tilefuzz COMMAND --help` tells more; `tilefuzz --version` prints the version.\n"
         "Exit codes: 0 clean, 1 findings, 2 usage, 3 could not run, 130 interrupted.");
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* Runs a command under the name by which its messages are known. */
static int hand_over(const struct command *c, int argc, char **argv)
{
    char name[64];

    snprintf(name, sizeof name, "tilefuzz %s", c->name);
    argv[0] = name;
    int rc = c->run(argc, argv);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "tilefuzz: cannot write to standard output\n");
        return CMD_CANNOT;
    }
    return rc;
}

/* Options that stand in front of a command, or in place of one. */
static int without_command(const char *arg)
{
    if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0) {
        puts("tilefuzz " TILEFUZZ_VERSION);
        return CMD_CLEAN;
    }
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0 || strcmp(arg, "help") == 0) {
        print_help();
        return CMD_CLEAN;
    }
    if (arg[0] == '-')
        fprintf(stderr, "tilefuzz: unknown option '%s'; see tilefuzz --help\n", arg);
    else
        fprintf(stderr, "tilefuzz: unknown command '%s'; see tilefuzz --help\n", arg);
    return CMD_USAGE;
}

int main(int argc, char **argv)
{
    const struct command *c;

    cmd_program = argv[0];
    argp_err_exit_status = CMD_USAGE;
    if (argc < 2) {
        fprintf(stderr, "tilefuzz: no command; see tilefuzz --help\n");
        return CMD_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) {
        char help[] = "--help", *args[] = { argv[0], help, NULL };

        c = find(argv[2]);
        return c ? hand_over(c, 2, args) : without_command(argv[2]);
    }
    c = find(argv[1]);
    return c ? hand_over(c, argc - 1, argv + 1) : without_command(argv[1]);
}

#include "run/plugin/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tilefuzz/plugin.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "ir/contract.h"

#define CONTRACT(id, bit, name, help)                                                          \
    _Static_assert((unsigned)CONTRACT_##id == (unsigned)TF_##id, name);
#include "ir/contract.def"
#undef CONTRACT
_Static_assert((int)CAP_INPUT_STRIDES == (int)TF_INPUT_STRIDES, "strides of inputs");
_Static_assert((int)CAP_OUTPUT_STRIDES == (int)TF_OUTPUT_STRIDES, "strides of outputs");

enum { ASK_SECONDS = 20 };

/* A name without a slash would be looked for among the system's libraries. */
static void *open_file(const char *path)
{
    char here[4096];

    if (strchr(path, '/'))
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    snprintf(here, sizeof here, "./%s", path);
    return dlopen(here, RTLD_NOW | RTLD_LOCAL);
}

const struct tf_plugin *plugin_load(const char *path, struct err *e)
{
    const struct tf_plugin *(*open)(uint32_t abi);
    const struct tf_plugin *p;
    void *lib = open_file(path);

    if (!lib) {
        err_set(e, ERR_MISSING, "%s", dlerror());
        return NULL;
    }
    *(void **)&open = dlsym(lib, "tf_plugin_open");
    if (!open) {
        err_set(e, ERR_MISSING, "%s has no tf_plugin_open", path);
        return NULL;
    }
    p = open(TF_ABI);
    if (!p || p->abi != TF_ABI) {
        err_set(e, ERR_MISSING, "%s does not speak version %u of the interface", path, TF_ABI);
        return NULL;
    }
    if (!p->name || !p->version || !p->prepare || !p->run) {
        err_set(e, ERR_MISSING, "%s: name, version, prepare or run is missing", path);
        return NULL;
    }
    return p;
}

static int read_dtypes(const struct tf_plugin *p, struct caps *c, struct err *e)
{
    enum dtype dt;

    if (p->dtypes)
        memset(c->dtype, 0, sizeof c->dtype);
    for (int i = 0; p->dtypes && p->dtypes[i]; i++) {
        if (!dtype_parse(p->dtypes[i], strlen(p->dtypes[i]), &dt))
            return err_set(e, ERR_MISSING, "no dtype is called '%s'", p->dtypes[i]);
        c->dtype[dt] = true;
    }
    return 0;
}

static int read_caps(const struct tf_plugin *p, struct caps *c, struct err *e)
{
    memset(c, 0, sizeof *c);
    caps_all(c, p->ops ? CAP_NO : CAP_YES);
    if (read_dtypes(p, c, e))
        return e->code;
    for (int i = 0; p->ops && p->ops[i]; i++)
        if (!caps_add_op(c, p->ops[i], CAP_YES))
            return err_set(e, ERR_MISSING, "'%s' is no op with its dtypes", p->ops[i]);
    c->max_rank = p->max_rank;
    c->max_nodes = p->max_nodes;
    c->layouts = p->layouts;
    c->contract = p->contract;
    snprintf(c->name, sizeof c->name, "%s", p->name);
    snprintf(c->version, sizeof c->version, "%s %s", p->name, p->version);
    return 0;
}

struct reply {
    struct err e;
    struct caps caps;
};

static _Noreturn void ask_child(const char *path, pid_t parent, int out, int log)
{
    static struct reply r;
    struct rlimit none = { 0, 0 };
    const struct tf_plugin *p;
    const char *at = (const char *)&r;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    p = plugin_load(path, &r.e);
    if (p)
        read_caps(p, &r.caps, &r.e);
    for (size_t left = sizeof r; left;) {
        ssize_t n = write(out, at, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(1);
        at += n;
        left -= (size_t)n;
    }
    _exit(0);
}

/* False: it ended before it had said all, or took too long (*hung). */
static bool read_reply(int in, struct reply *r, bool *hung)
{
    int64_t until = clock_ms() + ASK_SECONDS * 1000, left;
    size_t have = 0;

    *hung = false;
    while (have < sizeof *r) {
        struct pollfd p = { .fd = in, .events = POLLIN };
        ssize_t n;

        left = until - clock_ms();
        if (left <= 0) {
            *hung = true;
            return false;
        }
        if (poll(&p, 1, (int)left) <= 0)
            continue;
        n = read(in, (char *)r + have, sizeof *r - have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return true;
}

static int explain_end(const char *path, bool hung, int status, int log, struct err *e)
{
    char said[200] = "";
    ssize_t n = pread(log, said, sizeof said - 1, 0);

    said[n > 0 ? n : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    if (hung)
        return err_set(e, ERR_MISSING, "opening %s took more than %d s", path, ASK_SECONDS);
    if (WIFSIGNALED(status))
        return err_set(e, ERR_MISSING, "opening %s died by signal %d (%s)%s%s", path,
                       WTERMSIG(status), strsignal(WTERMSIG(status)), *said ? ": " : "", said);
    return err_set(e, ERR_MISSING, "opening %s ended the process with exit %d%s%s", path,
                   WEXITSTATUS(status), *said ? ": " : "", said);
}

int plugin_ask(const char *path, struct caps *c, struct err *e)
{
    static struct reply r;
    pid_t parent = getpid(), pid;
    int fd[2], status = 0, log = memfd_create("stderr", MFD_CLOEXEC);
    bool hung, whole;

    fflush(NULL);
    if (log < 0 || pipe(fd))
        return err_set(e, ERR_MISSING, "%s", strerror(errno));
    pid = fork();
    if (pid < 0)
        BUG("fork: %s", strerror(errno));
    if (pid == 0) {
        close(fd[0]);
        ask_child(path, parent, fd[1], log);
    }
    close(fd[1]);
    whole = read_reply(fd[0], &r, &hung);
    if (!whole && hung)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(fd[0]);
    if (!whole)
        explain_end(path, hung, status, log, e);
    else if (r.e.code)
        *e = r.e;
    close(log);
    *c = r.caps;
    return e->code;
}

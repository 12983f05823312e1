/*
 * The device process from outside: started when it is needed, replaced when it died, was
 * killed for not answering, or lost its context to a kernel. So whatever a kernel does, the
 * caller keeps its memory and may fork, and the next trial has a sound device.
 */
#ifndef RUN_CUDA_CLIENT_H
#define RUN_CUDA_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "run/cuda/box.h"

enum client_result {
    CLIENT_ANSWERED, /* box->answer */
    CLIENT_NONE,     /* no process, no memory; why is in the box's answer.text */
    CLIENT_DIED,     /* by itself: signal tells, 0 = none */
    CLIENT_HUNG      /* no answer in time: it was killed */
};

struct client {
    struct box *box;
    pid_t pid;   /* 0 = none runs */
    pid_t owner; /* who started it: a child of ours has none */
    int questions, answers;
    int signal;
    volatile uint64_t *tick; /* moved on while an answer is waited for; may be NULL */
};

/* A box with room for an image of so many bytes, and a device process that has it. True: it
 * is there. A process that had to be started has nothing loaded: *fresh. */
bool client_ready(struct client *c, size_t bytes, bool *fresh);
enum client_result client_ask(struct client *c, enum box_question q, int seconds);
void client_close(struct client *c); /* lets it end in peace */

#endif

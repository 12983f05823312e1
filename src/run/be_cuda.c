/*
 * cuda: the emitted CUDA C on a device, through the driver. Compiled here by NVRTC, loaded and
 * launched by the device process (cuda/client.h), whose answers become outcomes. Every run of
 * a trial is timed differently against what else the device does (cuda/box.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "run/cuda/client.h"
#include "run/cuda/cuda.h"
#include "run/cuda/driver.h"
#include "run/cuda/image.h"
#include "run/cuda/nvrtc.h"
#include "run/cuda/unit.h"

enum { PROBE_SECONDS = 60, LOAD_SECONDS = 60, RUN_SECONDS = 10 };

struct built {
    struct nvrtc_image code;
    bool ptx; /* the driver is to compile: NVRTC doesn't know this kind of device */
    struct box_kernel kernel[BOX_KERNELS];
    int n_kernel, first[AL_COUNT], count[AL_COUNT];
    int turn;
    float ms;
};

/* One device process per process; what its device has loaded. */
static struct client client;
static const struct built *loaded;

/* What the device is, and "sm_90"; filled once. */
static char device_text[360], device_kind[16];

/* True: all is well. Else the outcome says what is not. */
static bool answered(enum client_result r, enum box_question q, struct outcome *o)
{
    static const enum outcome_status status[] = { [BOX_FINE] = OUT_RAN,
                                                  [BOX_CANNOT] = OUT_UNSUPPORTED,
                                                  [BOX_REFUSED] = OUT_BUILD_FAILED,
                                                  [BOX_CRASHED] = OUT_CRASH };
    char text[120];

    switch (r) {
    case CLIENT_ANSWERED:
        if (client.box->answer.status == BOX_FINE)
            return true;
        outcome_say(o, status[client.box->answer.status], client.box->answer.text);
        break;
    case CLIENT_NONE:
        outcome_say(o, OUT_UNSUPPORTED, "no memory or no process for the device's side");
        break;
    case CLIENT_DIED:
        snprintf(text, sizeof text, "the device process died, by signal %d", client.signal);
        outcome_say(o, OUT_CRASH, text);
        break;
    case CLIENT_HUNG:
        snprintf(text, sizeof text, "no answer from the device within %d s",
                 q == BOX_RUN ? RUN_SECONDS : LOAD_SECONDS);
        outcome_say(o, OUT_HANG, text);
        break;
    }
    loaded = NULL;
    return false;
}

static bool load(struct built *b, size_t room, struct outcome *o)
{
    size_t bytes = b->ptx ? b->code.ptx_bytes : b->code.code_bytes;
    bool fresh = false;

    if (!client_ready(&client, room > bytes ? room : bytes, &fresh))
        return answered(CLIENT_NONE, BOX_LOAD, o);
    if (!fresh && loaded == b)
        return true;
    memcpy(client.box->kernel, b->kernel, sizeof b->kernel);
    client.box->n_kernel = b->n_kernel;
    client.box->bytes = bytes;
    memcpy(client.box->image, b->ptx ? (const void *)b->code.ptx : b->code.code, bytes);
    if (!answered(client_ask(&client, BOX_LOAD, LOAD_SECONDS), BOX_LOAD, o))
        return false;
    loaded = b;
    return true;
}

/* Code for the device that is there; PTX where NVRTC knows no code for it. */
static enum nvrtc_result compile(struct built *b, const char *unit, struct str *log)
{
    enum nvrtc_result r = nvrtc_build(unit, device_kind, &b->code, log);

    if (r != NVRTC_CANNOT)
        return r;
    str_clear(log);
    b->ptx = true;
    return nvrtc_build(unit, "sm_80", &b->code, log);
}

static bool list_kernels(struct built *b, const struct lprog *l, struct outcome *o)
{
    for (int al = 0; al < AL_COUNT; al++) {
        b->first[al] = b->n_kernel;
        for (int k = 0; k < l->n_kernel; k++) {
            const struct kernel *x = &l->kernel[k];
            struct box_kernel *bk = &b->kernel[b->n_kernel];

            if (x->dead)
                continue;
            if (b->n_kernel == BOX_KERNELS) {
                outcome_say(o, OUT_UNSUPPORTED, "more kernels than the device process takes");
                return false;
            }
            cuda_kernel_name(l, k, (enum algebra)al, bk->name);
            bk->blocks = (unsigned)kernel_blocks(l, x);
            bk->threads = (unsigned)kernel_threads(l, x);
            bk->shared_bytes = (unsigned)kernel_smem(l, k);
            if (bk->blocks) /* no blocks, nothing to do, and no launch that a driver takes */
                b->n_kernel++;
        }
        b->count[al] = b->n_kernel - b->first[al];
    }
    return true;
}

static bool make(struct built *b, const struct lprog *l, const char *text, struct outcome *o)
{
    struct str unit = { 0 }, log = { 0 };
    enum nvrtc_result r = NVRTC_CANNOT;

    if (!list_kernels(b, l, o))
        return false;
    cuda_unit(l, text, &unit);
    r = compile(b, str_get(&unit), &log);
    if (r != NVRTC_BUILT) {
        o->status = r == NVRTC_CANNOT ? OUT_UNSUPPORTED : OUT_BUILD_FAILED;
        nvrtc_log_line(str_get(&log), o->detail, sizeof o->detail);
    }
    str_release(&unit);
    str_release(&log);
    return r == NVRTC_BUILT;
}

static void drop(struct built *b)
{
    if (loaded == b)
        loaded = NULL;
    nvrtc_image_release(&b->code);
    free(b);
}

static int prepare(struct run_env *env, const struct lprog *l, const char *text,
                   struct prepared *p, struct outcome *o)
{
    struct built *b = must(calloc(1, sizeof *b));
    struct err why = { 0 };

    *o = (struct outcome){ .status = OUT_RAN };
    client.tick = env->tick;
    if (!be_cuda.available(&why))
        outcome_say(o, OUT_UNSUPPORTED, why.msg);
    else if (make(b, l, text, o) && load(b, 0, o)) {
        *p = (struct prepared){ l, text, b };
        return 0;
    }
    drop(b);
    return 1;
}

static void run(struct run_env *env, struct prepared *p, enum algebra al, struct outcome *o)
{
    struct built *b = p->state;
    size_t at[BOX_POINTERS], bytes;

    client.tick = env->tick;
    if (!run_placed(env, p->l, al, o))
        return;
    bytes = image_layout(env, p->l, at);
    if (!load(b, bytes, o))
        return;
    image_fill(env, p->l, at, bytes, client.box->image);
    memcpy(client.box->at, at, sizeof at);
    client.box->n_at = p->l->n_buffer + 1;
    client.box->bytes = bytes;
    client.box->first = b->first[al];
    client.box->count = b->count[al];
    client.box->timing = (enum box_timing)(b->turn++ % TIMING_COUNT);
    if (!answered(client_ask(&client, BOX_RUN, RUN_SECONDS), BOX_RUN, o))
        return;
    b->ms = client.box->answer.ms;
    image_take(env, p->l, at, client.box->image);
    run_collect(env, p->l, al, o);
    image_check(env, p->l, at, bytes, client.box->image, o);
}

static void release(struct prepared *p)
{
    if (p->state)
        drop(p->state);
    p->state = NULL;
}

float cuda_ms(const struct prepared *p)
{
    const struct built *b = p->state;

    return b->ms;
}

void cuda_close(void)
{
    client_close(&client);
    loaded = NULL;
}

/* Asks in a process that ends again: nothing is kept for who never runs anything. */
static void probe(struct err *why)
{
    struct client c = { 0 };
    const char *kind;
    bool fresh;

    if (!client_ready(&c, 0, &fresh)) {
        err_set(why, ERR_MISSING, "no process can be started for the device");
    } else if (client_ask(&c, BOX_PROBE, PROBE_SECONDS) != CLIENT_ANSWERED) {
        err_set(why, ERR_MISSING, "the CUDA driver died or did not answer");
    } else if (c.box->answer.status != BOX_FINE) {
        err_set(why, ERR_MISSING, "%s", c.box->answer.text);
    } else {
        snprintf(device_text, sizeof device_text, "%s", c.box->answer.text);
        kind = strstr(device_text, "sm_");
        snprintf(device_kind, sizeof device_kind, "%.*s", kind ? (int)strcspn(kind, ",") : 0,
                 kind ? kind : "");
    }
    client_close(&c);
}

static bool available(struct err *why)
{
    static struct err not_here;
    static bool asked;

    if (!nvrtc_available(why) || !cuda_load(why))
        return false;
    if (!asked) {
        asked = true;
        probe(&not_here);
    }
    if (not_here.code)
        *why = not_here;
    return !not_here.code;
}

static const char *version(void)
{
    return device_text;
}

static const char *command(void)
{
    static char text[80];

    snprintf(text, sizeof text, "%s -arch=%s", NVRTC_COMMAND,
             device_kind[0] ? device_kind : "native");
    return text;
}

const struct backend be_cuda = {
    .name = "cuda",
    .help = "runs the emitted CUDA on a device, every run of a trial timed differently",
    .group = "cuda",
    .runs = TIMING_COUNT,
    .version = version,
    .available = available,
    .prepare = prepare,
    .run = run,
    .release = release,
    .command = command,
    .gpu = true,
};

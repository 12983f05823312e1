/*
 * The device process: the only one that talks to the driver. It holds a context, the code of
 * one trial, and memory that grows. After a kernel has broken the context it says so and is
 * replaced by a new one.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/cuda/box.h"
#include "run/cuda/driver.h"
#include "run/cuda/timing.h"

struct device {
    const struct cuda_api *x;
    struct box *box;
    int number;
    bool open;
    void *context;
    void *module;
    void *function[BOX_KERNELS];
    struct timing timing;
    uint64_t memory;
    size_t memory_bytes;
};

static bool sticky(int rc)
{
    return rc == CUDA_ILLEGAL_ADDRESS || rc == CUDA_TIMEOUT || rc == CUDA_ASSERT ||
           rc == CUDA_BAD_MEMORY || rc == CUDA_CONTAINED ||
           (rc >= CUDA_HARDWARE_FROM && rc <= CUDA_HARDWARE_TO);
}

/* The device has not got what it takes. */
static bool cannot(int rc)
{
    return rc == CUDA_OUT_OF_MEMORY || rc == CUDA_NO_RESOURCES || rc == CUDA_NO_BINARY ||
           rc == CUDA_PTX_TOO_NEW;
}

/* True: the call went well. Else the answer says what went wrong. */
static bool fine(struct device *d, int rc, const char *what, enum box_status status)
{
    const char *name = NULL, *text = NULL;

    if (!rc)
        return true;
    if (d->x->error_name(rc, &name) || !name)
        name = "unknown";
    if (d->x->error_string(rc, &text) || !text)
        text = "no text for it";
    if (sticky(rc))
        status = BOX_CRASHED;
    d->box->answer.status = status;
    snprintf(d->box->answer.text, sizeof d->box->answer.text, "%s: %s (%s, %d)", what, text,
             name, rc);
    return false;
}

static bool open_device(struct device *d)
{
    struct err why = { 0 };
    int n = 0;

    if (d->open)
        return true;
    d->x = cuda_load(&why);
    if (!d->x) {
        d->box->answer.status = BOX_CANNOT;
        snprintf(d->box->answer.text, sizeof d->box->answer.text, "%.350s", why.msg);
        return false;
    }
    if (!fine(d, d->x->init(0), "the CUDA driver does not start", BOX_CANNOT) ||
        !fine(d, d->x->device_count(&n), "counting devices", BOX_CANNOT) ||
        !fine(d, n ? 0 : CUDA_NO_DEVICE, "there is a driver", BOX_CANNOT) ||
        !fine(d, d->x->device_get(&d->number, 0), "device 0", BOX_CANNOT) ||
        !fine(d, d->x->context_retain(&d->context, d->number), "a context", BOX_CANNOT))
        return false;
    d->open = fine(d, d->x->context_use(d->context), "a context", BOX_CANNOT) &&
              fine(d, timing_open(&d->timing, d->x, d->number), "streams", BOX_CANNOT);
    if (!d->open)
        d->x->context_release(d->number);
    return d->open;
}

/* "NVIDIA H200, sm_90, driver 13.0" */
static void probe(struct device *d)
{
    int version = 0, major = 0, minor = 0;
    char name[100] = "";

    if (!fine(d, d->x->driver_version(&version), "the driver's version", BOX_CANNOT) ||
        !fine(d, d->x->device_name(name, sizeof name, d->number), "a name", BOX_CANNOT) ||
        !fine(d, d->x->device_attribute(&major, CUDA_ATTR_MAJOR, d->number), "its kind",
              BOX_CANNOT) ||
        !fine(d, d->x->device_attribute(&minor, CUDA_ATTR_MINOR, d->number), "its kind",
              BOX_CANNOT))
        return;
    snprintf(d->box->answer.text, sizeof d->box->answer.text, "%s, sm_%d%d, driver %d.%d", name,
             major, minor, version / 1000, version % 1000 / 10);
}

static void unload(struct device *d)
{
    timing_forget(&d->timing);
    if (d->module)
        d->x->module_unload(d->module);
    d->module = NULL;
}

static void load(struct device *d)
{
    struct box *b = d->box;
    int rc;

    unload(d);
    rc = d->x->module_load(&d->module, b->image);
    if (!fine(d, rc, "loading the code", cannot(rc) ? BOX_CANNOT : BOX_REFUSED))
        return;
    for (int i = 0; i < b->n_kernel; i++) {
        char what[BOX_NAME + 20];

        snprintf(what, sizeof what, "kernel %s", b->kernel[i].name);
        if (!fine(d, d->x->function(&d->function[i], d->module, b->kernel[i].name), what,
                  BOX_REFUSED))
            return;
    }
    fine(d, timing_load(&d->timing, d->module), "the kernels that disturb", BOX_REFUSED);
}

static bool grow(struct device *d, size_t bytes)
{
    char what[60];

    if (bytes <= d->memory_bytes)
        return true;
    if (d->memory)
        d->x->free(d->memory);
    d->memory = 0;
    d->memory_bytes = 0;
    timing_forget(&d->timing); /* it has the address */
    snprintf(what, sizeof what, "%zu bytes on the device", bytes);
    if (!fine(d, d->x->alloc(&d->memory, bytes), what, BOX_CANNOT))
        return false;
    d->memory_bytes = bytes;
    return true;
}

static void run(struct device *d)
{
    struct box *b = d->box;
    uint64_t at[BOX_POINTERS] = { 0 };
    const struct timed work = { b->kernel + b->first, d->function + b->first, b->count, at };
    const char *what = "";
    int rc;

    if (!grow(d, b->bytes))
        return;
    for (int i = 0; i < b->n_at; i++)
        at[i] = d->memory + b->at[i];
    if (!fine(d, d->x->to_device(d->memory, b->image, b->bytes), "copying to the device",
              BOX_CANNOT) ||
        /* our streams do not wait for the one that copies */
        !fine(d, d->x->stream_wait(NULL), "copying to the device", BOX_CANNOT))
        return;
    rc = timing_run(&d->timing, &work, b->timing, &b->answer.ms, &what);
    if (!fine(d, rc, what, cannot(rc) ? BOX_CANNOT : BOX_REFUSED))
        return;
    fine(d, d->x->from_device(b->image, d->memory, b->bytes), "copying from the device",
         BOX_CANNOT);
}

static void close_device(struct device *d)
{
    if (!d->open)
        return;
    unload(d);
    if (d->memory)
        d->x->free(d->memory);
    timing_close(&d->timing);
    d->x->context_release(d->number);
}

_Noreturn void device_main(struct box *b, int questions, int answers)
{
    struct device d = { .box = b };
    char byte;

    while (read(questions, &byte, 1) == 1) {
        b->answer.status = BOX_FINE;
        b->answer.text[0] = '\0';
        if (open_device(&d)) {
            if (b->question == BOX_PROBE)
                probe(&d);
            else if (b->question == BOX_LOAD)
                load(&d);
            else
                run(&d);
        }
        if (write(answers, &byte, 1) != 1 || b->answer.status == BOX_CRASHED)
            break;
    }
    if (b->answer.status != BOX_CRASHED)
        close_device(&d);
    _exit(0);
}

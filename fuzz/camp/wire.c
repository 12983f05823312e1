#include "fuzz/camp/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

struct head {
    uint32_t kind, bytes;
};

/* A length that no text has, for "no text". */
static const uint32_t absent = UINT32_MAX;

static bool send_all(int fd, const char *p, size_t left)
{
    while (left) {
        ssize_t n = send(fd, p, left, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        left -= (size_t)n;
    }
    return true;
}

bool wire_send(int fd, enum answer_kind kind, const struct str *payload)
{
    struct head h = { (uint32_t)kind, (uint32_t)payload->n };

    return send_all(fd, (const char *)&h, sizeof h) &&
           send_all(fd, str_get(payload), payload->n);
}

bool wire_next(const struct str *in, size_t *at, struct msg *m)
{
    struct head h;

    if (in->n - *at < sizeof h)
        return false;
    memcpy(&h, in->s + *at, sizeof h);
    if (in->n - *at - sizeof h < h.bytes)
        return false;
    *m = (struct msg){ (enum answer_kind)h.kind, h.bytes, in->s + *at + sizeof h };
    *at += sizeof h + h.bytes;
    return true;
}

void wire_put(struct str *s, const void *p, size_t n)
{
    str_write(s, p, n);
}

void wire_put_text(struct str *s, const char *text)
{
    uint32_t n = text ? (uint32_t)strlen(text) : absent;

    wire_put(s, &n, sizeof n);
    if (text)
        wire_put(s, text, n);
}

bool wire_get(struct wire_in *in, void *p, size_t n)
{
    if ((size_t)(in->end - in->p) < n) {
        in->bad = true;
        memset(p, 0, n);
        return false;
    }
    memcpy(p, in->p, n);
    in->p += n;
    return true;
}

const char *wire_get_text(struct wire_in *in, struct arena *a)
{
    uint32_t n;
    const char *text;

    if (!wire_get(in, &n, sizeof n) || n == absent)
        return NULL;
    if ((size_t)(in->end - in->p) < n) {
        in->bad = true;
        return NULL;
    }
    text = arena_strndup(a, in->p, n);
    in->p += n;
    return text;
}

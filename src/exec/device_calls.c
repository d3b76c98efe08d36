/* Functions that CUDA's device runtime provides and PTX only declares: vprintf, malloc, free, __assertfail,
 * cudaGraphSetConditional. Arguments lie in the caller's .param variables. */
#include "exec/device_calls.h"
#include "exec/lanes.h"
#include "exec/race.h"

#include <stdlib.h>
#include <string.h>

/* A piece of memory by generic address, one lane. NULL after a fault. */
static const uint8_t *generic_bytes(struct exec_warp *w, uint32_t lane, uint64_t address, uint32_t bytes)
{
    uint8_t *pointers[WARP_LANES];
    w->addr[lane] = address;
    return exec_resolve(w, PTX_SPACE_NONE, 1u << lane, bytes, 1, false, pointers) ? pointers[lane] : NULL;
}

/* A string by generic address, cut at the buffer's size; false after a fault. */
static bool generic_string(struct exec_warp *w, uint32_t lane, uint64_t address, char *out, uint32_t out_bytes)
{
    uint32_t n = 0;
    for (; n + 1 < out_bytes; n++) {
        const uint8_t *p = generic_bytes(w, lane, address + n, 1);
        if (!p)
            return false;
        if (!*p)
            break;
        out[n] = (char)*p;
    }
    out[n] = '\0';
    return true;
}

/* vprintf: the second argument points to the values, each aligned to its size, as C's varargs promote them */

struct print_state {
    struct exec_warp *w;
    uint32_t lane;
    uint64_t next; /* generic address of the next value */
    bool failed;
};

static uint64_t next_value(struct print_state *s, uint32_t bytes)
{
    uint64_t value = 0;
    s->next = (s->next + bytes - 1) / bytes * bytes;
    const uint8_t *p = generic_bytes(s->w, s->lane, s->next, bytes);
    if (!p) {
        s->failed = true;
        return 0;
    }
    memcpy(&value, p, bytes);
    s->next += bytes;
    return value;
}

/* A width or a precision, which the host's printf would make a buffer of. */
static uint32_t put_number(char *out, size_t out_bytes, long value)
{
    enum { MOST = 1 << 16 };
    return (uint32_t)snprintf(out, out_bytes, "%ld", value > MOST ? MOST : value < -MOST ? -MOST : value);
}

/* One conversion; spec runs from '%' to the conversion letter. '*' widths are read from the arguments. */
static void print_one(struct print_state *s, FILE *out, const char *spec, uint32_t length)
{
    char format[64];
    uint32_t n = 0, longs = 0;
    for (uint32_t i = 0; i + 1 < length && n < 40; i++) {
        char *end;
        if (spec[i] == '*') {
            n += put_number(format + n, sizeof format - n, (int)next_value(s, 4));
        } else if (spec[i] >= '1' && spec[i] <= '9') {
            n += put_number(format + n, sizeof format - n, strtol(spec + i, &end, 10));
            i = (uint32_t)(end - spec) - 1;
        } else if (spec[i] == 'l' || spec[i] == 'j' || spec[i] == 'z' || spec[i] == 't') {
            longs++;
        } else if (spec[i] != 'h') {
            format[n++] = spec[i];
        }
    }
    char letter = spec[length - 1];
    if (strchr("diouxXc", letter)) {
        uint64_t value = next_value(s, longs && letter != 'c' ? 8 : 4);
        if (longs && letter != 'c')
            n += (uint32_t)snprintf(format + n, sizeof format - n, "ll");
        format[n++] = letter;
        format[n] = '\0';
        if (s->failed)
            return;
        if (longs && letter != 'c')
            fprintf(out, format, (long long)value);
        else
            fprintf(out, format, (int)value);
    } else if (strchr("eEfFgGaA", letter)) {
        uint64_t bits = next_value(s, 8);
        double value;
        memcpy(&value, &bits, 8);
        format[n++] = letter;
        format[n] = '\0';
        if (!s->failed)
            fprintf(out, format, value);
    } else if (letter == 's') {
        char text[4096];
        uint64_t address = next_value(s, 8);
        format[n++] = 's';
        format[n] = '\0';
        if (!s->failed && generic_string(s->w, s->lane, address, text, sizeof text))
            fprintf(out, format, text);
    } else if (letter == 'p') {
        uint64_t value = next_value(s, 8);
        format[n++] = 'p';
        format[n] = '\0';
        if (!s->failed)
            fprintf(out, format, (void *)(uintptr_t)value);
    }
}

static void print_formatted(struct print_state *s, FILE *out, const char *format)
{
    for (const char *p = format; *p && !s->failed;) {
        if (*p != '%') {
            fputc(*p++, out);
            continue;
        }
        uint32_t length = 1 + (uint32_t)strspn(p + 1, "-+ #0123456789.*hljzt");
        char letter = p[length];
        if (letter == '%' && length == 1)
            fputc('%', out);
        else if (letter && strchr("diouxXceEfFgGaAsp", letter))
            print_one(s, out, p, length + 1);
        else
            fwrite(p, 1, length + (letter != '\0'), out);
        p += length + (letter != '\0');
    }
}

static void run_vprintf(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    FILE *out = w->launch->printf_out;
    FOR_EACH_LANE(mask, lane) {
        char format[4096];
        struct print_state s = {w, lane, device_argument64(w, lane, arguments[1]), false};
        if (!generic_string(w, lane, device_argument64(w, lane, arguments[0]), format, sizeof format))
            return;
        if (out)
            print_formatted(&s, out, format);
        if (s.failed)
            return;
        int32_t count = 0;
        for (const char *p = format; *p; p++)
            count += *p == '%' && p[1] != '%' ? 1 : 0;
        device_result(w, lane, result, &count, 4);
    }
}

uint64_t device_malloc(struct exec_launch *l, uint64_t bytes)
{
    uint64_t left = l->heap->limit_bytes > l->heap->used_bytes ? l->heap->limit_bytes - l->heap->used_bytes : 0;
    uint64_t address = bytes && bytes <= left ? memory_alloc(l->memory, bytes, 256, MEMORY_HEAP, NULL) : 0;
    if (address)
        l->heap->used_bytes += bytes;
    return address;
}

static void run_malloc(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    FOR_EACH_LANE(mask, lane) {
        uint64_t bytes = device_argument64(w, lane, arguments[0]), address = device_malloc(w->launch, bytes);
        if (address && race_is_watching(w))
            race_allocated(w, address, bytes);
        device_result(w, lane, result, &address, 8);
    }
}

void device_free(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    (void)result;
    FOR_EACH_LANE(mask, lane) {
        uint64_t address = device_argument64(w, lane, arguments[0]);
        if (!address)
            continue;
        const struct memory_range *range = memory_find(w->launch->memory, address);
        if (!range || range->kind != MEMORY_HEAP || range->base != address) {
            char nearby[200];
            memory_describe(w->launch->memory, address, nearby, sizeof nearby);
            exec_raise(w, ERROR_ADDRESS, lane, address, 0, "free(0x%llx) of memory that malloc did not return: %s",
                       (unsigned long long)address, nearby);
            return;
        }
        w->launch->heap->used_bytes -= range->size_bytes;
        memory_release(w->launch->memory, address);
    }
}

static void run_assertfail(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    (void)result;
    uint32_t lane = (uint32_t)__builtin_ctz(mask), line;
    char message[256] = "", file[256] = "", function[256] = "";
    memcpy(&line, device_argument(w, lane, arguments[2]), 4);
    if (!generic_string(w, lane, device_argument64(w, lane, arguments[0]), message, sizeof message) ||
        !generic_string(w, lane, device_argument64(w, lane, arguments[1]), file, sizeof file) ||
        !generic_string(w, lane, device_argument64(w, lane, arguments[3]), function, sizeof function))
        return;
    exec_raise(w, ERROR_ASSERT, lane, 0, 0, "%.150s:%u: %.80s: assertion `%.100s' failed", file, line, function,
               message);
}

/* The handle of a graph's condition is the address of its value. */
static void run_set_conditional(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result)
{
    (void)result;
    FOR_EACH_LANE(mask, lane) {
        uint8_t *pointers[WARP_LANES];
        w->addr[lane] = device_argument64(w, lane, arguments[0]);
        if (!exec_resolve(w, PTX_SPACE_GLOBAL, 1u << lane, 4, 4, true, pointers))
            return;
        memcpy(pointers[lane], device_argument(w, lane, arguments[1]), 4);
    }
}

const struct device_call *device_call_find(const char *name)
{
    static const struct device_call calls[] = {
        {"vprintf", run_vprintf, 2, 4, {8, 8}},
        {"malloc", run_malloc, 1, 8, {8}},
        {"free", device_free, 1, 0, {8}},
        {"__assertfail", run_assertfail, 5, 0, {8, 8, 4, 8, 8}},
        {"__assert_fail", run_assertfail, 4, 0, {8, 8, 4, 8}},
        {"cudaGraphSetConditional", run_set_conditional, 2, 0, {8, 4}},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

/* The progress line: cycles, warp instructions, their rate, blocks, and the time left if the other blocks take as long
 * as those that are done. Blocks that run count as half done. What the first of them took says little as long as most
 * of what has been done went into others: the time left is not said before as many have ended as run. */
#include "gpu/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 200, NAME_CHARACTERS = 40 };
static const double interval_seconds = 0.25;

struct progress {
    FILE *to;
    bool terminal, visible;
    bool running;                 /* a kernel has been seen since the last progress_done */
    double begin, last;           /* of this kernel; when a line was printed last */
    uint64_t instructions_before; /* warp instructions of the kernel when it was first seen */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct progress *progress_create(FILE *to, bool enabled)
{
    struct progress *p = enabled ? calloc(1, sizeof *p) : NULL;
    if (p)
        *p = (struct progress){.to = to, .terminal = isatty(fileno(to)), .last = now()};
    return p;
}

/* "950", "12.3 k", "4.56 M": three digits tell enough. */
static const char *scaled(double n, char out[16])
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    int unit = 0;
    while (n >= 1000 && unit < 4) {
        n /= 1000;
        unit++;
    }
    snprintf(out, 16, unit ? "%.3g%s" : "%.0f%s", n >= 999.5 ? 999 : n, units[unit]);
    return out;
}

static void put_time_left(char *out, size_t size, const struct progress_state *s)
{
    out[0] = '\0';
    uint64_t running = s->blocks_started > s->blocks_done ? s->blocks_started - s->blocks_done : 0;
    if (s->blocks_done < running || !s->blocks_done || s->blocks_done >= s->blocks_all)
        return;
    double done = (double)s->blocks_done + (double)running / 2;
    double left = s->seconds * ((double)s->blocks_all - done) / done;
    unsigned long long seconds = left < 1e9 ? (unsigned long long)(left + 0.5) : 0;
    if (left >= 1e9)
        return;
    if (seconds < 60)
        snprintf(out, size, ", about %llu s left", seconds);
    else if (seconds < 3600)
        snprintf(out, size, ", about %llu:%02llu min left", seconds / 60, seconds % 60);
    else
        snprintf(out, size, ", about %llu:%02llu h left", seconds / 3600, seconds / 60 % 60);
}

void progress_line(char *out, size_t most, const struct progress_state *s)
{
    char cycles[16], instructions[16], left[48], line[LINE_BYTES];
    put_time_left(left, sizeof left, s);
    snprintf(line, sizeof line, "%.*s: %s cycles, %s warp instructions, %.*f kWI/s, block %llu/%llu%s", NAME_CHARACTERS,
             s->kernel, scaled((double)s->cycles, cycles), scaled((double)s->warp_instructions, instructions),
             s->kwips < 10 ? 1 : 0, s->kwips, (unsigned long long)s->blocks_done, (unsigned long long)s->blocks_all,
             left);
    snprintf(out, most, "%s", line);
}

/* A line longer than the terminal is wide could not be taken back. */
static size_t columns(const struct progress *p)
{
    struct winsize size;
    if (!p->terminal)
        return LINE_BYTES;
    if (ioctl(fileno(p->to), TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
        return 80;
    return size.ws_col < LINE_BYTES ? size.ws_col : LINE_BYTES;
}

static void show(struct progress *p, const struct progress_state *s)
{
    char line[LINE_BYTES];
    progress_line(line, columns(p), s);
    fprintf(p->to, p->terminal ? "\r\033[K%s" : "heddle: %s\n", line);
    fflush(p->to);
    p->visible = p->terminal;
}

void progress_update(struct progress *p, const char *kernel, uint64_t cycles, uint64_t warp_instructions,
                     uint64_t blocks_started, uint64_t blocks_done, uint64_t blocks_all)
{
    if (!p)
        return;
    double t = now();
    if (!p->running) {
        p->running = true;
        p->begin = t;
        p->instructions_before = warp_instructions;
    }
    if (t - p->last < interval_seconds || t <= p->begin)
        return;
    p->last = t;
    show(p,
         &(struct progress_state){.kernel = kernel,
                                  .cycles = cycles,
                                  .warp_instructions = warp_instructions,
                                  .blocks_started = blocks_started,
                                  .blocks_done = blocks_done,
                                  .blocks_all = blocks_all,
                                  .kwips = (double)(warp_instructions - p->instructions_before) / (t - p->begin) / 1e3,
                                  .seconds = t - p->begin});
}

void progress_done(struct progress *p)
{
    if (!p)
        return;
    if (p->visible) {
        fputs("\r\033[K", p->to);
        fflush(p->to);
    }
    p->visible = p->running = false;
}

void progress_destroy(struct progress *p)
{
    progress_done(p);
    free(p);
}

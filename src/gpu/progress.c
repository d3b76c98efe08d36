/* The progress line: cycles, warp instructions, their rate, blocks, and the time left if the other blocks take as long
 * as those that are done. For a kernel that has run for a minute the line begins with that time and with the part that
 * is done. Blocks that run count as half done. The time of the first blocks says little as long as most of the work
 * went into blocks that still run: the time left is shown when as many blocks have ended as run. */
#include "gpu/progress.h"

#include "base/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 200, NAME_CHARACTERS = 40, LONG_SECONDS = 60 };
static const double interval_seconds = 0.25;

struct progress {
    FILE *to;
    bool terminal, visible;
    bool running;                 /* a launch has been seen since the last progress_done */
    uint64_t launch;              /* the launch that was seen last */
    double begin, last;           /* when this launch was first seen; when a line was last printed */
    uint64_t instructions_before; /* warp instructions of the launch when it was first seen */
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

/* "59 s", "1:05 min", "2:30 h". */
static const char *duration(double seconds, char out[32])
{
    unsigned long long s = (unsigned long long)seconds;
    if (s < 60)
        snprintf(out, 32, "%llu s", s);
    else if (s < 3600)
        snprintf(out, 32, "%llu:%02llu min", s / 60, s % 60);
    else
        snprintf(out, 32, "%llu:%02llu h", s / 3600, s / 60 % 60);
    return out;
}

static void put_time_left(char *out, size_t size, const struct progress_state *s)
{
    char time[32];
    out[0] = '\0';
    uint64_t running = s->blocks_started > s->blocks_done ? s->blocks_started - s->blocks_done : 0;
    if (s->blocks_done < running || !s->blocks_done || s->blocks_done >= s->blocks_all)
        return;
    double done = (double)s->blocks_done + (double)running / 2;
    double left = s->seconds * ((double)s->blocks_all - done) / done;
    if (left < 1e9)
        snprintf(out, size, ", about %s left", duration(left + 0.5, time));
}

/* Percent, rounded down, so that 100 means all. */
static double percent_done(const struct progress_state *s)
{
    return s->blocks_all ? floor(100.0 * (double)s->blocks_done / (double)s->blocks_all) : 0;
}

void progress_line(char *out, size_t most, const struct progress_state *s)
{
    char number[16], cycles[32] = "", instructions[16], left[48], time[32], line[LINE_BYTES];
    put_time_left(left, sizeof left, s);
    if (s->cycles)
        snprintf(cycles, sizeof cycles, "%s cycles, ", scaled((double)s->cycles, number));
    scaled((double)s->warp_instructions, instructions);
    if (s->seconds < LONG_SECONDS)
        snprintf(line, sizeof line, "%.*s: %s%s warp instructions, %.*f kWI/s, block %llu/%llu%s", NAME_CHARACTERS,
                 s->kernel, cycles, instructions, s->kwips < 10 ? 1 : 0, s->kwips, (unsigned long long)s->blocks_done,
                 (unsigned long long)s->blocks_all, left);
    else
        snprintf(
            line, sizeof line, "%.*s has run for %s: %.0f%% of %llu block%s done, %s%s warp instructions, %.*f kWI/s%s",
            NAME_CHARACTERS, s->kernel, duration(s->seconds, time), percent_done(s), (unsigned long long)s->blocks_all,
            s->blocks_all == 1 ? "" : "s", cycles, instructions, s->kwips < 10 ? 1 : 0, s->kwips, left);
    snprintf(out, most, "%s", line);
}

/* A line that is longer than the terminal is wide could not be erased. */
static size_t columns(const struct progress *p)
{
    struct winsize size;
    if (!p->terminal)
        return LINE_BYTES;
    if (ioctl(fileno(p->to), TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
        return 80;
    return (uint32_t)smaller(size.ws_col, LINE_BYTES);
}

static void show(struct progress *p, const struct progress_state *s)
{
    char line[LINE_BYTES];
    progress_line(line, columns(p), s);
    fprintf(p->to, p->terminal ? "\r\033[K%s" : "heddle: %s\n", line);
    fflush(p->to);
    p->visible = p->terminal;
}

void progress_update(struct progress *p, const struct progress_state *s)
{
    if (!p)
        return;
    double t = now();
    if (!p->running || p->launch != s->launch) {
        p->running = true;
        p->launch = s->launch;
        p->begin = t;
        p->instructions_before = s->warp_instructions;
    }
    if (t - p->last < interval_seconds || t <= p->begin)
        return;
    p->last = t;
    struct progress_state whole = *s;
    whole.kwips = (double)(s->warp_instructions - p->instructions_before) / (t - p->begin) / 1e3;
    whole.seconds = t - p->begin;
    show(p, &whole);
}

static void hide(struct progress *p)
{
    if (p->visible) {
        fputs("\r\033[K", p->to);
        fflush(p->to);
    }
    p->visible = false;
}

void progress_end(struct progress *p, uint64_t launch)
{
    if (!p)
        return;
    hide(p);
    p->running &= p->launch != launch;
}

void progress_done(struct progress *p)
{
    if (!p)
        return;
    hide(p);
    p->running = false;
}

void progress_destroy(struct progress *p)
{
    progress_done(p);
    free(p);
}

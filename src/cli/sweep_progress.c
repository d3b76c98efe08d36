/* The progress of a sweep on standard error: a bar on a terminal, a line each tenth elsewhere; failures as they come;
 * ctrl-C. */
#include "cli/sweep_progress.h"

#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR_WIDTH = 24, USUAL_COLUMNS = 80, LINES_OF_A_SWEEP = 10 };

struct shown {
    const struct sweep_options *options;
    bool terminal, quiet;
    uint32_t tenths; /* said so far, off a terminal */
    char label[120]; /* of what ran last */
};

/* A handler has no other way to the sweep. */
static volatile int pressed;

static void on_interrupt(int number)
{
    (void)number;
    if (pressed)
        _exit(EXIT_STUCK); /* what runs dies with us */
    pressed = 1;
}

const char *cli_duration(double seconds, char *out, size_t size)
{
    unsigned long long s = seconds < 0 ? 0 : (unsigned long long)(seconds + 0.5);
    if (seconds < 9.95)
        snprintf(out, size, "%.1f s", seconds < 0 ? 0 : seconds);
    else if (s < 60)
        snprintf(out, size, "%llu s", s);
    else if (s < 3600)
        snprintf(out, size, "%llu min %llu s", s / 60, s % 60);
    else
        snprintf(out, size, "%llu h %llu min", s / 3600, s / 60 % 60);
    return out;
}

static uint32_t ended(const struct sweep_progress *p) { return p->done + p->failed; }

/* ", about 20 s left"; nothing where it is not known. */
static const char *time_left(const struct sweep_progress *p, char *out, size_t size)
{
    char time[40];
    double left = fmax(ceil(p->seconds_left), 1);
    out[0] = '\0';
    if (isnan(p->seconds_left) || ended(p) == p->to_run)
        return out;
    if (left < 10)
        snprintf(out, size, ", about %.0f s left", left);
    else
        snprintf(out, size, ", about %s left", cli_duration(left, time, sizeof time));
    return out;
}

static void draw(const struct shown *s, const struct sweep_progress *p)
{
    char bar[BAR_WIDTH + 1], left[80], line[512];
    uint32_t full = (uint32_t)((uint64_t)ended(p) * BAR_WIDTH / p->to_run);
    for (uint32_t i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    snprintf(line, sizeof line, "[%s] %u/%u %u%%%s%s%s", bar, ended(p), p->to_run,
             (unsigned)(100ull * ended(p) / p->to_run), time_left(p, left, sizeof left), *s->label ? "  " : "",
             s->label);
    fprintf(stderr, "\r\033[K%.*s", cli_columns(STDERR_FILENO, USUAL_COLUMNS) - 1, line);
    fflush(stderr);
}

static void say_start(const struct shown *s, const struct sweep_progress *p)
{
    if (p->known && p->to_run)
        fprintf(stderr, "%u runs: %u are in %s already, %u to do\n", p->points, p->known, s->options->store, p->to_run);
    else if (p->to_run)
        fprintf(stderr, "%u run%s to do\n", p->to_run, p->to_run == 1 ? "" : "s");
}

static void say_failure(const struct shown *s, const struct sweep_progress *p)
{
    if (s->terminal)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "failed: %s: %s%s%s%s\n", p->label, p->failure, p->log_path ? " (log: " : "",
            p->log_path ? p->log_path : "", p->log_path ? ")" : "");
}

static void say_tenth(struct shown *s, const struct sweep_progress *p)
{
    char left[80];
    uint32_t tenths = (uint32_t)((uint64_t)ended(p) * LINES_OF_A_SWEEP / p->to_run);
    if (tenths <= s->tenths)
        return;
    s->tenths = tenths;
    fprintf(stderr, "%u of %u runs done%s\n", ended(p), p->to_run, time_left(p, left, sizeof left));
}

static void show(void *context, enum sweep_event event, const struct sweep_progress *p)
{
    struct shown *s = context;
    if (event == SWEEP_START && !s->quiet)
        say_start(s, p);
    if (event == SWEEP_FAILED)
        say_failure(s, p);
    if (event == SWEEP_TICK)
        snprintf(s->label, sizeof s->label, "%s", p->label ? p->label : "");
    if (s->quiet || event == SWEEP_START || !p->to_run || s->options->dry_run)
        return;
    if (s->terminal)
        draw(s, p);
    else if (event != SWEEP_TICK)
        say_tenth(s, p);
}

static bool run(struct sweep_options *o, struct sweep_result *result, bool quiet, struct error *e)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    enum { WATCHED = sizeof watched / sizeof *watched };
    struct shown s = {.options = o, .terminal = isatty(STDERR_FILENO) && !quiet, .quiet = quiet};
    struct sigaction before[WATCHED], ours = {.sa_handler = on_interrupt};
    pressed = 0;
    if (!o->interrupt)
        o->interrupt = &pressed;
    if (!o->listener) {
        o->listener = show;
        o->context = &s;
    }
    for (int i = 0; i < WATCHED; i++) {
        sigaction(watched[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(watched[i], &ours, NULL);
    }
    bool good = sweep_run(o, result, e);
    for (int i = 0; i < WATCHED; i++)
        sigaction(watched[i], &before[i], NULL);
    if (s.terminal)
        fputs("\r\033[K", stderr);
    if (o->context == &s) {
        o->listener = NULL;
        o->context = NULL;
    }
    return good;
}

bool cli_sweep_run(struct sweep_options *o, struct sweep_result *result, struct error *e)
{
    return run(o, result, false, e);
}

bool cli_sweep_run_quiet(struct sweep_options *o, struct sweep_result *result, struct error *e)
{
    return run(o, result, true, e);
}

/* --launch-limit: the words of the option and of its message. functional.c and timing_launch.c end launches that are
 * past it. */
#include "gpu/launch_limit.h"

#include "gpu/launch.h"

#include <ctype.h>
#include <string.h>

static const struct unit {
    char letter; /* '\0' means that no unit is written */
    bool is_time;
    double factor;
} units[] = {{0, false, 1},  {'k', false, 1e3}, {'M', false, 1e6}, {'G', false, 1e9},
             {'s', true, 1}, {'m', true, 60},   {'h', true, 3600}};

static const struct unit *unit_of(const char *text)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].letter == *text && (!*text || !text[1]))
            return &units[i];
    return NULL;
}

/* strtod would read a comma where the program has chosen a language that writes one. */
static const char *read_number(const char *text, double *to)
{
    double place = 1;
    *to = 0;
    if (!isdigit((unsigned char)*text))
        return NULL;
    for (; isdigit((unsigned char)*text); text++)
        *to = *to * 10 + (*text - '0');
    if (*text != '.')
        return text;
    for (text++; isdigit((unsigned char)*text); text++)
        *to += (*text - '0') * (place /= 10);
    return text;
}

bool launch_limit_read(const char *text, struct launch_limit *to)
{
    const double most_cycles = 1e18, most_seconds = 1e9;
    double number;
    const char *end = read_number(text, &number);
    const struct unit *unit = end ? unit_of(end) : NULL;
    if (!unit)
        return false;
    number *= unit->factor;
    *to = (struct launch_limit){0};
    if (unit->is_time)
        to->seconds = number;
    else
        to->cycles = (uint64_t)number;
    return unit->is_time ? number > 0 && number <= most_seconds : number >= 1 && number <= most_cycles;
}

bool launch_limit_is_out_of_time(const struct residency *r)
{
    double most = r->gpu->options.launch_limit.seconds;
    return most > 0 && r->record.run_seconds + (launch_clock() - r->gpu->run_since) >= most;
}

bool launch_limit_report(struct residency *r, uint64_t cycles, uint64_t blocks_done)
{
    const struct launch_limit *limit = &r->gpu->options.launch_limit;
    char most[64], passed[64] = "";
    bool functional = r->gpu->options.functional;
    if (limit->cycles)
        snprintf(most, sizeof most, "%llu cycles", (unsigned long long)limit->cycles);
    else
        snprintf(most, sizeof most, "%g seconds", limit->seconds);
    if (!limit->cycles && cycles)
        snprintf(passed, sizeof passed, " in %llu cycles", (unsigned long long)cycles);
    else if (!limit->cycles)
        snprintf(passed, sizeof passed, " in %llu warp instructions", (unsigned long long)r->untimed.executed);
    error_set(
        &r->error, ERROR_LAUNCH_LIMIT,
        "kernel %s ran past the limit of %s for each launch (--launch-limit%s); it had done %llu of %llu blocks%s",
        r->launch.kernel->name, most,
        limit->cycles && functional ? "; in functional mode a warp instruction is a cycle" : "",
        (unsigned long long)blocks_done, (unsigned long long)r->blocks.count, passed);
    return false;
}

void launch_limit_report_company(struct residency *r)
{
    error_set(&r->error, ERROR_LAUNCH_LIMIT,
              "kernel %s ended with one that ran past the limit for each launch (--launch-limit): with time, kernels "
              "that run together end together",
              r->launch.kernel->name);
}

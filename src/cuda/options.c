/* HEDDLE_OPTIONS: the options of `heddle run`, for a program that was started with Heddle's library in front of it.
 *
 * The words are read here and not by getopt, whose place in the program's own arguments is process-wide state: cuInit
 * may be called in the middle of them. */
#include "cuda/options.h"

#include "gpu/timeline.h"
#include "policy/bundle.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
    OPT_MACHINE,
    OPT_SCHEDULER,
    OPT_L1,
    OPT_DIVERGENCE,
    OPT_SET,
    OPT_FUNCTIONAL,
    OPT_EXACT_BOUNDS,
    OPT_LOCKSTEP,
    OPT_RACES,
    OPT_STATS,
    OPT_TIMELINE,
    OPT_TIMELINE_CYCLES,
    OPT_TRACE,
    OPT_MAX_CYCLES,
    OPT_LAUNCH_LIMIT,
    OPT_THREADS,
    OPT_QUIET,
    OPT_PRINT_MACHINE,
    OPT_PCS,
    OPT_MERGE_LAUNCHES,
    OPT_INTERVAL,
    OPT_PROBE,
    OPT_WARPS,
    OPT_BUNDLE,
    OPT_KERNEL,
    OPT_LAUNCH,
    OPT_SKIP,
    OPT_REGION,
    OPT_SAMPLE,
    OPT_ISSUE_ORDER
};

static const struct option_row {
    const char *name;
    char letter;
    bool has_value;
    enum option_id id;
} rows[] = {
    {"machine", 'm', true, OPT_MACHINE},
    {"scheduler", 's', true, OPT_SCHEDULER},
    {"l1", 0, true, OPT_L1},
    {"divergence", 0, true, OPT_DIVERGENCE},
    {"probe", 0, true, OPT_PROBE},
    {"policies", 'p', true, OPT_BUNDLE},
    {"set", 0, true, OPT_SET},
    {"functional", 0, false, OPT_FUNCTIONAL},
    {"exact-bounds", 0, false, OPT_EXACT_BOUNDS},
    {"lockstep", 0, false, OPT_LOCKSTEP},
    {"races", 0, false, OPT_RACES},
    {"stats", 0, true, OPT_STATS},
    {"timeline", 0, true, OPT_TIMELINE},
    {"timeline-cycles", 0, true, OPT_TIMELINE_CYCLES},
    {"trace", 0, true, OPT_TRACE},
    {"max-cycles", 0, true, OPT_MAX_CYCLES},
    {"launch-limit", 0, true, OPT_LAUNCH_LIMIT},
    {"", 'j', true, OPT_THREADS},
    {"quiet", 0, false, OPT_QUIET},
    {"print-machine", 0, false, OPT_PRINT_MACHINE},
    {"pcs", 0, false, OPT_PCS},
    {"merge-launches", 0, false, OPT_MERGE_LAUNCHES},
    {"interval", 0, true, OPT_INTERVAL},
    {"warps", 0, true, OPT_WARPS},
    {"kernel", 0, true, OPT_KERNEL},
    {"launch", 0, true, OPT_LAUNCH},
    {"skip", 0, true, OPT_SKIP},
    {"region", 0, false, OPT_REGION},
    {"sample", 0, false, OPT_SAMPLE},
    {"issue-order", 0, true, OPT_ISSUE_ORDER},
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0], OPTION_WORD_BYTES = 8192 };

/* The next word of *text into out; false at the end or on an error (then e is set). */
static bool next_word(const char **text, char *out, size_t size, struct error *e)
{
    const char *p = *text;
    size_t n = 0;
    char quote = 0;
    while (isspace((unsigned char)*p))
        p++;
    if (!*p)
        return false;
    for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'') {
            quote = quote ? 0 : *p;
            continue;
        }
        if (*p == '\\' && quote != '\'' && p[1])
            p++;
        if (n + 1 >= size)
            return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: a word is longer than %zu bytes", size - 1);
        out[n++] = *p;
    }
    if (quote)
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: no closing %c", quote);
    out[n] = '\0';
    *text = p;
    return true;
}

static bool unknown_option(const char *word, struct error *e)
{
    const char *names[ROW_COUNT];
    for (int i = 0; i < ROW_COUNT; i++)
        names[i] = rows[i].name;
    error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: unknown option '%.100s'", word);
    const char *near_name = strncmp(word, "--", 2) ? NULL : nearest_name(word + 2, names, ROW_COUNT);
    if (near_name)
        error_note(e, "did you mean --%s?", near_name);
    return false;
}

/* A long option may be shortened as far as it stays the only one, as getopt_long has it. */
static const struct option_row *find_long(const char *name, size_t length, const char *word, struct error *e)
{
    const struct option_row *found = NULL;
    for (int i = 0; i < ROW_COUNT && length; i++) {
        if (strncmp(rows[i].name, name, length))
            continue;
        if (strlen(rows[i].name) == length)
            return &rows[i];
        if (found) {
            error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: '%.100s' may be --%s or --%s", word, found->name,
                      rows[i].name);
            return NULL;
        }
        found = &rows[i];
    }
    if (!found) {
        unknown_option(word, e);
        return NULL;
    }
    return found;
}

/* As a person writes it. */
static const char *spelled(const struct option_row *row, char out[32])
{
    if (*row->name)
        snprintf(out, 32, "--%s", row->name);
    else
        snprintf(out, 32, "-%c", row->letter);
    return out;
}

static bool keep(char *to, size_t size, const char *name, const char *value, struct error *e)
{
    if (strlen(value) >= size)
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: the value of %s is too long", name);
    if (!*value)
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: %s needs a value", name);
    strcpy(to, value);
    return true;
}

/* One more of an option that may be given several times. */
static bool keep_one_more(char *all, size_t size, uint32_t *bytes, uint32_t *count, uint32_t most, const char *name,
                          const char *value, struct error *e)
{
    if (*count == most || strlen(value) >= size - *bytes)
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: too many %s; the most is %u", name, most);
    if (!keep(all + *bytes, size - *bytes, name, value, e))
        return false;
    *bytes += (uint32_t)strlen(value) + 1;
    ++*count;
    return true;
}

static bool keep_set(struct options *o, const char *value, struct error *e)
{
    return keep_one_more(o->sets, sizeof o->sets, &o->set_bytes, &o->set_count, OPTIONS_SETS, "--set", value, e);
}

static bool keep_probe(struct options *o, const char *value, struct error *e)
{
    return keep_one_more(o->probes, sizeof o->probes, &o->probe_bytes, &o->probe_count, OPTIONS_PROBES, "--probe",
                         value, e);
}

static bool keep_kernel(struct options *o, const char *value, struct error *e)
{
    return keep_one_more(o->kernels, sizeof o->kernels, &o->kernel_bytes, &o->kernel_count, OPTIONS_KERNELS, "--kernel",
                         value, e);
}

/* Digits up to the end, or up to a character in `until`; returns where it stopped, or NULL. */
static const char *read_count(const char *text, uint64_t *to, const char *until)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno || (*end && !strchr(until, *end)))
        return NULL;
    *to = n;
    return end;
}

static bool keep_count(uint64_t *to, const char *name, const char *value, struct error *e)
{
    if (!read_count(value, to, ""))
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: %s needs a number, not '%.100s'", name, value);
    return true;
}

static bool keep_threads(struct options *o, const char *value, struct error *e)
{
    uint64_t n = 0;
    if (!keep_count(&n, "-j", value, e))
        return false;
    if (!n || n > 1024)
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: -j needs a number from 1 to 1024, not '%.100s'", value);
    o->threads = (uint32_t)n;
    return true;
}

static bool keep_launch_limit(struct options *o, const char *value, struct error *e)
{
    if (!launch_limit_read(value, &o->launch_limit))
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: --launch-limit needs " LAUNCH_LIMIT_FORMS ", not '%.100s'",
                         value);
    return true;
}

static bool keep_interval(struct options *o, const char *value, struct error *e)
{
    if (!read_count(value, &o->interval, "") || !o->interval)
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: --interval needs a number of cycles from 1, not '%.100s'",
                         value);
    return true;
}

static bool keep_window(struct options *o, const char *value, struct error *e)
{
    const char *colon = read_count(value, &o->timeline_first, ":");
    if (!colon || !*colon || !read_count(colon + 1, &o->timeline_end, "") || o->timeline_first >= o->timeline_end)
        return error_set(e, ERROR_INVALID,
                         "HEDDLE_OPTIONS: --timeline-cycles needs two numbers A:B, the first cycle and the one after "
                         "the last, not '%.100s'",
                         value);
    return true;
}

static bool apply(struct options *o, const struct option_row *row, const char *value, struct error *e)
{
    char buffer[32];
    const char *name = spelled(row, buffer);
    switch (row->id) {
    case OPT_MACHINE: return keep(o->machine, sizeof o->machine, name, value, e);
    case OPT_STATS: return keep(o->stats, sizeof o->stats, name, value, e);
    case OPT_TIMELINE: return keep(o->timeline, sizeof o->timeline, name, value, e);
    case OPT_TRACE: return keep(o->trace, sizeof o->trace, name, value, e);
    case OPT_WARPS: return keep(o->warps, sizeof o->warps, name, value, e);
    case OPT_SCHEDULER: return keep(o->scheduler, sizeof o->scheduler, name, value, e);
    case OPT_L1: return keep(o->l1, sizeof o->l1, name, value, e);
    case OPT_DIVERGENCE: return keep(o->divergence, sizeof o->divergence, name, value, e);
    case OPT_BUNDLE: return keep(o->bundle, sizeof o->bundle, name, value, e);
    case OPT_PROBE: return keep_probe(o, value, e);
    case OPT_SET: return keep_set(o, value, e);
    case OPT_KERNEL: return keep_kernel(o, value, e);
    case OPT_LAUNCH: return keep(o->launches, sizeof o->launches, name, value, e);
    case OPT_SKIP: return keep_count(&o->skip, name, value, e);
    case OPT_ISSUE_ORDER: return keep(o->issue_order, sizeof o->issue_order, name, value, e);
    case OPT_REGION: o->region = true; return true;
    case OPT_SAMPLE: o->sample = true; return true;
    case OPT_MAX_CYCLES: return keep_count(&o->max_cycles, name, value, e);
    case OPT_LAUNCH_LIMIT: return keep_launch_limit(o, value, e);
    case OPT_THREADS: return keep_threads(o, value, e);
    case OPT_TIMELINE_CYCLES: return keep_window(o, value, e);
    case OPT_INTERVAL: return keep_interval(o, value, e);
    case OPT_PCS: o->pcs = true; return true;
    case OPT_MERGE_LAUNCHES: o->merge_launches = true; return true;
    case OPT_FUNCTIONAL: o->functional = true; return true;
    case OPT_EXACT_BOUNDS: o->exact_bounds = true; return true;
    case OPT_LOCKSTEP: o->lockstep = true; return true;
    case OPT_RACES: o->races = true; return true;
    case OPT_QUIET: o->quiet = true; return true;
    case OPT_PRINT_MACHINE: break;
    }
    return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: %s is an option of 'heddle run' alone", name);
}

static bool parse_word(struct options *o, const char *word, const char **rest, struct error *e)
{
    const struct option_row *row = NULL;
    const char *value = NULL;
    char next[OPTION_WORD_BYTES], name[32];
    if (!strncmp(word, "--", 2)) {
        const char *equals = strchr(word, '=');
        row = find_long(word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2), word, e);
        if (!row)
            return false;
        value = equals ? equals + 1 : NULL;
        if (value && !row->has_value)
            return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: %s takes no value", spelled(row, name));
    } else {
        for (int i = 0; i < ROW_COUNT && word[0] == '-' && word[1]; i++)
            if (rows[i].letter == word[1])
                row = &rows[i];
        if (!row)
            return unknown_option(word, e);
        value = word[2] ? word + 2 : NULL;
    }
    if (row->has_value && !value) {
        if (!next_word(rest, next, sizeof next, e))
            return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: %s needs a value", spelled(row, name));
        value = next;
    }
    return apply(o, row, value, e);
}

/* A bundle is the policies that it stands for. */
static bool apply_bundle(struct options *o, struct error *e)
{
    char *const places[] = {o->scheduler, o->l1, o->divergence};
    const char *const given[POLICY_KINDS] = {o->scheduler, o->l1, o->divergence, NULL};
    struct policy_specs specs;
    struct error own = {0};
    _Static_assert(sizeof o->scheduler >= POLICY_SPEC_BYTES, "a spec has room");
    if (!*o->bundle)
        return true;
    if (!policy_bundle_take(&specs, o->bundle, given, &own))
        return error_set(e, own.kind, "HEDDLE_OPTIONS: %s", own.text);
    for (int kind = 0; kind < POLICY_PROBE; kind++)
        if (*specs.of[kind])
            strcpy(places[kind], specs.of[kind]);
    return !*specs.of[POLICY_PROBE] || o->functional || keep_probe(o, specs.of[POLICY_PROBE], e);
}

/* Blocks run in lockstep for probes, in an order of their own. */
static bool check_races(const struct options *o, struct error *e)
{
    if (o->races && !o->functional)
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: --races looks at a run without time; add --functional");
    if (o->races && o->probe_count)
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: --races and --probe do not go together");
    return true;
}

bool options_parse(struct options *o, const char *text, struct error *e)
{
    char word[OPTION_WORD_BYTES];
    struct error words = {0};
    *o = (struct options){.machine = "gtx480", .timeline_end = TIMELINE_CYCLES};
    if (!text)
        return true;
    while (next_word(&text, word, sizeof word, &words))
        if (!parse_word(o, word, &text, e))
            return false;
    if (words.kind != ERROR_NONE)
        return error_set(e, words.kind, "%s", words.text);
    if (o->timeline[0] && o->issue_order[0])
        return error_set(e, ERROR_INVALID, "HEDDLE_OPTIONS: --timeline and --issue-order do not go together");
    return apply_bundle(o, e) && check_races(o, e);
}

static uint32_t split(const char *at, uint32_t count, const char **out)
{
    for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1)
        out[i] = at;
    return count;
}

uint32_t options_sets(const struct options *o, const char **out) { return split(o->sets, o->set_count, out); }
uint32_t options_probes(const struct options *o, const char **out) { return split(o->probes, o->probe_count, out); }
uint32_t options_kernels(const struct options *o, const char **out) { return split(o->kernels, o->kernel_count, out); }

bool options_choose_launches(const struct options *o)
{
    return o->kernel_count || o->launches[0] || o->skip || o->region;
}

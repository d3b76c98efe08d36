/* Experiment files: read, expanded and checked as a whole, so that a sweep never starts with a mistake in it. This file
 * has the [experiment] section and the order of the rest: the lines are taken apart (reader.c), the axes and
 * points made (expand*.c), the figures and tables read (figure_section.c, table_section.c). */
#include "experiment/figure_section.h"
#include "experiment/paper_section.h"
#include "gpu/launch_filter.h"
#include "gpu/machine_key.h"
#include "replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"title",    "about",  "size",   "best_by", "time_limit", "memory_limit", "pcs",
                                   "interval", "replay", "probes", "folder",  "launches",   "build",        "sample"};
enum { KEY_COUNT = sizeof keys / sizeof *keys };
static const char *const sizes[] = {"test", "small", "paper"};
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };

static bool check_keys(const struct lab_reader *r, const struct lab_section *s)
{
    for (uint32_t i = 0; s && i < s->line_count; i++) {
        int key = 0;
        while (key < KEY_COUNT && !lab_word_is(s->lines[i].name, keys[key]))
            key++;
        if (key == KEY_COUNT)
            return lab_unknown(r, s->lines[i].name, "key of [experiment]", keys, KEY_COUNT);
    }
    return true;
}

/* Free text: quotes around all of it are taken off, others stay. */
const char *lab_text_of(const struct lab_reader *r, const struct lab_section *s, const char *key, const char *otherwise)
{
    const struct lab_line *line = lab_find_line(s, key);
    if (!line)
        return otherwise;
    struct lab_word w = line->value;
    if (w.length >= 2 && *w.at == '"' && memchr(w.at + 1, '"', w.length - 1) == lab_end(w) - 1)
        w = (struct lab_word){w.at + 1, w.length - 2};
    return lab_copy(r, w);
}

/* A number and its unit; units: letters with what each stands for. */
static bool read_quantity(const struct lab_reader *r, struct lab_word w, const char *units, const double *factors,
                          double *out)
{
    struct lab_word number = w;
    const char *unit = w.length && w.at[w.length - 1] ? strchr(units, w.at[w.length - 1]) : NULL;
    if (unit)
        number = lab_trim(w.at, lab_end(w) - 1);
    if (!unit || !lab_number(number, out) || *out <= 0)
        return false;
    *out *= factors[unit - units];
    return isfinite(*out) || lab_wrong(r, w.at, "this number is too large");
}

static bool read_time_limit(const struct lab_reader *r, const struct lab_section *s, double *seconds)
{
    static const double factors[] = {1, 60, 3600};
    const struct lab_line *line = lab_find_line(s, "time_limit");
    *seconds = 0;
    if (!line || lab_word_is(line->value, "none"))
        return true;
    return read_quantity(r, line->value, "smh", factors, seconds) ||
           lab_wrong(r, line->value.at, "expected a time with its unit, as in 60s, 5m or 1.5h; or none");
}

static bool read_memory_limit(const struct lab_reader *r, const struct lab_section *s, uint64_t *bytes)
{
    static const double factors[] = {1024.0, 1048576.0, 1073741824.0, 1099511627776.0};
    static const double most = 9e18;
    const struct lab_line *line = lab_find_line(s, "memory_limit");
    double number = 0;
    *bytes = 0;
    if (!line || lab_word_is(line->value, "none"))
        return true;
    bool good =
        read_quantity(r, line->value, "KMGT", factors, &number) || (lab_number(line->value, &number) && number >= 1);
    if (!good || number > most)
        return lab_wrong(r, line->value.at, "expected bytes, as in 512M or 2G; or none");
    *bytes = (uint64_t)number;
    return true;
}

static bool read_size(const struct lab_reader *r, const struct lab_section *s, const char *asked, struct experiment *x)
{
    const struct lab_line *line = lab_find_line(s, "size");
    const char *given = line ? lab_copy(r, line->value) : "small";
    int known = 0;
    while (known < SIZE_COUNT && strcmp(given, sizes[known]) != 0)
        known++;
    if (known == SIZE_COUNT)
        return lab_unknown(r, line->value, "size", sizes, SIZE_COUNT);
    for (known = 0; asked && known < SIZE_COUNT && strcmp(asked, sizes[known]) != 0;)
        known++;
    if (known == SIZE_COUNT)
        return error_set(r->error, ERROR_NOT_FOUND, "unknown size '%s': test, small or paper is expected", asked);
    x->size = asked ? arena_strndup(r->arena, asked, strlen(asked)) : given;
    return true;
}

static bool read_pcs(const struct lab_reader *r, const struct lab_section *s, bool *pcs)
{
    const struct lab_line *line = lab_find_line(s, "pcs");
    *pcs = line && lab_word_is(line->value, "yes");
    return !line || *pcs || lab_word_is(line->value, "no") ||
           lab_wrong(r, line->value.at, "expected yes or no: whether runs count what each instruction did");
}

/* What needs every cycle of a run does not go together with it. */
static bool read_sample(const struct lab_reader *r, const struct lab_section *s, struct experiment *x)
{
    const struct lab_line *line = lab_find_line(s, "sample"), *probes = lab_find_line(s, "probes");
    x->sample = line && lab_word_is(line->value, "auto");
    if (line && !x->sample && !lab_word_is(line->value, "no"))
        return lab_wrong(r, line->value.at, "expected auto or no: whether runs time a part and estimate the rest");
    if (x->sample && (x->pcs || x->interval_cycles || x->replay || probes))
        return lab_wrong(r, line->value.at, "sample = auto estimates cycles, and %s needs every one of them",
                         x->pcs               ? "pcs = yes"
                         : x->interval_cycles ? "interval"
                         : x->replay          ? "replay"
                                              : "a probe");
    return true;
}

static bool read_interval(const struct lab_reader *r, const struct lab_section *s, uint64_t *cycles)
{
    static const double most = 1e15; /* as exact as a number of a JSON file */
    const struct lab_line *line = lab_find_line(s, "interval");
    double number = 0;
    *cycles = 0;
    if (!line || lab_word_is(line->value, "none"))
        return true;
    if (!lab_number(line->value, &number) || number < 1 || number > most || number != floor(number))
        return lab_wrong(r, line->value.at, "expected a whole number of cycles from 1, as in 10000; or none");
    *cycles = (uint64_t)number;
    return true;
}

static bool read_replay(const struct lab_reader *r, const struct lab_section *s, uint32_t *policies)
{
    const struct lab_line *line = lab_find_line(s, "replay");
    struct lab_word word = {0};
    *policies = 0;
    if (!line || lab_word_is(line->value, "none") ||
        replay_policies_read(line->value.at, line->value.length, policies, &word.at, &word.length))
        return true;
    return word.length ? lab_unknown(r, word, "policy of a replay", replay_policy_names, REPLAY_POLICIES)
                       : lab_wrong(r, word.at, "expected policies, as in lru, belady; all; or none");
}

static bool read_launches(const struct lab_reader *r, const struct lab_section *s, const char **launches)
{
    const struct lab_line *line = lab_find_line(s, "launches");
    *launches = line ? lab_copy(r, line->value) : NULL;
    struct error why = {0};
    struct launch_filter *f = launch_filter_create(&(struct launch_filter_spec){.launches = *launches}, &why);
    launch_filter_destroy(f);
    return !line || (f && **launches) ||
           lab_wrong(r, line->value.at, "expected the launches that are timed, from 0, as in 0-79 or 0,3-5");
}

static bool read_head(const struct lab_reader *r, const char *size, struct experiment *x)
{
    const struct lab_section *s = lab_find_section(r, SECTION_EXPERIMENT);
    if (!check_keys(r, s))
        return false;
    x->title = lab_text_of(r, s, "title", x->name);
    x->about = lab_text_of(r, s, "about", "");
    x->best_by = lab_text_of(r, s, "best_by", "ipc");
    x->folder = lab_text_of(r, s, "folder", "");
    x->build = lab_text_of(r, s, "build", NULL);
    if (*x->folder && x->folder[strlen(x->folder) - 1] != '/')
        x->folder = arena_printf(r->arena, "%s/", x->folder);
    return read_size(r, s, size, x) && read_time_limit(r, s, &x->time_limit_seconds) &&
           read_memory_limit(r, s, &x->memory_limit_bytes) && read_pcs(r, s, &x->pcs) &&
           read_interval(r, s, &x->interval_cycles) && read_replay(r, s, &x->replay) &&
           read_launches(r, s, &x->launches) && read_sample(r, s, x);
}

static bool read_experiment(struct lab_reader *r, struct experiment *x, const char *size)
{
    const char ***words[AXIS_COUNT];
    if (!lab_read_sections(r) || !read_head(r, size, x) || !lab_expand_axes(r, x, words) || !lab_read_inputs(r, x))
        return false;
    if (!lab_expand_points(r, x, words))
        return false;
    struct lab_metrics metrics = lab_metrics_known(r->arena, x); /* once the probes are known */
    const struct lab_line *best_by = lab_find_line(lab_find_section(r, SECTION_EXPERIMENT), "best_by");
    if (best_by && !lab_expression_check(r, &metrics, best_by->value))
        return false;
    return lab_read_figures(r, &metrics, x) && lab_read_tables(r, x) && lab_read_paper(r, x);
}

static bool parse(struct experiment *x, struct arena *a, const char *source_name, const char *name, const char *text,
                  size_t text_bytes, const char *size, struct error *e)
{
    struct error own = {0};
    char *copy = arena_strndup(a, text, text_bytes);
    struct source source = {source_name, copy, text_bytes};
    struct lab_reader r = {.arena = a, .error = e ? e : &own, .source = &source};
    *x = (struct experiment){
        .name = arena_strndup(a, name, strlen(name)), .folder = "", .text = copy, .text_bytes = text_bytes};
    return read_experiment(&r, x, size);
}

bool experiment_parse(struct experiment *x, struct arena *a, const char *name, const char *text, size_t text_bytes,
                      const char *size, struct error *e)
{
    return parse(x, a, name, name, text, text_bytes, size, e);
}

bool experiment_load(struct experiment *x, struct arena *a, const char *path, const char *size, struct error *e)
{
    struct source file = {0};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".ini") == 0)
        length -= 4;
    *x = (struct experiment){0};
    bool good = machine_read_text(path, "experiment file", &file, e);
    good = good && parse(x, a, path, arena_strndup(a, base, length), file.text, file.size_bytes, size, e);
    free((char *)file.text);
    if (good && !*x->folder)
        x->folder = arena_strndup(a, path, (size_t)(base - path));
    return good;
}

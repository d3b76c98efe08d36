/* A scheduler's line that is options of `heddle run`: `-p cawa:critical_ways={2,4}`, `-s gto --l1 cacp`. Such a line
 * fixes the L1 policy and the divergence unit of its runs, too, whatever the other axes say. Each option has a spec,
 * and one of them may have a range. What a bundle stands for is asked when jobs are made: it may be a file that is no
 * longer there when a report is written. */
#include "experiment/expand.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *letter, *name;
    enum lab_option option;
} known[] = {
    {"-p", "--policies", OPTION_BUNDLE},
    {"-s", "--scheduler", OPTION_SCHEDULER},
    {"--l1", "--l1", OPTION_L1},
    {"--divergence", "--divergence", OPTION_DIVERGENCE},
};

/* A line while it is read. */
struct options {
    const struct lab_reader *reader;
    struct lab_spec specs[LAB_OPTIONS];
    bool given[LAB_OPTIONS];
    const struct lab_spec *ranged; /* the one with the range, or NULL */
};

bool lab_options_are(struct lab_word text) { return text.length && *text.at == '-'; }

static bool find_option(const struct options *o, struct lab_word name, enum lab_option *out)
{
    static const char *const names[] = {"-p", "-s", "--l1", "--divergence"};
    for (int i = 0; i < LAB_OPTIONS; i++)
        if (lab_word_is(name, known[i].letter) || lab_word_is(name, known[i].name)) {
            *out = known[i].option;
            return true;
        }
    if (lab_word_is(name, "--probe"))
        return lab_wrong(o->reader, name.at,
                         "probes have sections of their own: expected -p, -s, --l1 or --divergence");
    return lab_unknown(o->reader, name, "option of a scheduler's line", names, sizeof names / sizeof *names);
}

/* Where the next option begins: at a '-' after a blank, outside quotes. */
static const char *next_option(const char *at, const char *end)
{
    for (const char *p = at; p < end; p++) {
        if (*p == '"') {
            const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
            p = close ? close : end - 1;
        } else if (*p == '-' && p > at && isspace((unsigned char)p[-1])) {
            return p;
        }
    }
    return end;
}

static bool read_option(struct options *o, struct lab_word text)
{
    size_t length = 0;
    while (length < text.length && text.at[length] != '=' && !isspace((unsigned char)text.at[length]))
        length++;
    struct lab_word name = {text.at, length}, value = lab_trim(lab_end(name), lab_end(text));
    enum lab_option option = OPTION_BUNDLE;
    if (!find_option(o, name, &option))
        return false;
    if (value.length && *value.at == '=' && name.length > 2)
        value = lab_trim(value.at + 1, lab_end(text));
    if (!value.length)
        return lab_wrong(o->reader, lab_end(name), "expected NAME[:key=value,...] after %.*s", (int)name.length,
                         name.at);
    if (o->given[option])
        return lab_wrong(o->reader, name.at, "%s is given twice", known[option].letter);
    struct lab_spec *spec = &o->specs[option];
    if (!lab_spec_read(o->reader, AXIS_L1, value, spec))
        return false;
    if (spec->best)
        return lab_wrong(o->reader, value.at,
                         "best(...) stands around all options of a line: best(-s NAME:key=1..8 --l1 NAME)");
    if (spec->items && o->ranged)
        return lab_wrong(o->reader, value.at, "a second range on one line; %s has one already", o->ranged->parameter);
    o->given[option] = true;
    o->ranged = spec->items ? spec : o->ranged;
    return true;
}

/* The specs of one value, by option, and all of them as one text. */
static const char **make_value(const struct options *o, uint32_t value, const char **text)
{
    const char **specs = arena_array(o->reader->arena, const char *, LAB_OPTIONS);
    *text = "";
    for (int i = 0; i < LAB_OPTIONS; i++) {
        if (!o->given[i])
            continue;
        specs[i] = o->specs[i].texts[o->specs[i].items ? value : 0];
        *text = arena_printf(o->reader->arena, "%s%s%s %s", *text, **text ? " " : "", known[i].letter, specs[i]);
    }
    return specs;
}

/* A scheduler alone is what it would be without its option. */
static bool is_scheduler_alone(const struct options *o)
{
    for (int i = 0; i < LAB_OPTIONS; i++)
        if (o->given[i] != (i == OPTION_SCHEDULER))
            return false;
    return true;
}

bool lab_options_read(const struct lab_reader *r, struct lab_word text, struct lab_spec *out)
{
    struct options *o = arena_new(r->arena, struct options);
    bool best = out->best;
    o->reader = r;
    for (const char *at = text.at, *end = lab_end(text); at < end;) {
        const char *next = next_option(at, end);
        if (!read_option(o, lab_trim(at, next)))
            return false;
        at = next;
    }
    if (is_scheduler_alone(o)) {
        *out = o->specs[OPTION_SCHEDULER];
        out->best = best;
        return true;
    }
    lab_spec_allocate(r, out, o->ranged ? o->ranged->count : 1);
    out->options = arena_array(r->arena, const char **, out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        out->options[i] = make_value(o, i, &out->texts[i]);
        out->words[i] = arena_array(r->arena, const char *, 1);
        if (o->ranged)
            out->numbers[i] = o->ranged->numbers[i];
    }
    out->parameter = o->ranged ? o->ranged->parameter : NULL;
    out->items = o->ranged ? o->ranged->items : NULL;
    return true;
}

/* What stands on a line of an axis: a program's command, a machine, a policy's spec NAME[:key=value,...], a variant's
 * section.key=value,... The last two may hold one range and may be wrapped into best(...); any line may be a choice
 * among others of its axis, best(a | b). A scheduler's may be options: expand_options.c. Only the form is checked here;
 * whether such a program, policy or key exists is asked when jobs are made of the points. */
#include "experiment/expand.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PAIRS = 256, LONGEST_SPEC = 2000 /* bytes; it is written out for each value of a range */ };

/* key=value of a spec; at most one of a line has a range. */
struct pairs {
    const char *text[MOST_PAIRS]; /* "key=value"; of the one with the range: "key=" */
    uint32_t count;
    int ranged; /* -1: none */
    const char *parameter;
    struct lab_range range;
};

static bool read_range(const struct lab_reader *r, struct lab_word key, struct lab_word value, struct pairs *p)
{
    if (p->ranged >= 0)
        return lab_wrong(r, value.at, "a second range on one line; %s has one already", p->parameter);
    p->ranged = (int)p->count;
    p->parameter = lab_copy(r, key);
    p->text[p->count] = arena_printf(r->arena, "%s=", p->parameter);
    return lab_range_read(r, value, &p->range);
}

static bool add_pair(const struct lab_reader *r, struct lab_word key, struct lab_word value, struct pairs *p)
{
    if (p->count == MOST_PAIRS)
        return lab_wrong(r, key.at, "more than %d values on one line", MOST_PAIRS);
    if (lab_range_is(value)) {
        if (!read_range(r, key, value, p))
            return false;
    } else {
        if (!lab_unquote(r, &value))
            return false;
        p->text[p->count] = arena_printf(r->arena, "%.*s=%.*s", (int)key.length, key.at, (int)value.length, value.at);
    }
    p->count++;
    return true;
}

static bool read_policy_pair(const struct lab_reader *r, struct lab_word piece, struct pairs *p)
{
    const char *equals = piece.length ? memchr(piece.at, '=', piece.length) : NULL;
    struct lab_word key = equals ? lab_trim(piece.at, equals) : piece;
    if (!key.length)
        return lab_wrong(r, piece.at, "expected key=value");
    for (size_t i = 0; i < key.length; i++)
        if (!isalnum((unsigned char)key.at[i]) && !strchr("_-.", key.at[i]))
            return lab_wrong(r, key.at + i, "expected '=' after a parameter's name");
    if (equals)
        return add_pair(r, key, lab_trim(equals + 1, lab_end(piece)), p);
    if (p->count == MOST_PAIRS)
        return lab_wrong(r, key.at, "more than %d values on one line", MOST_PAIRS);
    p->text[p->count++] = lab_copy(r, key); /* a flag */
    return true;
}

/* A list of numbers may be the value of a machine's key: pieces that are numbers belong to the key before them. */
static bool continues_list(struct lab_word piece, const struct pairs *p)
{
    double number;
    return p->count && p->ranged != (int)p->count - 1 && lab_number(piece, &number);
}

static bool read_variant_pair(const struct lab_reader *r, struct lab_word piece, struct pairs *p)
{
    const char *equals = lab_find_outside_quotes(piece, "=");
    struct lab_word key = equals ? lab_trim(piece.at, equals) : (struct lab_word){piece.at, 0};
    if (!equals && continues_list(piece, p)) {
        p->text[p->count - 1] = arena_printf(r->arena, "%s,%.*s", p->text[p->count - 1], (int)piece.length, piece.at);
        return true;
    }
    const char *dot = key.length ? memchr(key.at, '.', key.length) : NULL;
    if (!dot || dot == key.at || dot + 1 == lab_end(key))
        return lab_wrong(r, piece.at, "expected section.key=value, section.key=value, ...");
    struct lab_word value = lab_trim(equals + 1, lab_end(piece));
    if (!value.length)
        return lab_wrong(r, equals + 1, "expected a value of %.*s", (int)key.length, key.at);
    return add_pair(r, key, value, p);
}

static bool read_pairs(const struct lab_reader *r, enum lab_axis axis, struct lab_word text, struct pairs *p)
{
    struct lab_word piece;
    while (lab_next_piece(&text, ',', &piece))
        if (!(axis == AXIS_VARIANT ? read_variant_pair(r, piece, p) : read_policy_pair(r, piece, p)))
            return false;
    return true;
}

void lab_spec_allocate(const struct lab_reader *r, struct lab_spec *out, uint32_t count)
{
    out->count = count;
    out->texts = arena_array(r->arena, const char *, count);
    out->numbers = arena_array(r->arena, double, count);
    out->words = arena_array(r->arena, const char **, count);
    for (uint32_t i = 0; i < count; i++)
        out->numbers[i] = NAN;
}

/* One value for each item of the range; head is what comes before the pairs. */
static void make_values(const struct lab_reader *r, enum lab_axis axis, const char *head, const struct pairs *p,
                        struct lab_spec *out)
{
    const char *between = axis == AXIS_VARIANT ? " " : ",";
    lab_spec_allocate(r, out, p->ranged < 0 ? 1 : p->range.count);
    out->parameter = p->parameter;
    out->items = p->ranged < 0 ? NULL : p->range.items;
    for (uint32_t v = 0; v < out->count; v++) {
        char text[LONGEST_SPEC * 2];
        size_t used = (size_t)snprintf(text, sizeof text, "%s", head);
        out->words[v] = arena_array(r->arena, const char *, p->count + 1);
        for (uint32_t i = 0; i < p->count; i++) {
            const char *pair =
                (int)i == p->ranged ? arena_printf(r->arena, "%s%s", p->text[i], p->range.items[v]) : p->text[i];
            out->words[v][i] = pair;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", !i ? (*head ? ":" : "") : between, pair);
        }
        out->texts[v] = arena_strndup(r->arena, text, used);
        if (p->ranged >= 0)
            out->numbers[v] = p->range.numbers[v];
    }
}

static bool read_policy(const struct lab_reader *r, enum lab_axis axis, struct lab_word text, struct pairs *p,
                        const char **head)
{
    bool path = memchr(text.at, '/', text.length) != NULL;
    const char *colon = memchr(text.at, ':', text.length), *so = path ? memmem(text.at, text.length, ".so:", 4) : NULL;
    if (so)
        colon = so + 3;
    struct lab_word name = lab_trim(text.at, colon ? colon : lab_end(text));
    if (lab_options_are(text))
        return lab_wrong(r, text.at, "expected NAME[:key=value,...]; options, such as -p, stand in [schedulers]");
    if (!name.length)
        return lab_wrong(r, text.at, "expected the name of a policy: NAME[:key=value,...]");
    for (size_t i = 0; i < name.length && !path; i++)
        if (!isalnum((unsigned char)name.at[i]) && !strchr("_-.", name.at[i]))
            return lab_wrong(r, name.at + i, "expected NAME[:key=value,...]%s",
                             name.at[i] == '=' ? "; after a label '=' needs a blank beside it" : "");
    *head = lab_copy(r, name);
    return !colon || read_pairs(r, axis, lab_trim(colon + 1, lab_end(text)), p);
}

/* Takes best( ) off. */
static bool unwrap_best(const struct lab_reader *r, struct lab_word *text, bool *best)
{
    static const char word[] = "best";
    if (text->length < sizeof word - 1 || memcmp(text->at, word, sizeof word - 1) != 0)
        return true;
    struct lab_word rest = lab_trim(text->at + sizeof word - 1, lab_end(*text));
    if (!rest.length || *rest.at != '(')
        return true;
    if (rest.at[rest.length - 1] != ')')
        return lab_wrong(r, lab_end(rest), "expected ')' at the end of best(...)");
    *best = true;
    *text = lab_trim(rest.at + 1, lab_end(rest) - 1);
    return true;
}

static bool read_ranged(const struct lab_reader *r, enum lab_axis axis, struct lab_word text, struct lab_spec *out)
{
    struct pairs *p = arena_new(r->arena, struct pairs);
    const char *head = "";
    p->ranged = -1;
    if (text.length > LONGEST_SPEC)
        return lab_wrong(r, text.at, "more than %d bytes", LONGEST_SPEC);
    if (!lab_check_closed(r, text) || !unwrap_best(r, &text, &out->best))
        return false;
    bool options = axis == AXIS_SCHEDULER && lab_options_are(text);
    if (options && !lab_options_read(r, text, out))
        return false;
    if (!options && text.length &&
        !(axis == AXIS_VARIANT ? read_pairs(r, axis, text, p) : read_policy(r, axis, text, p, &head)))
        return false;
    if (out->best && p->ranged < 0 && !(options && out->items))
        return lab_wrong(r, text.at,
                         "best(...) of no range: expected one to choose from, as in best(NAME:key=1..32), or several "
                         "lines, as in best(a | b)");
    if (options)
        return true;
    out->name = axis == AXIS_VARIANT ? NULL : head;
    make_values(r, axis, head, p, out);
    return true;
}

/* The word of a command that begins here, without its quotes, which keep blanks as in a shell. */
static char *read_word(const struct lab_reader *r, const char **at, const char *end)
{
    const char *start = *at, *p = start;
    while (p < end && !isspace((unsigned char)*p)) {
        const char *close = *p == '"' ? memchr(p + 1, '"', (size_t)(end - p - 1)) : p;
        if (!close) {
            lab_wrong(r, p, "this quote is not closed");
            return NULL;
        }
        p = close + 1;
    }
    char *word = arena_strndup(r->arena, start, (size_t)(p - start)), *to = word;
    for (const char *from = word; *from; from++)
        if (*from != '"')
            *to++ = *from;
    *to = '\0';
    *at = lab_trim(p, end).at;
    return word;
}

/* The same command in one form, whatever the blanks. */
static const char *join_words(const struct lab_reader *r, const char **words, uint32_t count)
{
    size_t bytes = 1, used = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += strlen(words[i]) + 3;
    char *text = arena_alloc(r->arena, bytes);
    for (uint32_t i = 0; i < count; i++) {
        const char *quote = !*words[i] || strpbrk(words[i], " \t\v\f\r") ? "\"" : "";
        used += (size_t)snprintf(text + used, bytes - used, "%s%s%s%s", i ? " " : "", quote, words[i], quote);
    }
    return text;
}

const char **lab_words_read(const struct lab_reader *r, struct lab_word text, uint32_t *count)
{
    const char **words = NULL;
    uint32_t room = 0;
    *count = 0;
    for (const char *at = text.at; at < lab_end(text); ++*count) {
        words = lab_grow(r->arena, words, *count, &room, sizeof *words);
        words[*count] = read_word(r, &at, lab_end(text));
        if (!words[*count])
            return NULL;
    }
    words = lab_grow(r->arena, words, *count, &room, sizeof *words);
    words[*count] = NULL;
    return words;
}

static bool read_program(const struct lab_reader *r, struct lab_word text, struct lab_spec *out)
{
    uint32_t count = 0;
    const char **words = lab_words_read(r, text, &count);
    if (!words)
        return false;
    if (!count || !*words[0])
        return lab_wrong(r, text.at, "expected a program: a workload's name or a path, and its arguments");
    lab_spec_allocate(r, out, 1);
    out->texts[0] = join_words(r, words, count);
    out->words[0] = words;
    return true;
}

/* best(a | b); anything else is left to its axis. */
static void find_lines(const struct lab_reader *r, struct lab_word text, struct lab_spec *out)
{
    struct error unused = {0};
    struct lab_reader quiet = *r;
    bool best = false;
    quiet.error = &unused;
    if (!unwrap_best(&quiet, &text, &best) || !best || !lab_lines_are(text))
        return;
    out->best = true;
    out->lines = text;
}

bool lab_spec_read(const struct lab_reader *r, enum lab_axis axis, struct lab_word text, struct lab_spec *out)
{
    *out = (struct lab_spec){0};
    find_lines(r, text, out);
    if (out->lines.length)
        return true;
    if (axis == AXIS_PROGRAM)
        return read_program(r, text, out);
    if (axis != AXIS_MACHINE)
        return read_ranged(r, axis, text, out);
    if (!lab_unquote(r, &text))
        return false;
    if (!text.length)
        return lab_wrong(r, text.at, "expected a machine: the name of one, or the path of its file");
    lab_spec_allocate(r, out, 1);
    out->texts[0] = lab_copy(r, text);
    return true;
}

const char *lab_plain_spec(const struct lab_reader *r, struct lab_word text, const char *what)
{
    struct lab_spec spec;
    if (text.length && *text.at == '"' && !lab_unquote(r, &text))
        return NULL;
    if (!lab_spec_read(r, AXIS_L1, text, &spec)) /* a policy of any kind, but no options */
        return NULL;
    if (!spec.best && spec.count == 1 && !spec.items)
        return spec.texts[0];
    lab_wrong(r, text.at, "%s has no range and no choice: expected NAME[:key=value,...]", what);
    return NULL;
}

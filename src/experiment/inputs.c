/* [input NAME]: runs whose output is another run's input, and the references =@NAME to them. References are found in
 * the text of the lines, so that a mistake has its column; what they stand for is put in when jobs are made. */
#include "experiment/expand.h"

#include <ctype.h>
#include <string.h>

enum { KEY_COUNT = 6, POLICY_KEYS = 3 };
static const char *const keys[KEY_COUNT] = {"scheduler", "l1", "divergence", "arguments", "probe", "option"};

static bool is_name_character(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.'; }

bool lab_reference_next(const char **at, size_t *name_length)
{
    for (const char *p = *at; (p = strstr(p, "=@")); p += 2) {
        size_t length = 0;
        while (is_name_character(p[2 + length]))
            length++;
        if (!length || (p[2 + length] && p[2 + length] != ','))
            continue;
        *at = p + 1;
        *name_length = length;
        return true;
    }
    return false;
}

const struct lab_input *lab_find_input(const struct experiment *x, const char *name, size_t length)
{
    for (uint32_t i = 0; i < x->input_count; i++)
        if (strlen(x->inputs[i].name) == length && memcmp(x->inputs[i].name, name, length) == 0)
            return &x->inputs[i];
    return NULL;
}

/* ------------------------------------------------------------- sections */

static bool check_keys(const struct lab_reader *r, const struct lab_section *s)
{
    for (uint32_t i = 0; i < s->line_count; i++) {
        int key = 0;
        while (key < KEY_COUNT && !lab_word_is(s->lines[i].name, keys[key]))
            key++;
        if (key == KEY_COUNT)
            return lab_unknown(r, s->lines[i].name, "key of an input", keys, KEY_COUNT);
    }
    return true;
}

static bool read_policies(const struct lab_reader *r, const struct lab_section *s, struct lab_input *in)
{
    for (int i = 0; i < POLICY_KEYS; i++) {
        const struct lab_line *line = lab_find_line(s, keys[i]);
        const char *mark = line ? memmem(line->value.at, line->value.length, "=@", 2) : NULL;
        if (mark)
            return lab_wrong(r, mark + 1, "an input's run reads no other input's file");
        in->policies[i] = line && line->value.length ? lab_plain_spec(r, line->value, "an input's policy") : "";
        in->policy_lines[i] = line ? line->number : in->line;
        if (!in->policies[i])
            return false;
    }
    return true;
}

/* A '@', or '@.ending', that is a whole value: after '=' or a blank, and before ',' or a blank. */
static bool is_file_mark(struct lab_word text, const char *at)
{
    bool before = at == text.at || at[-1] == '=' || isspace((unsigned char)at[-1]);
    const char *after = at + 1, *end = lab_end(text);
    if (end - after > 1 && *after == '.' && isalnum((unsigned char)after[1]))
        for (after += 2; after < end && isalnum((unsigned char)*after);)
            after++;
    return before && (after == end || *after == ',' || isspace((unsigned char)*after));
}

/* Counts the marks of a line, and complains about a '@' that is none or one too many. */
static bool count_marks(const struct lab_reader *r, const struct lab_line *line, int *count)
{
    const char *end = line ? lab_end(line->value) : NULL;
    for (const char *at = line ? line->value.at : NULL; at < end; at++) {
        if (*at != '@')
            continue;
        if (!is_file_mark(line->value, at))
            return lab_wrong(r, at, "expected '@' or '@.ENDING' alone as a value: the file that the run writes");
        if (++*count > 1)
            return lab_wrong(r, at, "a second '@'; a run writes one file");
    }
    return true;
}

static bool read_output(const struct lab_reader *r, const struct lab_section *s, struct lab_input *in)
{
    const struct lab_line *probe = lab_find_line(s, "probe"), *option = lab_find_line(s, "option");
    const struct lab_line *first = probe ? probe : option;
    uint32_t words;
    int marks = 0;
    if (!first)
        return lab_wrong(
            r, s->title.at,
            "expected probe = NAME:key=@ or option = --OPTION @, where '@' is the file that the run writes");
    if (!count_marks(r, probe, &marks) || !count_marks(r, option, &marks))
        return false;
    if (!marks)
        return lab_wrong(r, first->value.at,
                         "nothing here names the file that the run writes: expected '@' as a value");
    in->probe = probe ? lab_plain_spec(r, probe->value, "an input's probe") : NULL;
    in->probe_line = probe ? probe->number : in->line;
    in->options = lab_words_read(r, option ? option->value : (struct lab_word){"", 0}, &words);
    return (!probe || in->probe) && in->options;
}

static bool read_input(const struct lab_reader *r, const struct lab_section *s, struct lab_input *in)
{
    const struct lab_line *arguments = lab_find_line(s, "arguments");
    uint32_t words;
    in->name = lab_copy(r, s->title);
    in->line = s->number;
    for (const char *c = s->title.at; c < lab_end(s->title); c++)
        if (!is_name_character(*c))
            return lab_wrong(r, c, "expected a name of letters, digits, '_', '-' and '.': it is referred to as @NAME");
    if (!check_keys(r, s) || !read_policies(r, s, in))
        return false;
    in->arguments = lab_words_read(r, arguments ? arguments->value : (struct lab_word){"", 0}, &words);
    return in->arguments && read_output(r, s, in);
}

/* ------------------------------------------------------------- references */

static bool check_reference(const struct lab_reader *r, const struct experiment *x, struct lab_word line,
                            const char *at)
{
    struct lab_word name = {at + 1, 0};
    while (lab_end(name) < lab_end(line) && is_name_character(*lab_end(name)))
        name.length++;
    if (!name.length)
        return lab_wrong(r, at, "expected the name of an input after '@': [input NAME]");
    if (lab_find_input(x, name.at, name.length))
        return true;
    if (!x->input_count)
        return lab_wrong(r, at, "unknown input '%.*s': there is no [input %.*s]", (int)name.length, name.at,
                         (int)name.length, name.at);
    const char **names = arena_array(r->arena, const char *, x->input_count);
    for (uint32_t i = 0; i < x->input_count; i++)
        names[i] = x->inputs[i].name;
    return lab_unknown(r, name, "input", names, x->input_count);
}

/* Where a value or an item of a list begins with '@'. */
static const char *next_mark(struct lab_word line, const char *from)
{
    for (const char *at = from; at < lab_end(line); at++)
        if (*at == '@' && at > line.at && strchr("={,", at[-1]))
            return at;
    return NULL;
}

static bool check_line(const struct lab_reader *r, const struct experiment *x, struct lab_word line, bool may)
{
    for (const char *at = line.at; (at = next_mark(line, at)); at++) {
        if (!may)
            return lab_wrong(r, at, "only parameters of policies and of probes name an input's file");
        if (!check_reference(r, x, line, at))
            return false;
    }
    return true;
}

/* A program's argument that is a known input's name: it would be taken as it is. */
static bool check_program(const struct lab_reader *r, const struct experiment *x, struct lab_word line)
{
    struct lab_word word;
    while (lab_next_word(r, &line, &word)) {
        const char *at = memchr(word.at, '@', word.length);
        if (at && (at == word.at || at[-1] == '=') && lab_find_input(x, at + 1, (size_t)(lab_end(word) - at - 1)))
            return lab_wrong(r, at, "only parameters of policies and of probes name an input's file");
    }
    return !r->error->kind;
}

static bool check_section(const struct lab_reader *r, const struct experiment *x, const struct lab_section *s)
{
    int axis = s->kind - SECTION_EXPERIMENT - 1;
    bool policies = axis >= AXIS_SCHEDULER && axis <= AXIS_DIVERGENCE;
    for (uint32_t i = 0; i < s->line_count; i++) {
        const struct lab_line *line = &s->lines[i];
        bool good = true;
        if (axis == AXIS_PROGRAM)
            good = check_program(r, x, line->value);
        else if (policies || axis == AXIS_VARIANT)
            good = check_line(r, x, line->value, policies);
        else if (s->kind == SECTION_PROBES)
            good = check_line(r, x, line->has_name ? line->name : line->value, true);
        else if (s->kind == SECTION_EXPERIMENT && lab_word_is(line->name, "probes"))
            good = check_line(r, x, line->value, true);
        if (!good)
            return false;
    }
    return true;
}

bool lab_read_inputs(const struct lab_reader *r, struct experiment *x)
{
    struct lab_input *inputs = arena_array(r->arena, struct lab_input, r->section_count);
    for (uint32_t i = 0; i < r->section_count; i++)
        if (r->sections[i].kind == SECTION_INPUT && !read_input(r, &r->sections[i], &inputs[x->input_count++]))
            return false;
    x->inputs = inputs;
    for (uint32_t i = 0; i < r->section_count; i++)
        if (!check_section(r, x, &r->sections[i]))
            return false;
    return true;
}

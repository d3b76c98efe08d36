/* Which figures and tables of a paper a text names: "CCWS, Figure 7", "DAWS, Figures 8 and 10", "DAWS, Figures 4, 6 to
 * 8", "CAWA, Figure 2 (a) and (c), as far as the text gives values", "SLP, Table 1". The paper's name is the first
 * word. "Figure" and "Table" are followed by one number, "Figures" and "Tables" by a list. A number with a dot in it
 * ("Figure 6.1") is none of these. */
#include "experiment/paper_section.h"

#include <ctype.h>
#include <string.h>

enum { MOST_ITEMS = 200, MOST_DIGITS = 4 };

static const char *past_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* "(a)", "(a) and (c)": parts of a figure, which do not change what is named. */
static const char *past_parts(const char *at)
{
    const char *next = past_blanks(at);
    while (*next == '(') {
        const char *close = strchr(next, ')');
        if (!close)
            return at;
        at = close + 1;
        next = past_blanks(at);
        if (strncmp(next, "and (", 5) == 0)
            next += 4;
        else if (strncmp(next, ", (", 3) == 0)
            next += 2;
    }
    return at;
}

/* A number, the letter at its end ("8a"), and parts in parentheses. False leaves *at where it was. */
static bool take_number(const char **at, uint32_t *number)
{
    const char *p = past_blanks(*at);
    uint32_t value = 0, digits = 0;
    for (; isdigit((unsigned char)*p) && digits <= MOST_DIGITS; p++, digits++)
        value = 10 * value + (uint32_t)(*p - '0');
    bool goes_on = *p == '.' && isdigit((unsigned char)p[1]);
    if (!digits || digits > MOST_DIGITS || !value || goes_on || *p == '%')
        return false;
    if (isalpha((unsigned char)*p) && !isalnum((unsigned char)p[1]))
        p++;
    if (isalnum((unsigned char)*p))
        return false;
    *number = value;
    *at = past_parts(p);
    return true;
}

/* What stands between two numbers of a list. *range: the second ends a range that the first begins. */
static bool take_joint(const char **at, bool *range)
{
    static const struct {
        const char *text;
        bool range;
    } joints[] = {{", and ", false}, {",", false}, {"and ", false}, {"to ", true}, {"-", true}};
    const char *p = past_blanks(*at);
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++)
        if (strncmp(p, joints[i].text, strlen(joints[i].text)) == 0) {
            *at = p + strlen(joints[i].text);
            *range = joints[i].range;
            return true;
        }
    return false;
}

bool lab_cites(const struct lab_cited *c, bool table, uint32_t number)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->items[i].table == table && c->items[i].number == number)
            return true;
    return false;
}

static void add_item(struct lab_cited *c, bool table, uint32_t number)
{
    if (c->count < MOST_ITEMS && !lab_cites(c, table, number))
        c->items[c->count++] = (struct lab_cited_item){table, number};
}

/* The numbers after "Figure" or "Figures". */
static const char *take_numbers(struct lab_cited *c, const char *at, bool table, bool several)
{
    uint32_t number, next;
    bool range;
    if (!take_number(&at, &number))
        return at;
    add_item(c, table, number);
    for (const char *p = at; several && take_joint(&p, &range) && take_number(&p, &next); number = next, at = p) {
        for (uint32_t between = number + 1; range && between < next && c->count < MOST_ITEMS; between++)
            add_item(c, table, between);
        add_item(c, table, next);
    }
    return at;
}

/* Past "Figure" and the like, or NULL where the text has another word. */
static const char *past_kind(const char *at, bool *table, bool *several)
{
    static const char *const words[] = {"Figure", "Table"};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(at, words[i], length) != 0)
            continue;
        *table = i == 1;
        *several = at[length] == 's';
        at += length + *several;
        return isspace((unsigned char)*at) ? at : NULL;
    }
    return NULL;
}

void lab_read_items(struct arena *a, const char *text, struct lab_cited *c)
{
    bool table, several;
    *c = (struct lab_cited){.paper = "", .items = arena_array(a, struct lab_cited_item, MOST_ITEMS)};
    for (const char *at = text; *at;) {
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        const char *numbers = begins ? past_kind(at, &table, &several) : NULL;
        at = numbers ? take_numbers(c, numbers, table, several) : at + 1;
    }
}

void lab_read_cited(struct arena *a, const char *source, struct lab_cited *c)
{
    if (!source) {
        *c = (struct lab_cited){.paper = ""};
        return;
    }
    lab_read_items(a, source, c);
    c->paper = arena_strndup(a, source, strcspn(source, ", \t"));
}

/* Expectations: "gto > lrr", "best swl >= 1.2 * gto", "a = b" (within 2%), "a > b > c", "at least 2: a > b". A side is
 * a label, a number times a label, or a number; a label with blanks needs no quotes, one with an operator in it
 * does. */
#include "experiment/figure_layout.h"

#include <string.h>

/* The relation at this place, or NULL. */
static const char *relation_at(const char *at, const char *end)
{
    static const char *const relations[] = {">=", "<=", ">", "<", "="};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if ((size_t)(end - at) >= strlen(relations[i]) && memcmp(at, relations[i], strlen(relations[i])) == 0)
            return relations[i];
    return NULL;
}

static const char *read_side(struct figure_side *side, struct lab_word text, const char **at)
{
    const char *star = lab_find_outside_quotes(text, "*");
    *side = (struct figure_side){1, text};
    *at = text.at;
    if (!text.length)
        return "expected a label or a number on both sides";
    if (lab_number(text, &side->factor)) {
        side->label.length = 0;
        return NULL;
    }
    if (star) {
        if (!lab_number(lab_trim(text.at, star), &side->factor))
            return "expected NUMBER * LABEL";
        side->label = lab_trim(star + 1, lab_end(text));
    }
    struct lab_word *label = &side->label;
    *at = label->at;
    if (label->length >= 2 && *label->at == '"' && lab_end(*label)[-1] == '"')
        *label = (struct lab_word){label->at + 1, label->length - 2};
    if (!label->length || memchr(label->at, '"', label->length))
        return "expected a label";
    return NULL;
}

/* "at least N:" in front, which is taken off. False: it is there and is not right. */
static bool read_at_least(struct figure_claim *c, struct lab_word *text)
{
    static const char words[] = "at least ";
    const size_t length = sizeof words - 1;
    double number;
    c->at_least = 0;
    const char *colon =
        text->length > length && memcmp(text->at, words, length) == 0 ? lab_find_outside_quotes(*text, ":") : NULL;
    if (!colon)
        return true;
    if (!lab_number(lab_trim(text->at + length, colon), &number) || number < 1 || number > 1e9 ||
        number != (uint32_t)number)
        return false;
    c->at_least = (uint32_t)number;
    *text = lab_trim(colon + 1, lab_end(*text));
    return true;
}

const char *figure_claim_read(struct figure_claim *c, struct lab_word text, const char **at)
{
    c->count = 0;
    *at = text.at;
    if (!read_at_least(c, &text))
        return "expected at least N: with a whole number from 1";
    while (true) {
        const char *sign = lab_find_outside_quotes(text, "<>="), *end = lab_end(text);
        if (c->count == CLAIM_SIDES) {
            *at = text.at;
            return "too many sides";
        }
        const char *problem = read_side(&c->sides[c->count++], lab_trim(text.at, sign ? sign : end), at);
        if (problem)
            return problem;
        if (!sign)
            break;
        const char *relation = relation_at(sign, end);
        c->relation[c->count - 1] = relation;
        text = lab_trim(sign + strlen(relation), end);
    }
    *at = text.at;
    return c->count > 1 ? NULL : "expected LABEL > LABEL (or >=, =, <, <=)";
}

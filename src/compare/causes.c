/* The rules of causes.def, applied to two runs: expressions over their counters, comparisons, sentences with places for
 * numbers. web/compare.js does the same with the same rows, and a test compares what the two say. */
#include "compare/causes.h"

#include "experiment/expression.h"
#include "results/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAUSE(group, name, carries, least, when, sentence) {group, name, carries, least, when, sentence},
const struct compare_cause compare_causes[] = {
#include "compare/causes.def"
};
const uint32_t compare_cause_count = sizeof compare_causes / sizeof *compare_causes;

#define TEXT(name, sentence) {name, sentence},
const struct compare_text compare_texts[] = {
#include "compare/causes.def"
};
const uint32_t compare_text_count = sizeof compare_texts / sizeof *compare_texts;

const double compare_least_difference = 0.01;

/* ------------------------------------------------------------- numbers */

static int part_named(const char *name)
{
    for (int i = 0; i < COMPARE_PARTS; i++)
        if (!strcmp(compare_parts[i].name, name))
            return i;
    return -1;
}

static double saved(const struct comparison *c, int part) { return c->slow->spent[part] - c->fast->spent[part]; }

/* Where few cores have work, the others are idle as long as it takes: that is no cause. Share of a run's cycles. */
static double idle_share(const struct compare_run *r)
{
    double slots = compare_value(r, "issue.slots"), idle = compare_value(r, "issue.idle");
    return slots > 0 && idle > 0 ? idle / slots : 0;
}

/* What a part carries by itself: of idle cores, what is beyond the share that the slower run has. */
static double own_saved(const struct comparison *c, int part)
{
    bool idle = !strcmp(compare_parts[part].metric, "issue.idle");
    return idle ? compare_value(c->fast, "cycles") * (idle_share(c->slow) - idle_share(c->fast)) : saved(c, part);
}

/* The part that carries most of the difference. */
static int most_part(const struct comparison *c)
{
    int most = 0;
    for (int i = 1; i < COMPARE_PARTS; i++)
        most = own_saved(c, i) > own_saved(c, most) ? i : most;
    return most;
}

/* Warps on the machine, on average: each of their cycles has one reason. */
static double resident(const struct compare_run *r)
{
    double sum = 0;
    for (uint32_t i = 0; i < result_metric_count; i++)
        if (compare_uses(i) && !strncmp(result_metrics[i].name, "stalls.", 7) && !isnan(r->values[i]))
            sum += r->values[i];
    return sum / compare_value(r, "cycles");
}

/* "fast.l1d.misses", "slow.spent.memory", "saved.memory", "difference", "most". *known: there is such a name. */
static double value_named(const struct comparison *c, const char *name, bool *known)
{
    const char *dot = strchr(name, '.'), *rest = dot ? dot + 1 : "";
    bool fast = !strncmp(name, "fast.", 5), slow = !strncmp(name, "slow.", 5);
    const struct compare_run *run = fast ? c->fast : c->slow;
    *known = true;
    if (!strcmp(name, "difference"))
        return c->difference;
    if (!strcmp(name, "differs.scheduler") || !strcmp(name, "differs.machine"))
        return rest[0] == 's' ? c->other_scheduler : c->other_machine;
    if (!strcmp(name, "most"))
        return own_saved(c, most_part(c));
    if ((fast || slow) && !strcmp(rest, "resident"))
        return resident(run);
    int part = part_named(!strncmp(name, "saved.", 6) ? rest : !strncmp(rest, "spent.", 6) ? rest + 6 : "");
    if (part >= 0)
        return fast || slow ? run->spent[part] : saved(c, part);
    int64_t metric = compare_metric(rest);
    *known = (fast || slow) && metric >= 0;
    return *known ? run->values[metric] : NAN;
}

/* NAN where a number is not there; *wrong: where the text is no expression or names what cannot be there. */
static double evaluate(struct arena *a, const struct comparison *c, const char *text, size_t length, const char **wrong)
{
    struct error e = {0};
    const char *copy = arena_strndup(a, text, length), *const * names;
    struct source source = {"causes.def", copy, length};
    struct expression *x = expression_parse(a, copy, &source, 1, 1, &e);
    if (!x) {
        *wrong = arena_printf(a, "%s", e.text);
        return NAN;
    }
    uint32_t count = expression_names(x, &names);
    double *values = arena_array(a, double, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        bool known;
        values[i] = value_named(c, names[i], &known);
        if (!known)
            *wrong = arena_printf(a, "no number '%s'", names[i]);
    }
    return expression_value(x, values);
}

/* ------------------------------------------------------------- conditions */

static bool holds(struct arena *a, const struct comparison *c, const char *when, const char **wrong)
{
    bool all = true;
    while (*when) {
        size_t length = strcspn(when, ";"), middle = strcspn(when, "<>");
        if (middle >= length) {
            *wrong = arena_printf(a, "no < or > in '%.*s'", (int)length, when);
            return false;
        }
        double left = evaluate(a, c, when, middle, wrong),
               right = evaluate(a, c, when + middle + 1, length - middle - 1, wrong);
        all = all && (when[middle] == '<' ? left < right : left > right); /* false where one is NAN */
        when += length;
        when += strspn(when, "; ");
    }
    return all;
}

/* ------------------------------------------------------------- sentences */

static const char *grouped(struct arena *a, double value)
{
    char digits[40];
    const char *out = "";
    int length = snprintf(digits, sizeof digits, "%.0f", floor(value + 0.5));
    for (int i = 0; i < length; i++)
        out = arena_printf(a, "%s%s%c", out, i && digits[i - 1] != '-' && (length - i) % 3 == 0 ? "," : "", digits[i]);
    return out;
}

/* With so many digits after the point. */
static const char *decimal(struct arena *a, double value, int digits)
{
    long long scale = digits == 1 ? 10 : 100, scaled = (long long)floor(fabs(value) * (double)scale + 0.5);
    return arena_printf(a, "%s%lld.%0*lld", value < 0 ? "-" : "", scaled / scale, digits, scaled % scale);
}

/* Nearly all is not all, and nearly nothing has a digit after the point. */
static const char *percent(struct arena *a, double share)
{
    double whole = floor(fabs(share) * 100 + 0.5);
    if (share != 0 && fabs(share) < 0.0005)
        return "under 0.1%";
    if (fabs(share) < 0.0995)
        return arena_printf(a, "%s%%", decimal(a, share * 100, 1));
    if (whole == 100 && fabs(share) < 1)
        whole = 99;
    return arena_printf(a, "%s%.0f%%", share < 0 ? "-" : "", whole);
}

static const char *formatted(struct arena *a, double value, const char *format)
{
    if (isnan(value))
        return "?";
    switch (*format) {
    case '%': return percent(a, value);
    case 'n': return grouped(a, value);
    default: return decimal(a, value, *format - '0');
    }
}

static const char *word_of(const struct compare_run *r, const char *name, size_t length)
{
    return length == 7 && !memcmp(name, "program", 7)     ? r->program
           : length == 9 && !memcmp(name, "arguments", 9) ? r->arguments
                                                          : NULL;
}

static const char *place(struct arena *a, const struct comparison *c, const char *text, size_t length,
                         const char **wrong)
{
    const char *colon = memchr(text, ':', length);
    if (length == 4 && !memcmp(text, "fast", 4))
        return c->fast->label;
    if (length == 4 && !memcmp(text, "slow", 4))
        return c->slow->label;
    if (length == 4 && !memcmp(text, "part", 4))
        return compare_parts[most_part(c)].title;
    const char *word = length > 2 && text[1] == '.' ? word_of(*text == 'a' ? c->a : c->b, text + 2, length - 2) : NULL;
    if (word)
        return word;
    if (!colon || colon + 2 != text + length || !strchr("%n12", colon[1])) {
        *wrong = arena_printf(a, "{%.*s} has no format", (int)length, text);
        return "?";
    }
    return formatted(a, evaluate(a, c, text, (size_t)(colon - text), wrong), colon + 1);
}

static const char *fill(struct arena *a, const struct comparison *c, const char *sentence, const char **wrong)
{
    const char *out = "", *open, *close;
    while ((open = strchr(sentence, '{')) && (close = strchr(open, '}'))) {
        out = arena_printf(a, "%s%.*s%s", out, (int)(open - sentence), sentence,
                           place(a, c, open + 1, (size_t)(close - open - 1), wrong));
        sentence = close + 1;
    }
    return arena_printf(a, "%s%s", out, sentence);
}

const char *compare_check_cause(struct arena *a, const struct compare_cause *cause)
{
    struct compare_run run = {.label = "x", .values = arena_array(a, double, result_metric_count)};
    const char *wrong = NULL;
    struct comparison c = {.a = &run, .b = &run, .fast = &run, .slow = &run};
    (void)evaluate(a, &c, cause->carries, strlen(cause->carries), &wrong);
    (void)holds(a, &c, cause->when, &wrong);
    (void)fill(a, &c, cause->sentence, &wrong);
    return wrong;
}

/* ------------------------------------------------------------- which ones speak */

const char *compare_text(struct arena *a, const struct comparison *c, const char *name)
{
    const char *wrong = NULL;
    for (uint32_t i = 0; i < compare_text_count; i++)
        if (!strcmp(compare_texts[i].name, name))
            return fill(a, c, compare_texts[i].sentence, &wrong);
    return "";
}

static void say(struct arena *a, struct comparison *c, const char *name)
{
    c->sentences[c->sentence_count++] = (struct compare_sentence){"", compare_text(a, c, name), 0};
}

static bool speaks(struct arena *a, const struct comparison *c, const struct compare_cause *cause, double *cycles)
{
    const char *wrong = NULL;
    double least = cause->least * c->difference * (1 - idle_share(c->slow));
    *cycles = evaluate(a, c, cause->carries, strlen(cause->carries), &wrong);
    return *cycles >= least && holds(a, c, cause->when, &wrong) && !wrong;
}

/* Of those that hold, the ones that carry most; of equals the earlier row. */
static void add_cause(struct arena *a, struct comparison *c, const struct compare_cause *cause, double cycles,
                      uint32_t first)
{
    uint32_t at = c->sentence_count;
    const char *wrong = NULL;
    while (at > first && c->sentences[at - 1].cycles < cycles)
        at--;
    if (at >= first + COMPARE_MOST_CAUSES)
        return;
    if (c->sentence_count == first + COMPARE_MOST_CAUSES)
        c->sentence_count--;
    memmove(&c->sentences[at + 1], &c->sentences[at], (c->sentence_count - at) * sizeof *c->sentences);
    c->sentences[at] = (struct compare_sentence){cause->name, fill(a, c, cause->sentence, &wrong), cycles};
    c->sentence_count++;
}

void compare_explain(struct arena *a, struct comparison *c)
{
    const char *group = "";
    double cycles;
    if (c->same || c->difference <= 0) {
        say(a, c, c->same ? "same" : "equal");
        return;
    }
    say(a, c, "lead");
    if (c->difference < compare_least_difference * compare_value(c->slow, "cycles")) {
        say(a, c, "little");
        return;
    }
    uint32_t first = c->sentence_count;
    for (uint32_t i = 0; i < compare_cause_count; i++) {
        if (!strcmp(compare_causes[i].group, "last") && c->sentence_count > first)
            break; /* they are the last rows, too */
        if (strcmp(group, compare_causes[i].group) && speaks(a, c, &compare_causes[i], &cycles)) {
            group = compare_causes[i].group; /* rows of a group follow each other */
            add_cause(a, c, &compare_causes[i], cycles, first);
        }
    }
    if (c->sentence_count == first)
        say(a, c, "unclear");
}

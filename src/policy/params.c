/* Parameters of a policy: `:key=value,key=value` after its name, defaults for the rest, and the spec written out
 * with all of them. */
#include "policy/choose.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value as it is written, and its place. */
struct written {
    const struct source *source;
    int column; /* of the value; 0 means a default, which has no place in the spec */
    const char *text;
};

static const char *const flag_words[] = {"off", "on", "false", "true", "no", "yes", "0", "1"};
enum { FLAG_WORDS = sizeof flag_words / sizeof *flag_words };

static bool wrong_value(const struct heddle_param *p, const struct written *w, struct error *e, const char *expected)
{
    if (w->column)
        return error_at(e, ERROR_INVALID, w->source, 1, w->column, "%s for '%s' was expected, not '%s'", expected,
                        p->name, w->text);
    return error_at(e, ERROR_INVALID, w->source, 1, 1, "the declared default '%s' of parameter '%s' is not %s", w->text,
                    p->name, expected);
}

static bool in_bounds(const struct heddle_param *p, double value)
{
    return (p->least == 0 && p->most == 0) || (value >= p->least && value <= p->most);
}

static bool out_of_bounds(const struct heddle_param *p, const struct written *w, struct error *e)
{
    char expected[96];
    snprintf(expected, sizeof expected, "a number from %g to %g", p->least, p->most);
    return wrong_value(p, w, e, expected);
}

static bool read_choice(union heddle_value *value, const struct heddle_param *p, const struct written *w,
                        struct error *e)
{
    char expected[256] = "one of";
    size_t count = 0;
    for (; p->choices && p->choices[count]; count++) {
        if (!strcmp(p->choices[count], w->text)) {
            value->integer = (int64_t)count;
            return true;
        }
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s %s", count ? "," : "", p->choices[count]);
    }
    wrong_value(p, w, e, expected);
    const char *near = nearest_name(w->text, p->choices, count);
    if (near)
        error_note(e, "did you mean '%s'?", near);
    return false;
}

static bool read_flag(union heddle_value *value, const struct heddle_param *p, const struct written *w, struct error *e)
{
    for (int i = 0; i < FLAG_WORDS; i++)
        if (!strcmp(flag_words[i], w->text)) {
            value->integer = i & 1;
            return true;
        }
    return wrong_value(p, w, e, "on or off");
}

static bool read_integer(union heddle_value *value, const struct heddle_param *p, const struct written *w,
                         struct error *e)
{
    char *end;
    errno = 0;
    long long number = strtoll(w->text, &end, 0);
    if (end == w->text || *end || errno)
        return wrong_value(p, w, e, "a whole number");
    if (!in_bounds(p, (double)number))
        return out_of_bounds(p, w, e);
    value->integer = number;
    return true;
}

static bool read_real(union heddle_value *value, const struct heddle_param *p, const struct written *w, struct error *e)
{
    char *end;
    double number = strtod(w->text, &end);
    if (end == w->text || *end || !isfinite(number))
        return wrong_value(p, w, e, "a number");
    if (!in_bounds(p, number))
        return out_of_bounds(p, w, e);
    value->real = number;
    return true;
}

/* A value of type text points into choice->texts, or into the policy's own table. */
static bool read_value(union heddle_value *value, const struct heddle_param *p, const struct written *w,
                       struct error *e)
{
    switch (p->type) {
    case HEDDLE_INTEGER: return read_integer(value, p, w, e);
    case HEDDLE_REAL: return read_real(value, p, w, e);
    case HEDDLE_CHOICE: return read_choice(value, p, w, e);
    case HEDDLE_FLAG: return read_flag(value, p, w, e);
    case HEDDLE_TEXT: value->text = w->text; return true;
    }
    return error_at(e, ERROR_INVALID, w->source, 1, 1, "parameter '%s' has an unknown type %d", p->name, (int)p->type);
}

static bool read_defaults(struct policy_choice *choice, const struct source *spec, struct error *e)
{
    const struct heddle_param *params = choice->policy->params;
    for (uint32_t i = 0; i < policy_param_count(choice->policy); i++) {
        struct written w = {spec, 0, params[i].default_value ? params[i].default_value : ""};
        if (!read_value(&choice->values[i], &params[i], &w, e))
            return false;
    }
    return true;
}

/* Keys that are gone, and the keys that take their place. */
static const struct {
    const char *policy, *key, *now;
} gone[] = {
    {"two-level", "style", "Gebhart's and Narasiman's two levels are the schedulers 'gebhart' and 'narasiman'"},
};

static bool unknown_key(const struct policy_choice *choice, const struct source *spec, int column, const char *key,
                        struct error *e)
{
    const char *names[POLICY_VALUES];
    uint32_t count = policy_param_count(choice->policy);
    if (!count)
        return error_at(e, ERROR_NOT_FOUND, spec, 1, column, "%s has no parameters", choice->policy->name);
    for (uint32_t i = 0; i < count; i++)
        names[i] = choice->policy->params[i].name;
    const char *near = nearest_name(key, names, count);
    error_at(e, ERROR_NOT_FOUND, spec, 1, column, "%s has no parameter '%s'%s%s%s", choice->policy->name, key,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    char known[512] = "";
    for (uint32_t i = 0; i < count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", names[i]);
    error_note(e, "known:%s", known);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (!strcmp(choice->policy->name, gone[i].policy) && !strcmp(key, gone[i].key))
            error_note(e, "%s", gone[i].now);
    return false;
}

/* The parameters that are being read: those of one policy, or of one member of a bundle, which leaves keys that it does
 * not have to others. */
struct reading {
    const struct source *spec;
    bool of_bundle;
    uint32_t seen; /* parameters that were given, one bit per parameter */
};

/* One `key=value`, or `key` alone for a flag. The text is ours and may be cut. */
static bool read_pair(struct policy_choice *choice, struct reading *r, int column, char *pair, struct error *e)
{
    const struct source *spec = r->spec;
    const struct heddle_policy *p = choice->policy;
    char *equals = strchr(pair, '=');
    if (equals)
        *equals = '\0';
    if (!*pair)
        return error_at(e, ERROR_INVALID, spec, 1, column, "a parameter's name was expected");
    uint32_t i = 0, count = policy_param_count(p);
    while (i < count && strcmp(p->params[i].name, pair))
        i++;
    if (i == count && r->of_bundle)
        return true;
    if (i == count)
        return unknown_key(choice, spec, column, pair, e);
    if (r->seen >> i & 1)
        return error_at(e, ERROR_INVALID, spec, 1, column, "'%s' is given twice", pair);
    r->seen |= UINT32_C(1) << i;
    if (!equals && p->params[i].type != HEDDLE_FLAG)
        return error_at(e, ERROR_INVALID, spec, 1, column + (int)strlen(pair), "'=' and a value for '%s' were expected",
                        pair);
    struct written w = {spec, equals ? column + (int)(equals + 1 - pair) : column, equals ? equals + 1 : "on"};
    return read_value(&choice->values[i], &p->params[i], &w, e);
}

static bool read_pairs(struct policy_choice *choice, struct reading *r, size_t length, struct error *e)
{
    const struct source *spec = r->spec;
    if (!spec->text[length])
        return true;
    free(choice->texts); /* the texts of a bundle's own table, which the written ones replace */
    choice->texts = strdup(spec->text);
    if (!choice->texts)
        return error_set(e, ERROR_NO_MEMORY, "no memory for a policy's parameters");
    char *next = choice->texts + length + 1;
    do {
        char *pair = next, *comma = strchr(pair, ',');
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = '\0';
        if (!read_pair(choice, r, (int)(pair - choice->texts) + 1, pair, e))
            return false;
    } while (next);
    return true;
}

/* The shorter of two spellings that read back as the same number. */
static void write_real(char *out, size_t size, double value)
{
    snprintf(out, size, "%.15g", value);
    if (strtod(out, NULL) != value)
        snprintf(out, size, "%.17g", value);
}

static bool write_spec(struct policy_choice *choice, const struct source *spec, struct error *e)
{
    const struct heddle_param *params = choice->policy->params;
    size_t used = (size_t)snprintf(choice->spec, sizeof choice->spec, "%s", choice->policy->name);
    for (uint32_t i = 0; i < policy_param_count(choice->policy) && used < sizeof choice->spec; i++) {
        const union heddle_value *v = &choice->values[i];
        char number[64];
        const char *text = number;
        switch (params[i].type) {
        case HEDDLE_INTEGER: snprintf(number, sizeof number, "%lld", (long long)v->integer); break;
        case HEDDLE_REAL: write_real(number, sizeof number, v->real); break;
        case HEDDLE_CHOICE: text = params[i].choices[v->integer]; break;
        case HEDDLE_FLAG: text = flag_words[v->integer]; break;
        case HEDDLE_TEXT: text = v->text; break;
        }
        used += (size_t)snprintf(choice->spec + used, sizeof choice->spec - used, "%c%s=%s", i ? ',' : ':',
                                 params[i].name, text);
    }
    if (used >= sizeof choice->spec)
        return error_at(e, ERROR_INVALID, spec, 1, 1, "with all its parameters this is longer than %zu characters",
                        sizeof choice->spec - 1);
    return true;
}

static bool read_params(struct policy_choice *choice, struct reading *r, size_t length, struct error *e)
{
    /* The host's program may have set a locale with decimal commas. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    bool good = read_defaults(choice, r->spec, e) && read_pairs(choice, r, length, e) && write_spec(choice, r->spec, e);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return good;
}

bool policy_read_params(struct policy_choice *choice, const struct source *spec, size_t length, struct error *e)
{
    return read_params(choice, &(struct reading){.spec = spec}, length, e);
}

bool policy_read_params_of_bundle(struct policy_choice *choice, const struct source *spec, size_t length,
                                  struct error *e)
{
    return read_params(choice, &(struct reading){.spec = spec, .of_bundle = true}, length, e);
}

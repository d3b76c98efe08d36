/* The importer of GPGPU-Sim's configurations: from the value of an option to keys and rules of a machine, and what
 * there is to say about it. */
#include "gpu/import.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void import_remark(struct import *i, const char *format, ...)
{
    va_list args;
    if (i->quiet)
        return;
    va_start(args, format);
    vfprintf(i->remarks, format, args);
    va_end(args);
    fputc('\n', i->remarks);
}

bool import_wrong(struct import *i, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_at(i->error, ERROR_SYNTAX, i->source, i->value_line, i->value_column, "-%s %.80s: %s", i->option,
                    i->value, message);
}

void import_set_text(struct import *i, const char *section, const char *name, const char *text)
{
    struct machine_complaint why;
    char kept[128];
    for (uint32_t k = 0; k < machine_key_count; k++) {
        const struct machine_key *key = &machine_keys[k];
        if (strcmp(key->section, section) != 0 || strcmp(key->name, name) != 0)
            continue;
        if (machine_parse(&i->machine, key, text, strlen(text), &why)) {
            i->places[k] = (struct machine_place){i->source, i->value_line, i->value_column, ++i->order, MACHINE_FILE};
            return;
        }
        machine_format(&i->machine, key, kept, sizeof kept);
        import_remark(i, "not carried over: -%s %s: %s.%s = %.60s: %s; it stays %s", i->option, i->value, section, name,
                      text, why.expected, kept);
        return;
    }
}

void import_set_cache_rule(struct import *i, const char *cache, const char *name, const char *text)
{
    char rule[64];
    snprintf(rule, sizeof rule, "%s_%s", cache, name);
    import_set_text(i, "rules", rule, text);
}

void import_set_number(struct import *i, const char *section, const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    import_set_text(i, section, name, text);
}

bool import_parse_whole(const char *text, uint64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && *value <= UINT32_MAX;
}

uint32_t import_split(char *text, char at, char *parts[PARTS_MOST])
{
    uint32_t count = 0;
    for (char *next = text; next && count < PARTS_MOST;) {
        parts[count++] = next;
        next = strchr(next, at);
        if (next)
            *next++ = '\0';
    }
    return count;
}

bool import_parse_numbers(struct import *i, char at, uint64_t *out, uint32_t least, uint32_t most, uint32_t *count)
{
    char copy[VALUE_BYTES], *parts[PARTS_MOST];
    memcpy(copy, i->value, sizeof copy);
    *count = import_split(copy, at, parts);
    if (*count < least || *count > most)
        return import_wrong(i, "expected %u%s numbers with '%c' between them", least, most > least ? " or more" : "",
                            at);
    for (uint32_t n = 0; n < *count; n++)
        if (!import_parse_whole(parts[n], &out[n]))
            return import_wrong(i, "'%.40s' is no whole number", parts[n]);
    return true;
}

void import_split_target(const char *target, char section[32], const char **name)
{
    const char *dot = strchr(target, '.');
    snprintf(section, 32, "%.*s", (int)(dot - target), target);
    *name = dot + 1;
}

bool import_take_number(struct import *i, const char *target)
{
    char section[32];
    const char *name;
    uint64_t value;
    import_split_target(target, section, &name);
    if (!import_parse_whole(i->value, &value))
        return import_wrong(i, "expected a whole number");
    import_set_number(i, section, name, value);
    return true;
}

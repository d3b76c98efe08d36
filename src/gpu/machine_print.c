/* A machine written as a file again, and the tables of keys and rules for people and for docs/machine-files.md. */
#include "gpu/machine_key.h"

#include <string.h>

void machine_print(const struct machine *m, FILE *to)
{
    fprintf(to, "; %s, every key resolved.\n", m->name);
    for (uint32_t i = 0; i < machine_key_count; i++) {
        const struct machine_key *key = &machine_keys[i];
        char value[128], setting[256];
        if (!i || strcmp(key->section, machine_keys[i - 1].section) != 0)
            fprintf(to, "\n[%s]\n", key->section);
        machine_format(m, key, value, sizeof value);
        snprintf(setting, sizeof setting, "%s = %s", key->name, value);
        fprintf(to, "%-44s ; %s%s%s%s\n", setting, key->help, *key->unit ? " [" : "", key->unit, *key->unit ? "]" : "");
    }
}

/* The values that a key may have. */
static void print_range(const struct machine_key *key, FILE *to)
{
    const char *const *choices = machine_choices(key->type);
    for (int i = 0; choices && choices[i]; i++)
        fprintf(to, "%s`%s`", i ? ", " : "", choices[i]);
    switch (key->type) {
    case MACHINE_BOOL: fputs("`true`, `false`", to); break;
    case MACHINE_TEXT: fputs("text", to); break;
    case MACHINE_MHZ: fprintf(to, "0.001 to %llu", (unsigned long long)key->most / 1000); break;
    case MACHINE_LIST:
        fprintf(to, "five numbers, %llu to %llu", (unsigned long long)key->least, (unsigned long long)key->most);
        break;
    case MACHINE_U32:
    case MACHINE_U64: fprintf(to, "%llu to %llu", (unsigned long long)key->least, (unsigned long long)key->most); break;
    default: break;
    }
}

static void print_choice_help(const struct machine_key *key, FILE *to)
{
    const char *const *choices = machine_choices(key->type);
    for (int i = 0; choices && choices[i]; i++)
        if (machine_choice_help(key->type, i))
            fprintf(to, "; `%s`: %s", choices[i], machine_choice_help(key->type, i));
}

void machine_print_keys(FILE *to)
{
    fprintf(to, "## Keys\n");
    for (uint32_t i = 0; i < machine_key_count && !machine_keys[i].read; i++) {
        const struct machine_key *key = &machine_keys[i];
        if (!i || strcmp(key->section, machine_keys[i - 1].section) != 0)
            fprintf(to, "\n### [%s]\n\n| key | default | values | unit | meaning |\n|---|---|---|---|---|\n",
                    key->section);
        fprintf(to, "| `%s` | `%s` | ", key->name, key->value);
        print_range(key, to);
        fprintf(to, " | %s | %s", key->unit, key->help);
        print_choice_help(key, to);
        fprintf(to, " |\n");
    }
}

static bool is_mistake(const struct machine_key *rule, uint32_t book)
{
    return rule->mistake && !strcmp(machine_value_in(rule, book), rule->mistake);
}

static void print_rule_row(const struct machine_key *rule, FILE *to)
{
    fprintf(to, "| `%s` |", rule->name);
    for (uint32_t book = 0; book < MACHINE_BOOKS; book++)
        fprintf(to, " %s%s |", machine_value_in(rule, book), is_mistake(rule, book) ? " (!)" : "");
    fprintf(to, " %s | %s |\n", rule->help, rule->read);
}

static void print_rule_table(FILE *to)
{
    fprintf(to, "| rule |");
    for (uint32_t book = 0; book < MACHINE_BOOKS; book++)
        fprintf(to, " %s |", machine_books[book].name);
    fprintf(to, " what it decides | where it was read |\n|---|");
    for (uint32_t book = 0; book < MACHINE_BOOKS; book++)
        fprintf(to, "---|");
    fprintf(to, "---|---|\n");
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (machine_keys[i].read)
            print_rule_row(&machine_keys[i], to);
}

static void print_rule(const struct machine_key *rule, FILE *to)
{
    fprintf(to, "%s:", rule->name);
    for (uint32_t book = 0; book < MACHINE_BOOKS; book++)
        fprintf(to, "%s %s %s", book ? "," : "", machine_books[book].name, machine_value_in(rule, book));
    fprintf(to, "\n    %s\n", rule->help);
    if (rule->mistake)
        fprintf(to, "    %s: a mistake of the reference, copied\n", rule->mistake);
    fprintf(to, "    read in: %s\n", rule->read);
}

/* The values of rules that have a table of their own. */
static void print_values(FILE *to, bool markdown, const char *title, const char *const *names_and_helps)
{
    fprintf(to, markdown ? "\n| %s | what it does |\n|---|---|\n" : "\n%s:\n", title);
    for (; *names_and_helps; names_and_helps += 2)
        fprintf(to, markdown ? "| `%s` | %s |\n" : "    %s: %s\n", names_and_helps[0], names_and_helps[1]);
}

static const char *const write_rules_by_name[] = {
#define WRITE_RULE(id, name, hit, miss, down, allocating, fetching, help) name, help,
#include "heddle/write_rules.def"
    NULL};
static const char *const dram_policies_by_name[] = {
#define DRAM_POLICY(id, object, name, help) name, help,
#include "mem/dram_policies.def"
    NULL};

static const char *const core_kinds_by_name[] = {
#define CORE_KIND(name, help) #name, help,
#include "sm/core_kinds.def"
    NULL};

static void print_rule_list(FILE *to)
{
    for (uint32_t book = 0; book < MACHINE_BOOKS; book++)
        fprintf(to, "rules = %s: %s\n", machine_books[book].name, machine_books[book].whose);
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (machine_keys[i].read)
            print_rule(&machine_keys[i], to);
}

void machine_print_rules(FILE *to, bool markdown)
{
    if (markdown)
        print_rule_table(to);
    else
        print_rule_list(to);
    print_values(to, markdown, "value of `..._writes`", write_rules_by_name);
    print_values(to, markdown, "value of `dram_scheduler`", dram_policies_by_name);
    print_values(to, markdown, "value of `core_kind`", core_kinds_by_name);
}

/* The table of machine keys and rules, made of machine_keys.def and rules.def. Values are read from text and written as
 * text here. */
#include "gpu/machine_key.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(f) offsetof(struct machine, f), sizeof(((struct machine *)0)->f)
#define KEY(section, name, type, field, value, least, most, unit, help) \
    {section, name, MACHINE_##type, FIELD(field), value, least, most, unit, help, .read = NULL},
#define RULE(name, type, field, value, ...) \
    {"rules", #name, MACHINE_##type, FIELD(field), value, .unit = "", __VA_ARGS__},
#define IN(book, value) .in[BOOK_##book] = (value)
#define MISTAKE(value)  .mistake = (value)
#define DECIDES(text)   .help = (text)
#define READ(text)      .read = (text)
const struct machine_key machine_keys[] = {
#include "gpu/machine_keys.def"
#include "gpu/rules.def"
};
const uint32_t machine_key_count = sizeof machine_keys / sizeof *machine_keys;

const struct machine_book machine_books[MACHINE_BOOKS] = {
#define RULEBOOK(id, name, whose) {name, whose},
#include "gpu/rules.def"
};

const char *machine_value_in(const struct machine_key *key, uint32_t book)
{
    return key->in[book] ? key->in[book] : key->value;
}

const char *const *machine_choices(enum machine_key_type type)
{
    static const char *const multiply[] = {"sp", "sfu", NULL};
    static const char *const set_index[] = {"linear", "hashed", "multiplied", NULL};
    static const char *const writes[] = {
#define WRITE_RULE(id, name, ...) name,
#include "heddle/write_rules.def"
        NULL};
    static const char *const allocate[] = {"miss", "fill", NULL};
    static const char *const dram[] = {
#define DRAM_POLICY(id, object, name, help) name,
#include "mem/dram_policies.def"
        NULL};
    static const char *const empties[] = {"nothing", "l1d", "caches", NULL};
    static const char *const books[] = {
#define RULEBOOK(id, name, whose) name,
#include "gpu/rules.def"
        NULL};
    static const char *const networks[] = {"auto",
#define NETWORK(name, help) #name,
#include "mem/networks.def"
                                           NULL};
    static const char *const core_kinds[] = {
#define CORE_KIND(name, help) #name,
#include "sm/core_kinds.def"
        NULL};
    static const char *const *const choices[MACHINE_TYPE_COUNT] = {
        [MACHINE_MULTIPLY] = multiply, [MACHINE_INDEX] = set_index,  [MACHINE_WRITES] = writes,
        [MACHINE_ALLOCATE] = allocate, [MACHINE_DRAM] = dram,        [MACHINE_EMPTIES] = empties,
        [MACHINE_BOOK] = books,        [MACHINE_NETWORK] = networks, [MACHINE_CORE_KIND] = core_kinds,
    };
    return choices[type];
}

const char *machine_choice_help(enum machine_key_type type, int choice)
{
    static const char *const networks[] = {
        NULL,
#define NETWORK(name, help) help,
#include "mem/networks.def"
    };
    return type == MACHINE_NETWORK ? networks[choice] : NULL;
}

static void format_khz(uint64_t khz, char *out, size_t size)
{
    int n = snprintf(out, size, "%llu.%03u", (unsigned long long)(khz / 1000), (unsigned)(khz % 1000));
    while (n > 0 && out[n - 1] == '0')
        out[--n] = '\0';
    if (n > 0 && out[n - 1] == '.')
        out[n - 1] = '\0';
}

void machine_format(const struct machine *m, const struct machine_key *key, char *out, size_t size)
{
    const void *field = (const char *)m + key->offset;
    const uint32_t *list = field;
    switch (key->type) {
    case MACHINE_U32: snprintf(out, size, "%u", *(const uint32_t *)field); break;
    case MACHINE_U64: snprintf(out, size, "%llu", (unsigned long long)*(const uint64_t *)field); break;
    case MACHINE_MHZ: format_khz(*(const uint64_t *)field, out, size); break;
    case MACHINE_BOOL: snprintf(out, size, "%s", *(const bool *)field ? "true" : "false"); break;
    case MACHINE_TEXT: snprintf(out, size, "%s", (const char *)field); break;
    case MACHINE_LIST: snprintf(out, size, "%u,%u,%u,%u,%u", list[0], list[1], list[2], list[3], list[4]); break;
    default: snprintf(out, size, "%s", machine_choices(key->type)[*(const int *)field]); break;
    }
}

static uint64_t scale_of(char letter)
{
    switch (toupper((unsigned char)letter)) {
    case 'K': return 1 << 10;
    case 'M': return 1 << 20;
    case 'G': return 1 << 30;
    default: return 0;
    }
}

/* The value of a digit up to f; 16 means that it is none. */
static unsigned digit_of(int c)
{
    if (isdigit(c))
        return (unsigned)(c - '0');
    c = tolower(c);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Reads a whole number with an optional K, M or G (powers of 1024); it is decimal, or hexadecimal after 0x. */
static bool parse_number(const char *text, size_t length, uint64_t *value)
{
    bool is_hexadecimal = length > 2 && text[0] == '0' && tolower((unsigned char)text[1]) == 'x';
    unsigned base = is_hexadecimal ? 16 : 10;
    size_t i = is_hexadecimal ? 2 : 0;
    uint64_t scale = is_hexadecimal || length < 2 ? 0 : scale_of(text[length - 1]);
    if (scale)
        length--;
    if (i >= length)
        return false;
    *value = 0;
    for (; i < length; i++) {
        unsigned digit = digit_of((unsigned char)text[i]);
        if (digit >= base || __builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return !scale || !__builtin_mul_overflow(*value, scale, value);
}

static bool expected(struct machine_complaint *why, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool expected(struct machine_complaint *why, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->expected, sizeof why->expected, format, args);
    va_end(args);
    why->at = at;
    return false;
}

static bool parse_in_range(const struct machine_key *key, const char *text, size_t length, uint64_t *value,
                           struct machine_complaint *why)
{
    if (parse_number(text, length, value) && *value >= key->least && *value <= key->most)
        return true;
    return expected(why, text, "expected a whole number from %llu to %llu%s", (unsigned long long)key->least,
                    (unsigned long long)key->most, key->most > 1024 ? " (K, M, G allowed)" : "");
}

/* Reads megahertz, with at most three decimals, as kilohertz. */
static bool parse_khz(const struct machine_key *key, const char *text, size_t length, uint64_t *khz,
                      struct machine_complaint *why)
{
    const char *point = memchr(text, '.', length);
    size_t whole = point ? (size_t)(point - text) : length, decimals = point ? length - whole - 1 : 0;
    uint64_t mhz = 0, rest = 0;
    bool good = whole && isdigit((unsigned char)text[0]) && parse_number(text, whole, &mhz) && mhz <= key->most / 1000;
    for (size_t i = 0; good && i < decimals; i++) {
        char c = point[1 + i];
        good = isdigit((unsigned char)c) && (i < 3 || c == '0');
        if (i < 3)
            rest = rest * 10 + (uint64_t)(c - '0');
    }
    for (size_t i = decimals; i < 3; i++)
        rest *= 10;
    *khz = mhz * 1000 + rest;
    if (good && *khz >= key->least && *khz <= key->most)
        return true;
    return expected(why, text, "expected a clock in MHz from 0.001 to %llu, with at most three decimals",
                    (unsigned long long)key->most / 1000);
}

static bool same_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncmp(word, text, length) == 0;
}

static bool parse_bool(bool *value, const char *text, size_t length, struct machine_complaint *why)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"false", false}, {"true", true}, {"no", false},  {"yes", true},
                 {"0", false},     {"1", true},    {"off", false}, {"on", true}};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (same_word(words[i].word, text, length)) {
            *value = words[i].value;
            return true;
        }
    return expected(why, text, "expected true or false");
}

static bool parse_list(const struct machine_key *key, uint32_t *out, const char *text, size_t length,
                       struct machine_complaint *why)
{
    const char *end = text + length;
    uint32_t values[MACHINE_LIST_LENGTH];
    for (unsigned i = 0; i < MACHINE_LIST_LENGTH; i++) {
        const char *comma = text <= end ? memchr(text, ',', (size_t)(end - text)) : NULL;
        const char *stop = comma ? comma : end;
        uint64_t value;
        if (text > end || (i + 1 == MACHINE_LIST_LENGTH && comma))
            return expected(why, text > end ? end : comma, "expected five numbers: add, max, mul, mad, div");
        while (text < stop && isspace((unsigned char)*text))
            text++;
        size_t n = (size_t)(stop - text);
        while (n && isspace((unsigned char)text[n - 1]))
            n--;
        if (!parse_in_range(key, text, n, &value, why))
            return expected(why, text, "expected five whole numbers from %llu to %llu: add, max, mul, mad, div",
                            (unsigned long long)key->least, (unsigned long long)key->most);
        values[i] = (uint32_t)value;
        text = stop + 1;
    }
    memcpy(out, values, sizeof values);
    return true;
}

static bool parse_text(const struct machine_key *key, char *out, const char *text, size_t length,
                       struct machine_complaint *why)
{
    bool printable = true;
    for (size_t i = 0; i < length; i++)
        printable &= text[i] > ' ' && text[i] < 127;
    if (!printable || length < key->least || length > key->most || length >= key->bytes)
        return expected(why, text, "expected %llu to %llu characters without spaces", (unsigned long long)key->least,
                        (unsigned long long)key->most);
    memset(out, 0, key->bytes);
    memcpy(out, text, length);
    return true;
}

static bool parse_choice(int *value, const char *const *names, const char *text, size_t length,
                         struct machine_complaint *why)
{
    char list[128] = "";
    for (int i = 0; names[i]; i++) {
        if (same_word(names[i], text, length)) {
            *value = i;
            return true;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? names[i + 1] ? ", " : " or " : "",
                 names[i]);
    }
    return expected(why, text, "expected %s", list);
}

bool machine_parse(struct machine *m, const struct machine_key *key, const char *text, size_t length,
                   struct machine_complaint *why)
{
    void *field = (char *)m + key->offset;
    uint64_t number;
    switch (key->type) {
    case MACHINE_U32:
        if (!parse_in_range(key, text, length, &number, why))
            return false;
        *(uint32_t *)field = (uint32_t)number;
        return true;
    case MACHINE_U64: return parse_in_range(key, text, length, field, why);
    case MACHINE_MHZ: return parse_khz(key, text, length, field, why);
    case MACHINE_BOOL: return parse_bool(field, text, length, why);
    case MACHINE_TEXT: return parse_text(key, field, text, length, why);
    case MACHINE_LIST: return parse_list(key, field, text, length, why);
    default: return parse_choice(field, machine_choices(key->type), text, length, why);
    }
}

void machine_follow(struct machine *m, const struct machine_key *rule)
{
    struct machine_complaint why;
    const char *value = machine_value_in(rule, m->rulebook);
    machine_parse(m, rule, value, strlen(value), &why);
}

void machine_set_defaults(struct machine *m)
{
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < machine_key_count; i++)
        machine_follow(m, &machine_keys[i]); /* the rulebook comes first, rules last */
    /* These are no keys because they cannot be otherwise. */
    struct cache_config *const read_only[] = {&m->sm.l1c, &m->sm.l1t, &m->sm.l1i};
    for (unsigned i = 0; i < sizeof read_only / sizeof *read_only; i++) {
        read_only[i]->global_writes = read_only[i]->local_writes = WRITE_READ_ONLY;
        read_only[i]->banks = 1;
    }
    m->mem.l2.cache.banks = 1;
}

enum { LARGEST_FILE_BYTES = 1 << 20 };

bool machine_read_text(const char *path, const char *what, struct source *s, struct error *e)
{
    char *text = NULL, buffer[4096];
    size_t size = 0;
    FILE *f = fopen(path, "rb"), *copy = f ? open_memstream(&text, &size) : NULL;
    if (!f)
        return error_set(e, ERROR_NOT_FOUND, "%s %s: %s", what, path, strerror(errno));
    size_t total = 0;
    for (size_t n; copy && total <= LARGEST_FILE_BYTES && (n = fread(buffer, 1, sizeof buffer, f)) > 0; total += n)
        fwrite(buffer, 1, n, copy);
    int trouble = ferror(f) ? errno : 0;
    fclose(f);
    if (copy)
        fclose(copy);
    *s = (struct source){path, text, size};
    if (trouble)
        return error_set(e, ERROR_IO, "%s %s: %s", what, path, strerror(trouble));
    if (total > LARGEST_FILE_BYTES)
        return error_set(e, ERROR_SYNTAX, "%s is no %s: it has more than %d bytes", path, what, LARGEST_FILE_BYTES);
    return text || error_set(e, ERROR_NO_MEMORY, "%s %s: out of memory", what, path);
}

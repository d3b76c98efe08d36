/* Machine files (machines/NAME.ini): found, read key by key over the defaults of machine_keys.def, changed by --set,
 * checked, and printed again.
 *
 * The format: [section] lines, key = value lines, comments from ';' or '#' at the start of a line or behind a space.
 * Every value keeps the place it came from, so that a message can show the line with a caret, whether one value is
 * wrong or two do not fit together. */
#include "gpu/machine.h"
#include "gpu/machine_key.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTION_MOST = 32, KEY_MOST = 256, FOLDER_BYTES = PATH_MAX + 64, PATH_BYTES = FOLDER_BYTES + 128 };

struct reading {
    struct machine *machine;
    struct error *error;
    const struct source *source;
    int line;
    const char *line_text; /* start of the line, for columns */
    uint32_t order;        /* of values given so far */
    struct machine_place places[KEY_MOST];
};

struct word {
    const char *at;
    size_t length;
};

static struct word trim(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    return (struct word){at, (size_t)(end - at)};
}

static bool word_is(struct word w, const char *text)
{
    return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0;
}

/* As text with an end, cut where a message would be too long anyway. */
static const char *word_text(struct word w, char out[64])
{
    snprintf(out, 64, "%.*s", (int)(w.length > 60 ? 60 : w.length), w.at);
    return out;
}

static bool wrong(struct reading *r, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool wrong(struct reading *r, const char *at, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_at(r->error, ERROR_SYNTAX, r->source, r->line, (int)(at - r->line_text) + 1, "%s", message);
}

static uint32_t section_names(const char *names[SECTION_MOST])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (!i || strcmp(machine_keys[i].section, machine_keys[i - 1].section) != 0)
            names[count++] = machine_keys[i].section;
    return count;
}

/* The section's name out of the table, or NULL with an error. */
static const char *find_section(struct reading *r, struct word name)
{
    const char *names[SECTION_MOST];
    char text[64];
    uint32_t count = section_names(names);
    for (uint32_t i = 0; i < count; i++)
        if (word_is(name, names[i]))
            return names[i];
    const char *near = nearest_name(word_text(name, text), names, count);
    if (near)
        wrong(r, name.at, "unknown section [%s]; did you mean [%s]?", text, near);
    else
        wrong(r, name.at, "unknown section [%s] (heddle list machines --keys lists them)", text);
    return NULL;
}

/* Sections that have a key of this name, for one that was put into the wrong one. */
static const char *section_with(struct word name)
{
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (word_is(name, machine_keys[i].name))
            return machine_keys[i].section;
    return NULL;
}

static const struct machine_key *find_key(struct reading *r, const char *section, struct word name)
{
    const char *names[KEY_MOST];
    uint32_t count = 0;
    char text[64];
    for (uint32_t i = 0; i < machine_key_count; i++) {
        if (strcmp(machine_keys[i].section, section) != 0)
            continue;
        if (word_is(name, machine_keys[i].name))
            return &machine_keys[i];
        names[count++] = machine_keys[i].name;
    }
    const char *elsewhere = section_with(name), *near = nearest_name(word_text(name, text), names, count);
    if (elsewhere)
        wrong(r, name.at, "unknown key %s in [%s]; there is one in [%s]", text, section, elsewhere);
    else if (near)
        wrong(r, name.at, "unknown key %s in [%s]; did you mean %s?", text, section, near);
    else
        wrong(r, name.at, "unknown key %s in [%s] (heddle list machines --keys lists them)", text, section);
    return NULL;
}

static bool read_value(struct reading *r, const struct machine_key *key, struct word name, struct word value)
{
    struct machine_complaint why;
    char text[64];
    struct machine_place *place = &r->places[key - machine_keys];
    if (place->line && place->source == r->source)
        return wrong(r, name.at, "%s.%s is given twice; first on line %d", key->section, key->name, place->line);
    if (!machine_parse(r->machine, key, value.at, value.length, &why)) {
        wrong(r, why.at, "%s.%s = %s: %s", key->section, key->name, word_text(value, text), why.expected);
        error_note(r->error, "  %s.%s: %s; default %s", key->section, key->name, key->help, key->default_value);
        return false;
    }
    *place = (struct machine_place){r->source, r->line, (int)(value.at - r->line_text) + 1, ++r->order};
    return true;
}

/* Where the comment of a line begins, or its end. */
static const char *before_comment(const char *at, const char *end)
{
    for (const char *p = at; p < end; p++)
        if ((*p == ';' || *p == '#') && (p == at || isspace((unsigned char)p[-1])))
            return p;
    return end;
}

static bool read_section_line(struct reading *r, struct word line, const char **section)
{
    if (line.at[line.length - 1] != ']')
        return wrong(r, line.at + line.length, "expected ']' at the end of the section's name");
    *section = find_section(r, trim(line.at + 1, line.at + line.length - 1));
    return *section != NULL;
}

static bool read_line(struct reading *r, const char *end, const char **section)
{
    struct word line = trim(r->line_text, before_comment(r->line_text, end));
    char text[64];
    if (!line.length)
        return true;
    if (*line.at == '[')
        return read_section_line(r, line, section);
    const char *equals = memchr(line.at, '=', line.length);
    if (!equals)
        return wrong(r, line.at, "expected key = value, [section] or a comment");
    struct word name = trim(line.at, equals), value = trim(equals + 1, line.at + line.length);
    if (!*section)
        return wrong(r, line.at, "expected a [section] before the first key");
    const struct machine_key *key = find_key(r, *section, name);
    if (!key)
        return false;
    if (!value.length)
        return wrong(r, equals + 1, "expected a value of %s.%s", key->section, word_text(name, text));
    return read_value(r, key, name, value);
}

static bool read_lines(struct reading *r)
{
    const char *at = r->source->text, *end = at + r->source->size_bytes, *section = NULL;
    if (r->source->size_bytes >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3; /* the mark that some editors put in front of UTF-8 */
    for (r->line = 1; at < end; r->line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        r->line_text = at;
        if (!read_line(r, line_end, &section))
            return false;
        at = line_end + 1;
    }
    return true;
}

static bool read_override(struct reading *r)
{
    const char *text = r->source->text, *end = text + r->source->size_bytes;
    const char *equals = memchr(text, '=', r->source->size_bytes);
    const char *dot = equals ? memchr(text, '.', (size_t)(equals - text)) : NULL;
    r->line = 1;
    r->line_text = text;
    if (!dot)
        return wrong(r, text, "expected section.key=value");
    const char *section = find_section(r, trim(text, dot));
    const struct machine_key *key = section ? find_key(r, section, trim(dot + 1, equals)) : NULL;
    return key && read_value(r, key, trim(dot + 1, equals), trim(equals + 1, end));
}

/* Folders in which NAME.ini may be: $HEDDLE_MACHINES, then seen from the library or the program that holds this code,
 * in a build tree and where make install puts it. */
enum { FOLDERS_MOST = 5 };
static uint32_t find_folders(char folders[FOLDERS_MOST][FOLDER_BYTES])
{
    static const char *const places[] = {"../../machines", "../share/heddle/machines", "../../../share/heddle/machines",
                                         "../machines"};
    const char *given = getenv("HEDDLE_MACHINES");
    char base[PATH_MAX];
    Dl_info info;
    uint32_t count = 0;
    if (given && strlen(given) < PATH_MAX)
        snprintf(folders[count++], FOLDER_BYTES, "%s", given);
    if (!dladdr((void *)(uintptr_t)&machine_load, &info) || !info.dli_fname || !realpath(info.dli_fname, base))
        if (!realpath("/proc/self/exe", base))
            return count;
    char *slash = strrchr(base, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        snprintf(folders[count++], FOLDER_BYTES, "%s/%s", base, places[i]);
    return count;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 4 && strcmp(name + length - 4, ".ini") == 0);
}

/* Into near, the known machine whose name is like this one; empty where there is none. */
static void nearest_machine(const char *name, const char *folder, char near[64])
{
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && !*near && (entry = readdir(d));) {
        size_t length = strlen(entry->d_name);
        char known[64];
        const char *const one[] = {known};
        if (length < 5 || length >= sizeof known || strcmp(entry->d_name + length - 4, ".ini") != 0)
            continue;
        snprintf(known, sizeof known, "%.*s", (int)length - 4, entry->d_name);
        if (nearest_name(name, one, 1))
            snprintf(near, 64, "%s", known);
    }
    if (d)
        closedir(d);
}

/* The default machine is also inside the library, for when it is used without the folder of machines beside it. */
__asm__(".pushsection .rodata\n"
        "heddle_default_machine_text: .incbin \"machines/gtx480.ini\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char default_machine_text[] __asm__("heddle_default_machine_text") __attribute__((visibility("hidden")));
static const char default_machine[] = "gtx480";

/* The text of the machine; its source's text is to be freed, and its name is path. */
static bool find_text(const char *name, char path[PATH_BYTES], struct source *s, struct error *e)
{
    char folders[FOLDERS_MOST][FOLDER_BYTES], near[64] = "";
    if (is_path(name)) {
        snprintf(path, PATH_BYTES, "%s", name);
        return machine_read_text(path, "machine file", s, e);
    }
    uint32_t count = find_folders(folders);
    for (uint32_t i = 0; i < count; i++) {
        if (snprintf(path, PATH_BYTES, "%s/%s.ini", folders[i], name) < PATH_BYTES && access(path, R_OK) == 0)
            return machine_read_text(path, "machine file", s, e);
        nearest_machine(name, folders[i], near);
    }
    if (strcmp(name, default_machine) == 0) {
        snprintf(path, PATH_BYTES, "machines/%s.ini", name);
        *s = (struct source){path, strdup(default_machine_text), strlen(default_machine_text)};
        return true;
    }
    error_set(e, ERROR_NOT_FOUND,
              "no machine %s: expected one of machines/*.ini (heddle list machines) or the path of such a file", name);
    if (*near)
        error_note(e, "did you mean %s?", near);
    return false;
}

static void set_name(struct machine *m, const char *name)
{
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".ini") == 0)
        length -= 4;
    snprintf(m->name, sizeof m->name, "%.*s", (int)length, base);
}

static bool read_overrides(struct reading *r, struct source *sources, const char *const *overrides, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sources[i] = (struct source){"--set", overrides[i], strlen(overrides[i])};
        r->source = &sources[i];
        if (!read_override(r))
            return false;
    }
    return true;
}

bool machine_load(struct machine *m, const char *name, const char *const *overrides, uint32_t override_count,
                  struct error *e)
{
    char path[PATH_BYTES];
    struct error own = {0};
    struct reading r = {.machine = m, .error = e ? e : &own};
    struct source file = {0}, *sources = calloc(override_count + 1u, sizeof *sources);
    machine_set_defaults(m);
    set_name(m, name);
    bool good = sources || error_set(r.error, ERROR_NO_MEMORY, "out of memory");
    good = good && find_text(name, path, &file, r.error);
    r.source = &file;
    good = good && read_lines(&r) && read_overrides(&r, sources, overrides, override_count);
    good = good && machine_check(&(struct machine_checker){m, r.places, r.error});
    m->mem.core_count = m->cores / m->sm.cores_per_cluster;
    m->mem.cores_per_port = m->sm.cores_per_cluster;
    free((char *)file.text);
    free(sources);
    return good;
}

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

void machine_print_keys(FILE *to)
{
    fprintf(to, "## Keys\n");
    for (uint32_t i = 0; i < machine_key_count; i++) {
        const struct machine_key *key = &machine_keys[i];
        if (!i || strcmp(key->section, machine_keys[i - 1].section) != 0)
            fprintf(to, "\n### [%s]\n\n| key | default | values | unit | meaning |\n|---|---|---|---|---|\n",
                    key->section);
        fprintf(to, "| `%s` | `%s` | ", key->name, key->default_value);
        print_range(key, to);
        fprintf(to, " | %s | %s |\n", key->unit, key->help);
    }
}

void machine_visit(const struct machine *m, machine_visitor *visit, void *context)
{
    for (uint32_t i = 0; i < machine_key_count; i++) {
        const struct machine_key *key = &machine_keys[i];
        char value[128];
        machine_format(m, key, value, sizeof value);
        visit(context, key->section, key->name, value,
              key->type == MACHINE_U32 || key->type == MACHINE_U64 || key->type == MACHINE_MHZ);
    }
}

uint32_t machine_l2_bytes(const struct machine *m)
{
    const struct cache_config *c = &m->mem.l2.cache;
    return m->mem.dram.channels * m->mem.l2.slices_per_channel * c->sets * c->ways * c->line_bytes;
}

uint32_t machine_bus_bits(const struct machine *m)
{
    return m->mem.dram.channels * m->mem.dram.chips * m->mem.dram.bus_bytes * 8;
}

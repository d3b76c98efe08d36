/* Machine files (machines/NAME.ini). Functional mode reads the [machine] section only: what decides which blocks are resident together. */
#include "gpu/gpu.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct key {
    const char *name;
    size_t offset;
    bool wide;
    uint64_t least, most;
};

#define KEY32(field, least, most) { #field, offsetof(struct machine, field), false, least, most }
static const struct key keys[] = {
    KEY32(cores, 1, 1024),
    KEY32(warps_per_core, 1, 64),
    KEY32(blocks_per_core, 1, 64),
    KEY32(registers_per_core, 256, 1 << 20),
    KEY32(shared_bytes_per_core, 0, 1 << 20),
    KEY32(clock_khz, 1, UINT32_MAX),
    KEY32(memory_clock_khz, 1, UINT32_MAX),
    KEY32(memory_bus_bits, 1, 65536),
    KEY32(l2_bytes, 0, UINT32_MAX),
    { "memory_bytes", offsetof(struct machine, memory_bytes), true, 1 << 20, 1ull << 40 },
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

struct reading {
    struct machine *machine;
    struct error *error;
    struct source source;
    const char *next; /* text not yet read */
    int line;
    bool seen[KEY_COUNT];
};

/* Hands the parser one line at a time; Debian's inih does not tell line numbers. */
static char *next_line(char *out, int size, void *stream)
{
    struct reading *r = stream;
    if (!*r->next)
        return NULL;
    size_t length = strcspn(r->next, "\n");
    length += r->next[length] == '\n';
    if (length >= (size_t)size)
        length = (size_t)size - 1;
    memcpy(out, r->next, length);
    out[length] = '\0';
    r->next += length;
    r->line++;
    return out;
}

/* A number with an optional K, M or G (powers of 1024). */
static bool parse_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    if (end == text || errno || *text == '-')
        return false;
    uint64_t scale = *end == 'K' ? 1024 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    end += scale != 1;
    *value *= scale;
    return *end == '\0';
}

static int column_of(const struct reading *r, int line, const char *word)
{
    const char *at = r->source.text;
    for (int n = 1; n < line && at; n++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    const char *found = at ? strstr(at, word) : NULL;
    return found ? (int)(found - at) + 1 : 1;
}

static int unknown_key(struct reading *r, int line, const char *name)
{
    const char *names[KEY_COUNT];
    for (int i = 0; i < KEY_COUNT; i++)
        names[i] = keys[i].name;
    const char *near = nearest_name(name, names, KEY_COUNT);
    error_at(r->error, ERROR_SYNTAX, &r->source, line, column_of(r, line, name), "unknown key %s%s%s", name, near ? "; did you mean " : "", near ? near : "");
    return 0;
}

static int handle(void *user, const char *section, const char *name, const char *value)
{
    struct reading *r = user;
    int line = r->line;
    if (r->error->kind)
        return 0;
    if (strcmp(section, "machine") != 0)
        return error_at(r->error, ERROR_SYNTAX, &r->source, line, 1, "unknown section [%s]; expected [machine]", section);
    for (int i = 0; i < KEY_COUNT; i++) {
        uint64_t number;
        if (strcmp(keys[i].name, name) != 0)
            continue;
        if (!parse_number(value, &number) || number < keys[i].least || number > keys[i].most)
            return error_at(r->error, ERROR_SYNTAX, &r->source, line, column_of(r, line, value), "%s = %s: expected a whole number from %llu to %llu (K, M, G allowed)", name, value,
                            (unsigned long long)keys[i].least, (unsigned long long)keys[i].most);
        void *field = (char *)r->machine + keys[i].offset;
        if (keys[i].wide)
            *(uint64_t *)field = number;
        else
            *(uint32_t *)field = (uint32_t)number;
        r->seen[i] = true;
        return 1;
    }
    return unknown_key(r, line, name);
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    char buffer[4096];
    for (size_t n; copy && size < (1 << 20) && (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
        fwrite(buffer, 1, n, copy);
    fclose(f);
    if (copy)
        fclose(copy);
    return text;
}

/* Beside the library or the program that holds this code: in a build tree, and where make install puts it. */
static bool find_file(const char *name, char *path, size_t size)
{
    Dl_info info;
    char base[PATH_MAX];
    static const char *const places[] = { "../../machines", "../share/heddle/machines", "../../../share/heddle/machines", "../machines" };
    if (strchr(name, '/') || strstr(name, ".ini")) {
        snprintf(path, size, "%s", name);
        return true;
    }
    const char *given = getenv("HEDDLE_MACHINES");
    if (given) {
        snprintf(path, size, "%s/%s.ini", given, name);
        if (access(path, R_OK) == 0)
            return true;
    }
    if (!dladdr((void *)(uintptr_t)&machine_load, &info) || !info.dli_fname || !realpath(info.dli_fname, base))
        if (!realpath("/proc/self/exe", base))
            return false;
    char *slash = strrchr(base, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s/%s/%s.ini", base, places[i], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* The default machine is also inside the library, for when it is used without the folder of machines beside it. */
__asm__(".pushsection .rodata\n"
        "heddle_default_machine_text: .incbin \"machines/gtx480.ini\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char default_machine_text[] __asm__("heddle_default_machine_text") __attribute__((visibility("hidden")));
static const char default_machine[] = "gtx480";

static void set_name(struct machine *m, const char *name)
{
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".ini") == 0)
        length -= 4;
    snprintf(m->name, sizeof m->name, "%.*s", (int)length, base);
}

bool machine_load(struct machine *m, const char *name, struct error *e)
{
    char path[PATH_MAX + 64];
    struct error own = { 0 };
    struct reading r = { .machine = m, .error = e ? e : &own };
    memset(m, 0, sizeof *m);
    set_name(m, name);
    char *text = find_file(name, path, sizeof path) ? read_text(path) : NULL;
    if (!text && strcmp(name, default_machine) == 0) {
        snprintf(path, sizeof path, "machines/%s.ini", name);
        text = strdup(default_machine_text);
    }
    if (!text)
        return error_set(e, ERROR_NOT_FOUND, "no machine %s: expected one of machines/*.ini (heddle list machines) or the path of such a file", name);
    r.source = (struct source){ path, text, strlen(text) };
    r.next = text;
    int bad_line = ini_parse_stream(next_line, &r, handle, &r);
    if (bad_line && !r.error->kind)
        error_at(r.error, ERROR_SYNTAX, &r.source, bad_line, 1, "expected key = value or [section]");
    for (int i = 0; i < KEY_COUNT && !r.error->kind; i++)
        if (!r.seen[i])
            error_set(r.error, ERROR_SYNTAX, "%s: key %s is missing from [machine]", path, keys[i].name);
    free(text);
    return r.error->kind == ERROR_NONE;
}

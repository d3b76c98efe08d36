/* What the points of an experiment share, each read, checked and hashed once: executables, machines with their
 * overrides, policies, probes; and errors that name the line of the experiment file. */
#include "base/out_of_memory.h"
#include "sweep/job_maker.h"

#include "gpu/machine.h"
#include "program/program.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- errors */

/* The line that has the value; a choice among lines has none. */
static const struct lab_entry *entry_of(const struct lab_axis_values *axis, uint32_t value)
{
    for (uint32_t i = 0; i < axis->entry_count; i++)
        if (!axis->entries[i].list && value >= axis->entries[i].first &&
            value - axis->entries[i].first < axis->entries[i].count)
            return &axis->entries[i];
    return NULL;
}

/* Where in a line of the text the value is named; its first word that is not blank where it is not. */
static int column_of(const struct source *s, int line, const char *word)
{
    const char *at = s->text, *end = s->text + s->size_bytes;
    for (int n = 1; n < line && at; n++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return 1;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    const char *found = *word ? memmem(at, length, word, strlen(word)) : NULL;
    if (found)
        return (int)(found - at) + 1;
    int column = 1;
    while ((size_t)column < length && (at[column - 1] == ' ' || at[column - 1] == '\t'))
        column++;
    return column;
}

/* The file's name, for messages. */
static void name_of_file(const struct experiment *x, char name[300]) { snprintf(name, 300, "%.250s.ini", x->name); }

bool job_blame_line(struct job_maker *m, int line, const char *what, const char *word, const struct error *why)
{
    char name[300];
    name_of_file(m->x, name);
    struct source s = {name, m->x->text, m->x->text_bytes};
    error_at(m->error, why->kind, &s, line, column_of(&s, line, word), "this %s cannot be used", what);
    error_note(m->error, "%s", why->text);
    return false;
}

bool job_blame(struct job_maker *m, enum lab_axis axis, uint32_t value, const char *word, const struct error *why)
{
    const struct experiment *x = m->x;
    const struct lab_entry *entry = entry_of(&x->axes[axis], value);
    char name[300];
    if (entry && entry->line > 0 && x->text)
        return job_blame_line(m, entry->line, lab_axis_names[axis], word, why);
    name_of_file(x, name);
    error_set(m->error, why->kind, "%s: %s '%s' cannot be used", name, lab_axis_names[axis],
              x->axes[axis].values[value].label);
    error_note(m->error, "%s", why->text);
    return false;
}

/* ------------------------------------------------------------- programs */

/* A path starts from the folder of the experiment file, and stays right wherever the job goes; a name is left as it
 * is. path_length: of the path or name, which parameters may follow. */
const char *job_path(struct job_maker *m, const char *word, size_t path_length)
{
    char whole[PATH_MAX];
    const char *path = arena_strndup(m->arena, word, path_length), *dot = strrchr(path, '.');
    if (!strchr(path, '/') && !(dot && (!strcmp(dot, ".so") || !strcmp(dot, ".ini"))))
        return word;
    if (*path != '/')
        path = arena_printf(m->arena, "%s%s", m->x->folder, path);
    return arena_printf(m->arena, "%s%s", realpath(path, whole) ? whole : path, word + path_length);
}

/* The hash of an executable, once. The path lives in the arena. */
static bool hash_executable(struct job_maker *m, const char *path, struct key_digest *out, struct error *e)
{
    struct key_digest *known = strmap_get(&m->executables, path, strlen(path));
    if (!known) {
        struct elf_program elf;
        if (!elf_program_open(&elf, path, e))
            return false;
        known = arena_new(m->arena, struct key_digest);
        bool good = program_check(&elf, path, m->places, e);
        if (good)
            *known = key_program(m->hash, &elf);
        elf_program_close(&elf);
        if (!good)
            return false;
        strmap_put(&m->executables, path, strlen(path), known);
    }
    *out = *known;
    return true;
}

static const char *find_program(struct job_maker *m, const char *word, struct error *e)
{
    struct program found;
    struct error own = {0};
    char whole[PATH_MAX];
    bool ok = program_find(&found, job_path(m, word, strlen(word)), m->places, &own);
    if (*m->x->folder && !strchr(word, '/') && (!ok || !found.is_workload)) { /* a file beside the experiment's */
        struct error unused = {0};
        ok = program_find(&found, arena_printf(m->arena, "%s%s", m->x->folder, word), m->places, &unused);
    }
    if (!ok) {
        *e = own;
        return NULL;
    }
    return arena_printf(m->arena, "%s", realpath(found.path, whole) ? whole : found.path);
}

const struct program_part *job_program_part(struct job_maker *m, const struct lab_point *p)
{
    uint32_t value = p->value[AXIS_PROGRAM];
    struct program_part *part = &m->programs[value];
    struct error why = {0};
    if (part->made)
        return part;
    part->path = find_program(m, p->words[0], &why);
    if (!part->path || !hash_executable(m, part->path, &part->loaded, &why)) {
        job_blame(m, AXIS_PROGRAM, value, p->words[0], &why);
        return NULL;
    }
    key_start(m->hash);
    for (const char **word = p->words + 1; *word; word++)
        key_text(m->hash, "argument", *word);
    part->arguments = key_finish(m->hash);
    part->made = true;
    return part;
}

/* ------------------------------------------------------------- machines */

static void add_key(void *context, const char *section, const char *key, const char *value, bool is_number)
{
    (void)is_number;
    struct key_hash *h = context;
    if (!strcmp(key, "last_block_first") && !strcmp(value, "false"))
        return; /* runs from before there was this rule keep their keys */
    key_text(h, "section", section);
    key_text(h, "key", key);
    key_text(h, "value", value);
}

uint32_t job_word_count(const char **words)
{
    uint32_t n = 0;
    while (words && words[n])
        n++;
    return n;
}

/* An override is to blame where the machine alone is good. */
static bool blame_machine(struct job_maker *m, const struct lab_point *p, struct machine *scratch,
                          const struct error *why)
{
    const char *name = m->x->axes[AXIS_MACHINE].values[p->value[AXIS_MACHINE]].text;
    struct error alone = {0};
    if (!machine_load(scratch, job_path(m, name, strlen(name)), NULL, 0, &alone))
        return job_blame(m, AXIS_MACHINE, p->value[AXIS_MACHINE], name, &alone);
    job_blame(m, AXIS_VARIANT, p->value[AXIS_VARIANT], p->sets && p->sets[0] ? p->sets[0] : "", why);
    error_note(m->error, "(with machine %s)", name);
    return false;
}

const struct machine_part *job_machine_part(struct job_maker *m, const struct lab_point *p)
{
    const struct experiment *x = m->x;
    struct machine_part *part =
        &m->machines[(size_t)p->value[AXIS_MACHINE] * x->axes[AXIS_VARIANT].value_count + p->value[AXIS_VARIANT]];
    const char *name = x->axes[AXIS_MACHINE].values[p->value[AXIS_MACHINE]].text;
    struct error why = {0};
    if (part->made)
        return part;
    name = job_path(m, name, strlen(name));
    struct machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        out_of_memory();
    part->made = machine_load(machine, name, p->sets, job_word_count(p->sets), &why);
    if (part->made) {
        const char *own[JOB_POLICIES] = {machine->scheduler, machine->l1, machine->divergence};
        part->machine = name;
        for (int kind = 0; kind < JOB_POLICIES; kind++)
            part->policies[kind] = arena_printf(m->arena, "%s", own[kind]);
        key_start(m->hash);
        machine_visit(machine, add_key, m->hash);
        part->digest = key_finish(m->hash);
    } else {
        blame_machine(m, p, machine, &why);
    }
    free(machine);
    return part->made ? part : NULL;
}

/* ------------------------------------------------------------- policies */

static bool hash_policy(struct job_maker *m, enum policy_kind kind, const char *spec, struct policy_part *part,
                        struct error *e)
{
    struct policy_choice *choice = calloc(1, sizeof *choice);
    struct key_digest file = {{0}};
    char path[PATH_MAX];
    if (!choice)
        out_of_memory();
    bool good = policy_choose(choice, kind, spec, e);
    if (good && choice->library) {
        snprintf(path, sizeof path, "%s%.*s", memchr(spec, '/', policy_name_length(spec)) ? "" : "./",
                 (int)policy_name_length(spec), spec);
        good = key_file(m->hash, path, &file, e);
    }
    if (good) {
        key_start(m->hash);
        key_text(m->hash, "spec", choice->spec);
        key_digest_part(m->hash, choice->library ? "library" : "built in", &file);
        part->digest = key_finish(m->hash);
        part->functional = choice->probe && policy_probe_is_functional(choice->probe);
    }
    if (choice->policy)
        policy_release(choice);
    free(choice);
    return good;
}

static const struct policy_part *find_part(struct job_maker *m, struct strmap *known, enum policy_kind kind,
                                           const char *spec, struct error *why)
{
    struct policy_part *part = strmap_get(known, spec, strlen(spec));
    if (part)
        return part;
    part = arena_new(m->arena, struct policy_part);
    part->spec = job_path(m, spec, policy_name_length(spec));
    if (!hash_policy(m, kind, part->spec, part, why))
        return NULL;
    strmap_put(known, arena_strndup(m->arena, spec, strlen(spec)), strlen(spec), part);
    return part;
}

const struct policy_part *job_policy_part(struct job_maker *m, int kind, const char *spec, struct error *why)
{
    return find_part(m, &m->policies[kind], (enum policy_kind)kind, spec, why);
}

const struct policy_part *job_probe_part(struct job_maker *m, const char *spec, struct error *why)
{
    return find_part(m, &m->probes, POLICY_PROBE, spec, why);
}

/* From the points of an experiment to jobs with content keys. What points share (an executable, a machine with its overrides, a policy) is read, checked and hashed once: ten thousand points are
 * made in a fraction of a second. */
#include "lab/job.h"

#include "base/strmap.h"
#include "gpu/gpu.h"
#include "lab/key.h"
#include "lab/program.h"
#include "lab/replay.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = POLICY_PROBE }; /* those that an experiment has axes for */
static const enum lab_axis policy_axes[KINDS] = {AXIS_SCHEDULER, AXIS_L1, AXIS_DIVERGENCE};

struct program_part { bool made; const char *path; struct key_digest loaded, arguments; };
struct machine_part { bool made; const char *machine; const char *policies[KINDS]; struct key_digest digest; };
struct policy_part { const char *spec; struct key_digest digest; };

struct maker {
    const struct experiment *x;
    const struct places *places;
    struct arena *arena;
    struct key_hash *hash;
    struct strmap executables, policies[KINDS]; /* by path; by spec */
    struct program_part *programs;              /* by value of their axis */
    struct machine_part *machines;              /* by value of machine, then of variant */
    struct error *error;
};

/* ------------------------------------------------------------- errors */

/* The line that has the value; a choice among lines has none. */
static const struct lab_entry *entry_of(const struct lab_axis_values *axis, uint32_t value)
{
    for (uint32_t i = 0; i < axis->entry_count; i++)
        if (!axis->entries[i].list && value >= axis->entries[i].first && value - axis->entries[i].first < axis->entries[i].count)
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

/* "quick.ini:12:7: error: this scheduler cannot be used", the line, and why. */
static bool blame(struct maker *m, enum lab_axis axis, uint32_t value, const char *word, const struct error *why)
{
    const struct experiment *x = m->x;
    const struct lab_entry *entry = entry_of(&x->axes[axis], value);
    char name[300];
    snprintf(name, sizeof name, "%.250s.ini", x->name);
    struct source s = {name, x->text, x->text_bytes};
    if (entry && entry->line > 0 && x->text)
        error_at(m->error, why->kind, &s, entry->line, column_of(&s, entry->line, word), "this %s cannot be used", lab_axis_names[axis]);
    else
        error_set(m->error, why->kind, "%s: %s '%s' cannot be used", name, lab_axis_names[axis], x->axes[axis].values[value].label);
    error_note(m->error, "%s", why->text);
    return false;
}

/* ------------------------------------------------------------- programs */

/* A path stays right wherever the job goes; a name is left as it is. */
static const char *absolute(struct maker *m, const char *word, size_t path_length)
{
    char whole[PATH_MAX];
    const char *path = arena_strndup(m->arena, word, path_length), *dot = strrchr(path, '.');
    bool is_path = strchr(path, '/') || (dot && (!strcmp(dot, ".so") || !strcmp(dot, ".ini")));
    if (!is_path || !realpath(path, whole))
        return word;
    return arena_printf(m->arena, "%s%s", whole, word + path_length);
}

/* The hash of an executable, once. The path lives in the arena. */
static bool hash_executable(struct maker *m, const char *path, struct key_digest *out, struct error *e)
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

static const char *find_program(struct maker *m, const char *word, struct error *e)
{
    struct program found;
    char whole[PATH_MAX];
    if (!program_find(&found, word, m->places, e))
        return NULL;
    return arena_printf(m->arena, "%s", realpath(found.path, whole) ? whole : found.path);
}

static struct program_part *program_part(struct maker *m, const struct lab_point *p)
{
    uint32_t value = p->value[AXIS_PROGRAM];
    struct program_part *part = &m->programs[value];
    struct error why = {0};
    if (part->made)
        return part;
    part->path = find_program(m, p->words[0], &why);
    if (!part->path || !hash_executable(m, part->path, &part->loaded, &why)) {
        blame(m, AXIS_PROGRAM, value, p->words[0], &why);
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
    key_text(h, "section", section);
    key_text(h, "key", key);
    key_text(h, "value", value);
}

static uint32_t word_count(const char **words)
{
    uint32_t n = 0;
    while (words && words[n])
        n++;
    return n;
}

/* An override is to blame where the machine alone is good. */
static bool blame_machine(struct maker *m, const struct lab_point *p, struct machine *scratch, const struct error *why)
{
    const char *name = m->x->axes[AXIS_MACHINE].values[p->value[AXIS_MACHINE]].text;
    struct error alone = {0};
    if (!machine_load(scratch, name, NULL, 0, &alone))
        return blame(m, AXIS_MACHINE, p->value[AXIS_MACHINE], name, &alone);
    blame(m, AXIS_VARIANT, p->value[AXIS_VARIANT], p->sets && p->sets[0] ? p->sets[0] : "", why);
    error_note(m->error, "(with machine %s)", name);
    return false;
}

static struct machine_part *machine_part(struct maker *m, const struct lab_point *p)
{
    const struct experiment *x = m->x;
    struct machine_part *part = &m->machines[(size_t)p->value[AXIS_MACHINE] * x->axes[AXIS_VARIANT].value_count + p->value[AXIS_VARIANT]];
    const char *name = x->axes[AXIS_MACHINE].values[p->value[AXIS_MACHINE]].text;
    struct error why = {0};
    if (part->made)
        return part;
    struct machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        abort();
    part->made = machine_load(machine, name, p->sets, word_count(p->sets), &why);
    if (part->made) {
        const char *own[KINDS] = {machine->scheduler, machine->l1, machine->divergence};
        part->machine = absolute(m, name, strlen(name));
        for (int kind = 0; kind < KINDS; kind++)
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

static bool hash_policy(struct maker *m, enum policy_kind kind, const char *spec, struct key_digest *out, struct error *e)
{
    struct policy_choice *choice = calloc(1, sizeof *choice);
    struct key_digest file = {{0}};
    char path[PATH_MAX];
    if (!choice)
        abort();
    bool good = policy_choose(choice, kind, spec, e);
    if (good && choice->library) {
        snprintf(path, sizeof path, "%s%.*s", memchr(spec, '/', policy_name_length(spec)) ? "" : "./", (int)policy_name_length(spec), spec);
        good = key_file(m->hash, path, &file, e);
    }
    if (good) {
        key_start(m->hash);
        key_text(m->hash, "spec", choice->spec);
        key_digest_part(m->hash, choice->library ? "library" : "built in", &file);
        *out = key_finish(m->hash);
    }
    if (choice->policy)
        policy_release(choice);
    free(choice);
    return good;
}

/* spec: as the experiment has it; empty, the machine's own. */
static const struct policy_part *policy_part(struct maker *m, enum policy_kind kind, const struct lab_point *p, const struct machine_part *machine)
{
    enum lab_axis axis = policy_axes[kind];
    const char *asked = m->x->axes[axis].values[p->value[axis]].text, *spec = *asked ? asked : machine->policies[kind];
    struct policy_part *part = strmap_get(&m->policies[kind], spec, strlen(spec));
    struct error why = {0};
    if (part)
        return part;
    part = arena_new(m->arena, struct policy_part);
    if (!hash_policy(m, kind, spec, &part->digest, &why)) {
        if (*asked)
            blame(m, axis, p->value[axis], asked, &why);
        else
            blame(m, AXIS_MACHINE, p->value[AXIS_MACHINE], m->x->axes[AXIS_MACHINE].values[p->value[AXIS_MACHINE]].text, &why);
        return NULL;
    }
    part->spec = absolute(m, spec, policy_name_length(spec));
    strmap_put(&m->policies[kind], spec, strlen(spec), part);
    return part;
}

/* ------------------------------------------------------------- jobs */

/* The labels of the axes that have several values. */
static const char *label_of(struct maker *m, const struct lab_point *p)
{
    char text[600];
    size_t used = 0;
    text[0] = '\0';
    for (int axis = 0; axis < AXIS_COUNT && used < sizeof text; axis++)
        if (axis == AXIS_PROGRAM || m->x->axes[axis].value_count > 1)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", experiment_label(m->x, p, (enum lab_axis)axis));
    return arena_printf(m->arena, "%s", text);
}

static bool make_job(struct maker *m, const struct lab_point *p, struct job *j)
{
    static const char *const tags[KINDS] = {"scheduler", "l1", "divergence"};
    static const char *no_sets[] = {NULL};
    const struct policy_part *policies[KINDS];
    const char *specs[KINDS];
    const struct program_part *program = program_part(m, p);
    const struct machine_part *machine = program ? machine_part(m, p) : NULL;
    if (!machine)
        return false;
    for (int kind = 0; kind < KINDS; kind++) {
        enum lab_axis axis = policy_axes[kind];
        if (!(policies[kind] = policy_part(m, (enum policy_kind)kind, p, machine)))
            return false;
        specs[kind] = *m->x->axes[axis].values[p->value[axis]].text ? policies[kind]->spec : "";
    }
    key_start(m->hash);
    key_text(m->hash, "format", "heddle run 1");
    key_number(m->hash, "epoch", GPU_TIMING_EPOCH);
    key_digest_part(m->hash, "program", &program->loaded);
    key_digest_part(m->hash, "arguments", &program->arguments);
    key_digest_part(m->hash, "machine", &machine->digest);
    for (int kind = 0; kind < KINDS; kind++)
        key_digest_part(m->hash, tags[kind], &policies[kind]->digest);
    if (m->x->pcs)
        key_text(m->hash, "pcs", "yes");
    if (m->x->interval_cycles)
        key_number(m->hash, "interval", m->x->interval_cycles);
    if (m->x->replay) {
        char policies[REPLAY_SET_BYTES];
        replay_policies_write(m->x->replay, policies);
        key_text(m->hash, "replay", policies);
    }
    struct key_digest digest = key_finish(m->hash);
    *j = (struct job){.program = p->words[0], .path = program->path, .words = p->words, .machine = machine->machine, .scheduler = specs[0], .l1 = specs[1], .divergence = specs[2],
                      .sets = p->sets ? p->sets : no_sets, .label = label_of(m, p), .time_limit_seconds = m->x->time_limit_seconds,
                      .memory_limit_bytes = m->x->memory_limit_bytes, .pcs = m->x->pcs, .interval_cycles = m->x->interval_cycles, .replay = m->x->replay};
    key_write(&digest, j->key);
    return true;
}

static int compare_keys(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

uint32_t jobs_distinct(const struct job *jobs, uint32_t count)
{
    const char **keys = malloc((count + 1) * sizeof *keys);
    uint32_t different = 0;
    if (!keys)
        abort();
    for (uint32_t i = 0; i < count; i++)
        keys[i] = jobs[i].key;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++)
        different += !i || strcmp(keys[i - 1], keys[i]) != 0;
    free(keys);
    return different;
}

bool jobs_make(const struct experiment *x, const struct places *places, struct arena *a, struct job **jobs, struct error *e)
{
    struct error own = {0};
    struct maker m = {.x = x, .places = places, .arena = a, .hash = key_hash_new(), .error = e ? e : &own};
    bool good = true;
    m.programs = arena_array(a, struct program_part, x->axes[AXIS_PROGRAM].value_count);
    m.machines = arena_array(a, struct machine_part, (size_t)x->axes[AXIS_MACHINE].value_count * x->axes[AXIS_VARIANT].value_count);
    *jobs = arena_array(a, struct job, x->point_count);
    for (uint32_t i = 0; i < x->point_count && good; i++)
        good = make_job(&m, &x->points[i], &(*jobs)[i]);
    strmap_free(&m.executables);
    for (int kind = 0; kind < KINDS; kind++)
        strmap_free(&m.policies[kind]);
    key_hash_free(m.hash);
    return good;
}

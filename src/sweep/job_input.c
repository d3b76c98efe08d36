/* Runs that are made for others: an [input NAME] of the experiment, with the program, machine and variant of the point
 * that names its file. Points that need the same run share its job. Its key covers what it writes, not where. */
#include "sweep/job_maker.h"

#include "experiment/expand.h"

#include <stdio.h>
#include <string.h>

static const char *const kind_names[JOB_POLICIES] = {"scheduler", "l1", "divergence"};

/* The program's words, and those of the input after them. */
static const char **join_words(struct job_maker *m, const char **words, const char **more)
{
    uint32_t count = job_word_count(words), added = job_word_count(more);
    const char **all = arena_array(m->arena, const char *, count + added + 1);
    memcpy(all, words, count * sizeof *all);
    memcpy(all + count, more, added * sizeof *all);
    return all;
}

static struct key_digest hash_words(struct job_maker *m, const char *tag, const char **words)
{
    key_start(m->hash);
    for (; *words; words++)
        key_text(m->hash, tag, *words);
    return key_finish(m->hash);
}

static bool find_policies(struct job_maker *m, const struct lab_input *in, const struct machine_part *machine,
                          const struct policy_part *policies[JOB_POLICIES])
{
    for (int kind = 0; kind < JOB_POLICIES; kind++) {
        struct error why = {0};
        const char *spec = *in->policies[kind] ? in->policies[kind] : machine->policies[kind];
        if (!(policies[kind] = job_policy_part(m, kind, spec, &why)))
            return job_blame_line(m, in->policy_lines[kind], kind_names[kind], in->policies[kind], &why);
    }
    return true;
}

/* The labels of what such a run shares with its points, and its name. */
static const char *label_of(struct job_maker *m, const struct lab_point *p, const struct lab_input *in)
{
    static const enum lab_axis axes[] = {AXIS_PROGRAM, AXIS_MACHINE, AXIS_VARIANT};
    const char *text = "";
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (axes[i] == AXIS_PROGRAM || m->x->axes[axes[i]].value_count > 1)
            text = arena_printf(m->arena, "%s%s ", text, experiment_label(m->x, p, axes[i]));
    return arena_printf(m->arena, "%s(input %s)", text, in->name);
}

static struct job *make_input(struct job_maker *m, const struct lab_point *p, const struct lab_input *in)
{
    static const char *no_sets[] = {NULL};
    const struct policy_part *policies[JOB_POLICIES], *probe = NULL;
    const struct program_part *program = job_program_part(m, p);
    const struct machine_part *machine = program ? job_machine_part(m, p) : NULL;
    struct error why = {0};
    if (!machine || !find_policies(m, in, machine, policies))
        return NULL;
    if (in->probe && !(probe = job_probe_part(m, in->probe, &why))) {
        job_blame_line(m, in->probe_line, "probe", in->probe, &why);
        return NULL;
    }
    const char **words = join_words(m, p->words, in->arguments), *specs[JOB_POLICIES];
    struct key_digest arguments = hash_words(m, "argument", words + 1), options = hash_words(m, "option", in->options);
    job_key_start(m, program, &arguments, machine, policies);
    if (probe)
        key_digest_part(m->hash, "probe", &probe->digest);
    key_digest_part(m->hash, "writes", &options);
    struct key_digest digest = key_finish(m->hash);
    for (int kind = 0; kind < JOB_POLICIES; kind++)
        specs[kind] = *in->policies[kind] ? policies[kind]->spec : "";
    struct job *j = arena_new(m->arena, struct job);
    *j = (struct job){.program = p->words[0],
                      .path = program->path,
                      .words = words,
                      .machine = machine->machine,
                      .scheduler = specs[0],
                      .l1 = specs[1],
                      .divergence = specs[2],
                      .sets = p->sets ? p->sets : no_sets,
                      .label = label_of(m, p, in),
                      .time_limit_seconds = m->x->time_limit_seconds,
                      .memory_limit_bytes = m->x->memory_limit_bytes,
                      .options = in->options,
                      .input = in->name};
    j->probes = arena_array(m->arena, const char *, 2);
    j->probes[0] = probe ? probe->spec : NULL;
    j->inputs = arena_new(m->arena, const struct job *);
    key_write(&digest, j->key);
    return j;
}

/* By program, machine, variant and input. */
static struct job *find_or_make(struct job_maker *m, const struct lab_point *p, const struct lab_input *in)
{
    char name[64];
    int length = snprintf(name, sizeof name, "%u %u %u %u", p->value[AXIS_PROGRAM], p->value[AXIS_MACHINE],
                          p->value[AXIS_VARIANT], (uint32_t)(in - m->x->inputs));
    struct job *j = strmap_get(&m->inputs, name, (size_t)length);
    if (!j && (j = make_input(m, p, in)))
        strmap_put(&m->inputs, arena_strndup(m->arena, name, (size_t)length), (size_t)length, j);
    return j;
}

static void add_input(struct job_maker *m, struct job_inputs *inputs, const struct job *j)
{
    for (uint32_t i = 0; i < inputs->count; i++)
        if (inputs->jobs[i] == j)
            return;
    inputs->jobs = lab_grow(m->arena, inputs->jobs, inputs->count, &inputs->room, sizeof *inputs->jobs);
    inputs->jobs[inputs->count++] = j;
    inputs->jobs = lab_grow(m->arena, inputs->jobs, inputs->count, &inputs->room, sizeof *inputs->jobs);
    inputs->jobs[inputs->count] = NULL;
}

const char *job_resolve(struct job_maker *m, const struct lab_point *p, const char *spec, struct job_inputs *inputs)
{
    const char *at = spec, *done = spec, *out = "";
    for (size_t length; lab_reference_next(&at, &length); at = done) {
        const struct lab_input *in = lab_find_input(m->x, at + 1, length);
        const struct job *j = in ? find_or_make(m, p, in) : NULL;
        if (!j) {
            if (!in)
                error_set(m->error, ERROR_NOT_FOUND, "unknown input '%.*s' in '%s'", (int)length, at + 1, spec);
            return NULL;
        }
        add_input(m, inputs, j);
        out = arena_printf(m->arena, "%s%.*s@%s", out, (int)(at - done), done, j->key);
        done = at + 1 + length;
    }
    return done == spec ? spec : arena_printf(m->arena, "%s%s", out, done);
}

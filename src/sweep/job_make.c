/* From the points of an experiment to jobs with content keys. What points share (an executable, a machine with its
 * overrides, a policy) is read, checked and hashed once (job_parts.c): ten thousand points are made in a fraction of a
 * second. */
#include "base/out_of_memory.h"
#include "sweep/job_maker.h"

#include "gpu/gpu.h"
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum lab_axis policy_axes[JOB_POLICIES] = {AXIS_SCHEDULER, AXIS_L1, AXIS_DIVERGENCE};

/* Whether a scheduler's options say what the axis would. */
static bool is_fixed(const struct options_part *options, enum lab_axis axis)
{
    for (int kind = POLICY_L1; options && kind < JOB_POLICIES; kind++)
        if (policy_axes[kind] == axis && *options->specs[kind])
            return true;
    return false;
}

/* The labels of the axes that have several values. */
static const char *label_of(struct job_maker *m, const struct lab_point *p, const struct options_part *options)
{
    char text[600];
    size_t used = 0;
    text[0] = '\0';
    for (int axis = 0; axis < AXIS_COUNT && used < sizeof text; axis++)
        if ((axis == AXIS_PROGRAM || m->x->axes[axis].value_count > 1) && !is_fixed(options, (enum lab_axis)axis))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "",
                                     experiment_label(m->x, p, (enum lab_axis)axis));
    return arena_printf(m->arena, "%s", text);
}

void job_key_start(struct job_maker *m, const struct program_part *program, const struct key_digest *arguments,
                   const struct machine_part *machine, const struct policy_part *policies[JOB_POLICIES])
{
    static const char *const tags[JOB_POLICIES] = {"scheduler", "l1", "divergence"};
    key_start(m->hash);
    key_text(m->hash, "format", "heddle run 1");
    key_number(m->hash, "epoch", GPU_TIMING_EPOCH);
    key_digest_part(m->hash, "program", &program->loaded);
    key_digest_part(m->hash, "arguments", arguments);
    key_digest_part(m->hash, "machine", &machine->digest);
    for (int kind = 0; kind < JOB_POLICIES; kind++)
        key_digest_part(m->hash, tags[kind], &policies[kind]->digest);
}

/* The spec of a kind that the experiment has for the point; empty: the machine's own. */
static const char *asked_for(const struct job_maker *m, const struct lab_point *p, const struct options_part *options,
                             int kind)
{
    enum lab_axis axis = policy_axes[kind];
    if (options && (axis == AXIS_SCHEDULER || *options->specs[kind]))
        return options->specs[kind];
    return m->x->axes[axis].values[p->value[axis]].text;
}

static const struct policy_part *policy_part(struct job_maker *m, int kind, const struct lab_point *p,
                                             const struct options_part *options, const struct machine_part *machine,
                                             struct job_inputs *inputs)
{
    bool by_options = options && *options->specs[kind];
    enum lab_axis axis = by_options ? AXIS_SCHEDULER : policy_axes[kind];
    const char *asked = asked_for(m, p, options, kind), *spec = *asked ? asked : machine->policies[kind];
    struct error why = {0};
    spec = job_resolve(m, p, spec, inputs);
    const struct policy_part *part = spec ? job_policy_part(m, kind, spec, &why) : NULL;
    if (part || !spec)
        return part;
    if (*asked)
        job_blame(m, axis, p->value[axis], asked, &why);
    else
        job_blame(m, AXIS_MACHINE, p->value[AXIS_MACHINE], m->x->axes[AXIS_MACHINE].values[p->value[AXIS_MACHINE]].text,
                  &why);
    return NULL;
}

static int line_of_probe(const struct experiment *x, const char *spec)
{
    for (uint32_t i = 0; i < x->probe_count; i++)
        if (!strcmp(x->probes[i].spec, spec))
            return x->probes[i].line;
    return 1;
}

static const struct policy_part *probe_part(struct job_maker *m, const struct lab_point *p, const char *spec,
                                            struct job_inputs *inputs, struct error *why)
{
    const char *resolved = job_resolve(m, p, spec, inputs);
    return resolved ? job_probe_part(m, resolved, why) : NULL;
}

/* Those of the point, and that of a bundle. */
static const struct policy_part **probe_parts(struct job_maker *m, const struct lab_point *p,
                                              const struct options_part *options, struct job_inputs *inputs)
{
    uint32_t count = job_word_count(p->probes);
    const char *of_bundle = options ? options->specs[POLICY_PROBE] : "";
    const struct policy_part **parts = arena_array(m->arena, const struct policy_part *, count + 2);
    struct error why = {0};
    for (uint32_t i = 0; i < count; i++) {
        if ((parts[i] = probe_part(m, p, p->probes[i], inputs, &why)))
            continue;
        if (why.kind)
            job_blame_line(m, line_of_probe(m->x, p->probes[i]), "probe", p->probes[i], &why);
        return NULL;
    }
    bool known = !*of_bundle;
    for (uint32_t i = 0; i < count; i++)
        known |= !strcmp(p->probes[i], of_bundle);
    if (known || (parts[count] = probe_part(m, p, of_bundle, inputs, &why)))
        return parts;
    if (why.kind)
        job_blame(m, AXIS_SCHEDULER, p->value[AXIS_SCHEDULER], of_bundle, &why);
    return NULL;
}

static int compare_digests(const void *a, const void *b) { return memcmp(a, b, sizeof(struct key_digest)); }

/* Whether the run is one without time: its probes say so, all or none. */
static bool find_mode(struct job_maker *m, const struct lab_point *p, const struct policy_part **probes,
                      bool *functional)
{
    struct error why = {0};
    *functional = probes[0] && probes[0]->functional;
    for (uint32_t i = 1; probes[i]; i++) {
        if (probes[i]->functional == *functional)
            continue;
        const char *spec = p->probes && i < job_word_count(p->probes) ? p->probes[i] : p->probes[0];
        error_set(&why, ERROR_INVALID,
                  "of probes '%s' and '%s' one needs time and one works only without: they cannot be in one run",
                  probes[0]->spec, probes[i]->spec);
        return job_blame_line(m, line_of_probe(m->x, spec), "probe", spec, &why);
    }
    return true;
}

/* Which probes listen, not in which order. Returns their specs. */
static const char **add_probes(struct job_maker *m, const struct policy_part **parts)
{
    uint32_t count = 0;
    while (parts[count])
        count++;
    const char **specs = arena_array(m->arena, const char *, count + 1);
    struct key_digest *digests = arena_array(m->arena, struct key_digest, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = parts[i]->spec;
        digests[i] = parts[i]->digest;
    }
    qsort(digests, count, sizeof *digests, compare_digests);
    for (uint32_t i = 0; i < count; i++)
        key_digest_part(m->hash, "probe", &digests[i]);
    return specs;
}

/* What of a run is timed, where it is not all. */
static const char **timed_part(struct job_maker *m)
{
    const char **words = arena_array(m->arena, const char *, 4);
    uint32_t n = 0;
    if (m->x->launches) {
        words[n++] = "--launch";
        words[n++] = m->x->launches;
    }
    if (m->x->sample)
        words[n++] = "--sample";
    return words;
}

static bool make_job(struct job_maker *m, const struct lab_point *p, struct job *j)
{
    static const char *none[] = {NULL}, *without_time[] = {"--functional", NULL};
    const struct experiment *x = m->x;
    bool functional;
    const struct policy_part *policies[JOB_POLICIES];
    const char *specs[JOB_POLICIES];
    struct job_inputs inputs = {0};
    const struct options_part *options;
    const struct program_part *program = job_program_part(m, p);
    const struct machine_part *machine = program ? job_machine_part(m, p) : NULL;
    if (!machine || !job_options_part(m, p, &options))
        return false;
    for (int kind = 0; kind < JOB_POLICIES; kind++) {
        if (!(policies[kind] = policy_part(m, kind, p, options, machine, &inputs)))
            return false;
        specs[kind] = *asked_for(m, p, options, kind) ? policies[kind]->spec : "";
    }
    const struct policy_part **probes = probe_parts(m, p, options, &inputs);
    if (!probes || !find_mode(m, p, probes, &functional))
        return false;
    uint64_t interval = functional ? 0 : x->interval_cycles;
    uint32_t replay = functional ? 0 : x->replay;
    job_key_start(m, program, &program->arguments, machine, policies);
    if (x->pcs)
        key_text(m->hash, "pcs", "yes");
    if (interval)
        key_number(m->hash, "interval", interval);
    if (replay) {
        char replayed[REPLAY_SET_BYTES];
        replay_policies_write(replay, replayed);
        key_text(m->hash, "replay", replayed);
    }
    if (x->launches)
        key_text(m->hash, "launches", x->launches);
    if (x->sample && !functional)
        key_text(m->hash, "sample", "auto");
    if (x->build)
        key_text(m->hash, "build", x->build);
    *j = (struct job){.program = p->words[0],
                      .path = program->path,
                      .words = p->words,
                      .machine = machine->machine,
                      .scheduler = specs[0],
                      .l1 = specs[1],
                      .divergence = specs[2],
                      .sets = p->sets ? p->sets : none,
                      .label = label_of(m, p, options),
                      .time_limit_seconds = x->time_limit_seconds,
                      .memory_limit_bytes = x->memory_limit_bytes,
                      .pcs = x->pcs,
                      .interval_cycles = interval,
                      .replay = replay,
                      .probes = add_probes(m, probes),
                      .options = functional ? without_time : timed_part(m),
                      .inputs = inputs.count ? inputs.jobs : arena_new(m->arena, const struct job *)};
    struct key_digest digest = key_finish(m->hash);
    key_write(&digest, j->key);
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

uint32_t jobs_distinct(const struct job *jobs, uint32_t count)
{
    const char **keys = malloc((count + 1) * sizeof *keys);
    uint32_t different = 0;
    if (!keys)
        out_of_memory();
    for (uint32_t i = 0; i < count; i++)
        keys[i] = jobs[i].key;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++)
        different += !i || strcmp(keys[i - 1], keys[i]) != 0;
    free(keys);
    return different;
}

bool jobs_make(const struct experiment *x, const struct places *places, struct arena *a, struct job **jobs,
               struct error *e)
{
    struct error own = {0};
    struct job_maker m = {.x = x, .places = places, .arena = a, .hash = key_hash_new(), .error = e ? e : &own};
    bool good = true;
    m.options = arena_array(a, struct options_part, x->axes[AXIS_SCHEDULER].value_count);
    m.programs = arena_array(a, struct program_part, x->axes[AXIS_PROGRAM].value_count);
    m.machines = arena_array(a, struct machine_part,
                             (size_t)x->axes[AXIS_MACHINE].value_count * x->axes[AXIS_VARIANT].value_count);
    *jobs = arena_array(a, struct job, x->point_count);
    for (uint32_t i = 0; i < x->point_count && good; i++)
        good = make_job(&m, &x->points[i], &(*jobs)[i]);
    strmap_free(&m.executables);
    strmap_free(&m.probes);
    strmap_free(&m.inputs);
    for (int kind = 0; kind < JOB_POLICIES; kind++)
        strmap_free(&m.policies[kind]);
    key_hash_free(m.hash);
    return good;
}

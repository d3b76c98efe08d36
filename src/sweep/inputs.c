/* Runs of a sweep that read files which other runs of it write: who waits for whom, and what becomes of those whose
 * input could not be made. */
#include "sweep/sweep.h"

#include "base/strmap.h"

#include <string.h>

struct job *sweep_inputs(const struct sweep *s, const struct job *jobs, uint32_t count, struct arena *a,
                         uint32_t *input_count, struct error *e)
{
    struct strmap keys = {0};
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        for (const struct job *const *in = jobs[i].inputs; *in; in++)
            most++;
    struct job *inputs = arena_array(a, struct job, most + 1);
    *input_count = 0;
    for (uint32_t i = 0; i < count; i++)
        for (const struct job *const *in = jobs[i].inputs; *in; in++)
            if (!strmap_get(&keys, (*in)->key, KEY_BYTES - 1)) {
                strmap_put(&keys, (*in)->key, KEY_BYTES - 1, inputs);
                inputs[(*input_count)++] = **in;
            }
    strmap_free(&keys);
    return jobs_place_files(inputs, *input_count, s->files, a, e) ? inputs : NULL;
}

/* Those of its inputs that are jobs themselves; the files of the others are there. */
static const uint32_t *needs_of(struct sweep *s, const struct strmap *numbers, const struct job *j)
{
    uint32_t count = 0;
    while (j->inputs && j->inputs[count])
        count++;
    uint32_t *needs = count ? arena_array(s->arena, uint32_t, count + 1) : NULL, found = 0;
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t number = (uintptr_t)strmap_get(numbers, j->inputs[i]->key, KEY_BYTES - 1);
        if (number)
            needs[found++] = (uint32_t)number - 1;
    }
    if (found)
        needs[found] = UINT32_MAX;
    return found ? needs : NULL;
}

void sweep_link_inputs(struct sweep *s)
{
    struct strmap numbers = {0};
    s->outcomes = arena_array(s->arena, struct sweep_outcome, s->job_count + 1);
    for (uint32_t i = 0; i < s->job_count && s->jobs[i].input; i++)
        strmap_put(&numbers, s->jobs[i].key, KEY_BYTES - 1, (void *)(uintptr_t)(i + 1));
    for (uint32_t i = 0; i < s->job_count; i++)
        s->outcomes[i].needs = needs_of(s, &numbers, &s->jobs[i]);
    strmap_free(&numbers);
}

/* The first that failed; UINT32_MAX: none. */
static uint32_t find_failed(const struct sweep *s, const uint32_t *needs)
{
    for (; *needs != UINT32_MAX; needs++)
        if (s->outcomes[*needs].ended && s->outcomes[*needs].failure)
            return *needs;
    return UINT32_MAX;
}

enum sweep_readiness sweep_ready(const struct sweep *s, uint32_t job)
{
    const uint32_t *needs = s->outcomes ? s->outcomes[job].needs : NULL;
    if (!needs)
        return SWEEP_READY;
    if (find_failed(s, needs) != UINT32_MAX)
        return SWEEP_LOST;
    for (; *needs != UINT32_MAX; needs++)
        if (!s->outcomes[*needs].ended)
            return SWEEP_WAITS;
    return SWEEP_READY;
}

bool sweep_give_up(struct sweep *s, uint32_t job, struct error *e)
{
    uint32_t input = find_failed(s, s->outcomes[job].needs);
    const char *why =
        arena_printf(s->arena, "its input %s was not made: %s", s->jobs[input].input, s->outcomes[input].failure);
    bool found;
    return job_record_failure(&s->jobs[job], s->spool, why, 1, e) && sweep_collect(s, &s->jobs[job], &found, e);
}

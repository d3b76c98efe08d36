/* DAWS as one would write it down: every table a list that is looked through from end to end, every sum made anew. */
#ifndef DAWS_MODEL_H
#define DAWS_MODEL_H

#include "victim_tags_model.h"

#include "heddle/policy.h"

enum { MODEL_LIST = 512 };

struct model_load {
    uint64_t executions, diverged, considered, accesses, local;
}; /* as profiled */

struct daws_model {
    /* How it works. */
    bool detected, greedy, control_flow, by_access;
    bool small; /* the cache: single warps are to bring more than it holds */
    double cache;
    unsigned most; /* lines of one warp; with more its loop is not throttled */
    unsigned loads, detector_loads, loops, ilrd_sets, ilrd_ways;
    int least, line_bytes;
    const struct heddle_program *program;
    const struct model_load *profile; /* by pc */

    /* Warps. */
    struct {
        bool resident, at_barrier;
        uint64_t age;
        unsigned open; /* loops around it */
        int recorded;  /* the loop whose loads count; outside all loops: the closest one */
        unsigned lines;
        uint64_t missed[MODEL_LIST]; /* of the load whose accesses are under way */
        unsigned missed_count;
        bool local;
    } warp[HEDDLE_WARPS];

    /* Tables. */
    struct model_tags tags;
    struct {
        unsigned pc, repetition;
        int loop;
        bool diverged;
    } load[MODEL_LIST];
    struct {
        int loop, warp, locality;
    } sampled[MODEL_LIST];
    struct {
        unsigned pc;
        int count;
    } detector[MODEL_LIST];
    struct {
        uint64_t line;
        unsigned pc, warp;
        uint64_t used;
    } ilrd[MODEL_LIST];
    unsigned load_count, sampled_count, detector_count, ilrd_count, repetitions;
    uint64_t now, vta_hits, held_warp_cycles;
};

static inline unsigned model_lanes(uint32_t mask)
{
    unsigned n = 0;
    for (int lane = 0; lane < 32; lane++)
        n += mask >> lane & 1;
    return n;
}

/* ---------------------------------------------------------------- tables */

static inline int model_sampled(const struct daws_model *m, int loop)
{
    for (unsigned i = 0; i < m->sampled_count; i++)
        if (m->sampled[i].loop == loop)
            return (int)i;
    return -1;
}

static inline bool model_samples(const struct daws_model *m, unsigned warp, unsigned pc)
{
    int loop = m->program->instructions[pc].loop, i = loop < 0 ? -1 : model_sampled(m, loop);
    return m->detected && i >= 0 && m->sampled[i].warp == (int)warp;
}

static inline int model_load_of(const struct daws_model *m, unsigned pc)
{
    for (unsigned i = 0; i < m->load_count; i++)
        if (m->load[i].pc == pc)
            return (int)i;
    return -1;
}

static inline int model_detector(const struct daws_model *m, unsigned pc)
{
    for (unsigned i = 0; i < m->detector_count; i++)
        if (m->detector[i].pc == pc)
            return (int)i;
    return -1;
}

static inline void model_classify(struct daws_model *m, unsigned pc, bool diverged)
{
    int i = model_load_of(m, pc);
    if (i < 0 && m->load_count < m->loads) {
        i = (int)m->load_count++;
        m->load[i].pc = pc;
        m->load[i].loop = m->program->instructions[pc].loop;
        m->load[i].repetition = m->repetitions++;
    }
    if (i >= 0)
        m->load[i].diverged = diverged;
}

static inline void model_same_repetition(struct daws_model *m, unsigned pc, unsigned other)
{
    int a = model_load_of(m, pc), b = model_load_of(m, other);
    if (a < 0 || b < 0 || m->load[a].loop != m->load[b].loop)
        return;
    unsigned from = m->load[b].repetition, to = m->load[a].repetition;
    for (unsigned i = 0; i < m->load_count; i++)
        if (m->load[i].repetition == from)
            m->load[i].repetition = to;
}

static inline void model_ilrd_take(struct daws_model *m, unsigned i) { m->ilrd[i] = m->ilrd[--m->ilrd_count]; }

static inline void model_ilrd_clear(struct daws_model *m, unsigned warp)
{
    for (unsigned i = 0; i < m->ilrd_count;)
        if (m->ilrd[i].warp == warp)
            model_ilrd_take(m, i);
        else
            i++;
}

static inline void model_ilrd_probe(struct daws_model *m, unsigned warp, unsigned pc, uint64_t line)
{
    unsigned in_set = 0, oldest = MODEL_LIST;
    m->now++;
    for (unsigned i = 0; i < m->ilrd_count; i++) {
        if (m->ilrd[i].line == line && m->ilrd[i].warp == warp) {
            m->ilrd[i].used = m->now;
            if (m->ilrd[i].pc != pc)
                model_same_repetition(m, m->ilrd[i].pc, pc);
            return;
        }
        if (m->ilrd[i].line % m->ilrd_sets != line % m->ilrd_sets)
            continue;
        in_set++;
        if (oldest == MODEL_LIST || m->ilrd[i].used < m->ilrd[oldest].used)
            oldest = i;
    }
    if (in_set == m->ilrd_ways)
        model_ilrd_take(m, oldest);
    m->ilrd[m->ilrd_count].line = line;
    m->ilrd[m->ilrd_count].pc = pc;
    m->ilrd[m->ilrd_count].warp = warp;
    m->ilrd[m->ilrd_count++].used = m->now;
}

/* ---------------------------------------------------------------- predictions */

static inline unsigned model_footprint(const struct daws_model *m, int loop, uint32_t active)
{
    unsigned n = m->control_flow ? model_lanes(active) : 32, lines = 0;
    if (loop < 0)
        return 0;
    if (m->detected && (model_sampled(m, loop) < 0 || m->sampled[model_sampled(m, loop)].locality <= 0))
        return 0;
    for (unsigned r = 0; r < m->repetitions; r++) {
        bool there = false, diverged = false;
        for (unsigned i = 0; i < m->load_count; i++)
            if (m->load[i].loop == loop && m->load[i].repetition == r) {
                there = true;
                diverged |= m->load[i].diverged;
            }
        if (there)
            lines += diverged ? n : n > 1 ? 2 : n;
    }
    return lines;
}

static inline int model_closest(const struct daws_model *m, unsigned pc)
{
    for (unsigned at = pc; at < m->program->instruction_count; at++)
        for (unsigned i = 0; i < m->program->loop_count; i++)
            if (m->program->loops[i].begin == at)
                return (int)i;
    return -1;
}

static inline bool model_unthrottled(const struct daws_model *m, int loop)
{
    for (int w = 0; w < HEDDLE_WARPS; w++)
        if (m->warp[w].resident && !m->warp[w].at_barrier && m->warp[w].lines > m->most && m->warp[w].recorded == loop)
            return true;
    return false;
}

/* What the recorded prediction of a warp counts for. */
static inline unsigned model_recorded(const struct daws_model *m, unsigned w)
{
    bool counts = m->warp[w].resident && !m->warp[w].at_barrier && m->warp[w].lines;
    return counts && !model_unthrottled(m, m->warp[w].recorded) ? m->warp[w].lines : 0;
}

static inline bool model_any(const struct daws_model *m)
{
    for (unsigned w = 0; w < HEDDLE_WARPS; w++)
        if (model_recorded(m, w))
            return true;
    return false;
}

/* What a warp counts for now. */
static inline unsigned model_counts(const struct daws_model *m, unsigned w, const struct heddle_warp *view)
{
    if (!m->warp[w].resident || m->warp[w].at_barrier)
        return 0;
    if (m->warp[w].open || view->next_pc == HEDDLE_NO_PC || !model_any(m))
        return model_recorded(m, w);
    if (!(m->program->instructions[view->next_pc].flags & HEDDLE_L1D_LOAD))
        return model_recorded(m, w);
    int loop = model_closest(m, view->next_pc);
    unsigned lines = model_footprint(m, loop, view->active);
    return lines > m->most || model_unthrottled(m, loop) ? 0 : lines;
}

static inline uint64_t model_held(const struct daws_model *m, const struct heddle_warp *view)
{
    uint64_t held = 0, age = 0, oldest_age = UINT64_MAX, youngest_age = 0;
    unsigned sum = 0;
    bool first = true;
    for (unsigned w = 0; w < HEDDLE_WARPS; w++)
        if (m->warp[w].resident) {
            oldest_age = m->warp[w].age < oldest_age ? m->warp[w].age : oldest_age;
            youngest_age = m->warp[w].age > youngest_age ? m->warp[w].age : youngest_age;
        }
    for (age = oldest_age; age <= youngest_age; age++)
        for (unsigned w = 0; w < HEDDLE_WARPS; w++) {
            if (!m->warp[w].resident || m->warp[w].age != age)
                continue;
            unsigned own = model_counts(m, w, &view[w]);
            if (own && !first && sum + own > m->cache)
                held |= UINT64_C(1) << w;
            first = first && !own;
            if (!m->greedy || !(held >> w & 1))
                sum += own;
        }
    return held;
}

/* ---------------------------------------------------------------- events */

static inline void model_kernel(struct daws_model *m, const struct heddle_program *p)
{
    model_tags_start(&m->tags, m->tags.sets, m->tags.ways);
    if (m->program == p)
        return;
    m->program = p;
    m->load_count = m->sampled_count = m->detector_count = m->ilrd_count = 0;
    for (unsigned pc = 0; !m->detected && pc < p->instruction_count; pc++) {
        const struct heddle_instruction *in = &p->instructions[pc];
        uint64_t accesses = 0, local = 0;
        if (!(in->flags & HEDDLE_L1D_LOAD) || in->loop < 0 || !m->profile[pc].executions)
            continue;
        for (unsigned other = 0; other < p->instruction_count; other++)
            if (p->instructions[other].loop == in->loop) {
                accesses += m->profile[other].accesses;
                local += m->profile[other].local;
            }
        if (2 * local > accesses)
            model_classify(m, pc, 10 * m->profile[pc].diverged > m->profile[pc].considered);
    }
    for (unsigned i = 0; !m->detected && i < m->load_count; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct heddle_instruction *a = &p->instructions[m->load[i].pc], *b = &p->instructions[m->load[j].pc];
            int between = a->offset - b->offset;
            if (a->address == b->address && between < m->line_bytes && between > -m->line_bytes)
                model_same_repetition(m, m->load[i].pc, m->load[j].pc);
        }
}

static inline void model_launched(struct daws_model *m, unsigned warp, uint64_t age)
{
    memset(&m->warp[warp], 0, sizeof m->warp[warp]);
    m->warp[warp].resident = true;
    m->warp[warp].age = age;
    m->warp[warp].recorded = -1;
}

static inline void model_ended(struct daws_model *m, unsigned warp)
{
    m->warp[warp].resident = false;
    m->warp[warp].at_barrier = false;
    m->warp[warp].lines = 0;
    for (unsigned i = 0; i < m->sampled_count; i++)
        if (m->sampled[i].warp == (int)warp)
            m->sampled[i].warp = -1;
}

static inline void model_loop(struct daws_model *m, const struct heddle_loop_event *e)
{
    int i = model_sampled(m, e->loop);
    if (e->step == HEDDLE_LOOP_LEAVE) {
        if (i >= 0 && m->sampled[i].warp == (int)e->warp)
            m->sampled[i].warp = -1;
        if (--m->warp[e->warp].open == 0) {
            m->warp[e->warp].lines = 0;
            m->warp[e->warp].recorded = -1;
        }
        return;
    }
    if (e->step == HEDDLE_LOOP_ENTER) {
        m->warp[e->warp].open++;
        m->warp[e->warp].recorded = e->loop;
    }
    m->warp[e->warp].lines = model_footprint(m, m->warp[e->warp].recorded, e->active);
    if (!m->detected)
        return;
    bool may_take_over = e->step == HEDDLE_LOOP_ENTER && model_lanes(e->active) > 2;
    if (i < 0 && may_take_over && m->sampled_count < m->loops) {
        i = (int)m->sampled_count++;
        m->sampled[i].loop = e->loop;
        m->sampled[i].warp = -1;
        m->sampled[i].locality = 0;
    }
    if (i >= 0 && m->sampled[i].warp < 0 && may_take_over)
        m->sampled[i].warp = (int)e->warp;
    if (i >= 0 && m->sampled[i].warp == (int)e->warp)
        model_ilrd_clear(m, e->warp);
}

static inline void model_issued(struct daws_model *m, const struct heddle_issue *e)
{
    if (e->instruction->flags & HEDDLE_L1D_LOAD && !m->warp[e->warp].open && model_any(m)) {
        m->warp[e->warp].recorded = model_closest(m, e->pc);
        m->warp[e->warp].lines = model_footprint(m, m->warp[e->warp].recorded, e->path);
    }
}

static inline void model_coalesced(struct daws_model *m, const struct heddle_coalesced *e)
{
    if (e->store || !e->through_l1 || !model_samples(m, e->warp, e->pc) || model_lanes(e->active) <= 2)
        return;
    int i = model_detector(m, e->pc);
    if (i < 0 && m->detector_count < m->detector_loads) {
        i = (int)m->detector_count++;
        m->detector[i].pc = e->pc;
        m->detector[i].count = 0;
    }
    if (i < 0)
        return;
    m->detector[i].count += e->accesses > 2 ? 1 : -1;
    if (m->detector[i].count > 3)
        m->detector[i].count = 3;
    if (m->detector[i].count < 0)
        m->detector[i].count = 0;
}

static inline void model_judge(struct daws_model *m, unsigned pc, bool local)
{
    int i = model_sampled(m, m->program->instructions[pc].loop), d = model_detector(m, pc);
    m->sampled[i].locality += local ? 1 : -1;
    if (m->sampled[i].locality > 511)
        m->sampled[i].locality = 511;
    if (m->sampled[i].locality < m->least)
        m->sampled[i].locality = m->least;
    if (m->sampled[i].locality > 0)
        model_classify(m, pc, d >= 0 && m->detector[d].count > 1);
}

static inline void model_access(struct daws_model *m, const struct heddle_l1_access *e)
{
    uint64_t line = e->address / (unsigned)m->line_bytes;
    if (e->outcome == HEDDLE_FAIL)
        return;
    if (e->store) {
        if (!e->local)
            model_tags_forget(&m->tags, line);
        return;
    }
    bool lost = e->outcome != HEDDLE_HIT && model_tags_has(&m->tags, e->warp, line);
    bool captured = e->outcome != HEDDLE_MISS && e->owner == (int)e->warp && e->owner_age == m->warp[e->warp].age;
    for (unsigned i = 0; i < m->warp[e->warp].missed_count; i++)
        captured &= m->warp[e->warp].missed[i] != line;
    m->vta_hits += lost;
    m->warp[e->warp].local |= lost || captured;
    if (e->outcome == HEDDLE_MISS)
        m->warp[e->warp].missed[m->warp[e->warp].missed_count++] = line;
    if (model_samples(m, e->warp, e->pc)) {
        if (m->by_access)
            model_judge(m, e->pc, lost || captured);
        else if (!e->left)
            model_judge(m, e->pc, m->warp[e->warp].local);
        model_ilrd_probe(m, e->warp, e->pc, line);
    }
    if (!e->left) {
        m->warp[e->warp].local = false;
        m->warp[e->warp].missed_count = 0;
    }
}

#endif

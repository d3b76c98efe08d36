/* What kinds of cores differ in: what is between the issue of an instruction and its result, and how the next
 * instruction of a warp comes into its buffer. A kind is one file, with its const struct core_kind NAME_kind, and one
 * row of core_kinds.def; docs/add-a-core-kind.md says how to add one.
 *
 * All kinds share the rest of the core. Memory instructions pass the collectors and the load/store unit on every kind.
 * A result is written in the cycle that the kind gives to sm_end_at (pipeline.h).
 *
 * The core asks the functions at the end of this file, and nothing else knows which kinds there are. The kind of most
 * machines, collectors, is compiled into them (collectors.h). */
#ifndef HEDDLE_SM_CORE_KIND_H
#define HEDDLE_SM_CORE_KIND_H

#include "sm/collectors.h"

struct core_kind {
    const struct core_code *code;                                     /* program.h */
    uint32_t units;                                                   /* it has the first ones of enum sm_unit */
    void *(*create)(struct arena *a, const struct sm_config *config); /* its state, c->kind_state; may be NULL */
    uint64_t (*free)(const struct sm *c); /* warps whose pipeline can take their next instruction */
    /* The next cycle in which a pipeline is free that is not free now. SM_NEVER means that the collectors say so. */
    uint64_t (*next)(const struct sm *c);
    /* The scheduler issues the instruction, which has not been executed yet, into a pipeline. */
    void (*start)(struct sm *c, uint32_t scheduler, uint32_t slot, uint16_t id, const struct sm_inst *in);
    uint64_t (*parts)(const struct sm *c); /* see struct sm_seen_pipes */

    /* The other functions may be NULL. */
    /* As free, after a warp of the scheduler has issued: c->issue.unit_free is the set before that. NULL means that
     * free is asked again. */
    uint64_t (*still_free)(const struct sm *c, uint32_t scheduler);
    /* Results of the warp are written now, into this set of banks (for slot 0). */
    void (*write)(struct sm *c, uint32_t slot, uint64_t banks);
    uint64_t (*first)(const struct sm *c); /* modulo schedulers: the one that is first, if they take turns */
    /* Puts the next instruction into the warp's buffer. NULL means that the front end fetches. */
    void (*fill_buffer)(struct sm *c, uint32_t slot);
    void (*before)(struct sm *c, uint32_t slot);                          /* an instruction issues */
    void (*after)(struct sm *c, uint32_t slot, const struct sm_inst *in); /* it has been executed */
    void (*pass_barrier)(struct sm *c, uint32_t slot);
};

#define CORE_KIND(name, help) extern const struct core_kind name##_kind;
#include "sm/core_kinds.def"

const struct core_kind *core_kind_of(const struct sm_config *config); /* core.c */

static inline uint64_t kind_free(const struct sm *c)
{
    return likely(c->has_collectors) ? collectors_free(c) : c->kind->free(c);
}

static inline uint64_t kind_still_free(const struct sm *c, uint32_t scheduler)
{
    if (unlikely(!c->has_collectors) && c->kind->still_free)
        return c->kind->still_free(c, scheduler);
    return kind_free(c);
}

static inline uint64_t kind_next(const struct sm *c) { return likely(c->has_collectors) ? SM_NEVER : c->kind->next(c); }

static inline void kind_start(struct sm *c, uint32_t scheduler, uint32_t slot, uint16_t id, const struct sm_inst *in)
{
    if (likely(c->has_collectors))
        collectors_start(c, scheduler, slot, id, in);
    else
        c->kind->start(c, scheduler, slot, id, in);
}

static inline void kind_write(struct sm *c, uint32_t slot, uint64_t banks)
{
    if (likely(c->has_collectors))
        collectors_write(c, slot, banks);
    else if (c->kind->write)
        c->kind->write(c, slot, banks);
}

static inline uint64_t kind_parts(const struct sm *c)
{
    return likely(c->has_collectors) ? collectors_parts(c) : c->kind->parts(c);
}

static inline uint64_t kind_first(const struct sm *c) { return likely(!c->kind->first) ? c->now : c->kind->first(c); }

static inline bool kind_fetches(const struct sm *c) { return likely(c->has_collectors) || !c->kind->fill_buffer; }

static inline void kind_fill_buffer(struct sm *c, uint32_t slot)
{
    if (!kind_fetches(c))
        c->kind->fill_buffer(c, slot);
}

static inline void kind_before(struct sm *c, uint32_t slot)
{
    if (unlikely(!c->has_collectors) && c->kind->before)
        c->kind->before(c, slot);
}

static inline void kind_after(struct sm *c, uint32_t slot, const struct sm_inst *in)
{
    if (unlikely(!c->has_collectors) && c->kind->after)
        c->kind->after(c, slot, in);
}

static inline void kind_pass_barrier(struct sm *c, uint32_t slot)
{
    if (c->kind->pass_barrier)
        c->kind->pass_barrier(c, slot);
}

#endif

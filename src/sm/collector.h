/* Operand collectors and register banks: between issue and the units, an instruction waits in a collector until each of
 * its register operands has been read (GPGPU-Sim's operand collector). Every register bank serves one access a cycle,
 * writes first; a collector receives one operand a cycle, or, where the machine says so, one from every bank. */
#ifndef HEDDLE_SM_COLLECTOR_H
#define HEDDLE_SM_COLLECTOR_H

#include "base/arena.h"
#include "base/likely.h"
#include "sm/banks.h"
#include "sm/config.h"

enum collector_kind { COLLECT_SP, COLLECT_SFU, COLLECT_MEM, COLLECT_KINDS };

/* A token for an instruction in flight: an index into the core's own table. */
typedef uint16_t inflight_id;

/* What the stages ask every cycle, read without a call; sets are masks of bits. It stands first in struct collector,
 * whose rest is opaque (collector.c). */
struct collector_head {
    uint64_t all, free, ready; /* collectors; those without an instruction; those with all operands */
    uint64_t room, wanted;   /* collectors of the kinds with room in OC/EX; of the kinds with an instruction in ID/OC */
    uint64_t asked, written; /* banks: with requests; written in this cycle */
    uint8_t accepts;         /* kinds: an ID/OC register is free */
    uint8_t offers;          /* kinds: an OC/EX register holds an instruction */
    uint64_t members[COLLECT_KINDS];  /* collectors of each kind */
    inflight_id front[COLLECT_KINDS]; /* of each kind that offers one: the oldest of its OC/EX registers */
};
struct collector;
static inline const struct collector_head *collector_head(const struct collector *c)
{
    return (const struct collector_head *)c;
}

struct collector *collector_create(struct arena *a, const struct sm_config *config);
/* Issue stage: pipeline registers between issue and the collectors (ID/OC). */
static inline bool collector_can_accept(const struct collector *c, enum collector_kind kind)
{
    return collector_head(c)->accepts >> kind & 1;
}
void collector_accept(struct collector *c, enum collector_kind kind, inflight_id id, struct collector_banks banks);
/* Writeback stage of the same cycle, before collector_cycle: the bank cannot be read this cycle. False (and nothing
 * done): already written this cycle. */
bool collector_write_bank(struct collector *c, uint32_t bank);
/* All of a set, already written or not. */
static inline void collector_write_banks(struct collector *c, uint64_t banks)
{
    ((struct collector_head *)c)->written |= banks;
}
/* One cycle, after the units have taken from the OC/EX registers and before issue: ready collectors go to their OC/EX
 * registers (at most ports a kind, round robin), then banks are read, then instructions move from the ID/OC registers
 * into free collectors (at most ports a kind); at the end the banks' writes of this cycle are forgotten. */
void collector_cycle(struct collector *c);
void collector_early_step(struct collector *c); /* the same, where the core's cycle has several: not the last of them */
/* OC/EX registers, taken by the units: the oldest instruction waiting, or false. */
static inline bool collector_offers(const struct collector *c, enum collector_kind kind)
{
    return collector_head(c)->offers >> kind & 1;
}
static inline bool collector_front(const struct collector *c, enum collector_kind kind, inflight_id *id)
{
    if (!collector_offers(c, kind))
        return false;
    *id = collector_head(c)->front[kind];
    return true;
}
void collector_take(struct collector *c, enum collector_kind kind);
/* Nothing in any register or collector, and no bank write of this cycle to forget. */
static inline bool collector_idle(const struct collector *c)
{
    const struct collector_head *h = collector_head(c);
    return ((h->all ^ h->free) | h->wanted | h->offers | h->written) == 0;
}
/* False: collector_cycle would do no more than forget the writes of the cycle (collector_forget_writes), as everything
 * inside waits for a unit. */
static inline bool collector_moves(const struct collector *c)
{
    const struct collector_head *h = collector_head(c);
    return ((h->ready & h->room) | (h->free & h->wanted) | h->asked) != 0;
}
/* Every collector of the kind holds an instruction, though the unit could be given one: they wait for operands. */
static inline bool collector_limits(const struct collector *c, enum collector_kind kind)
{
    const struct collector_head *h = collector_head(c);
    return !(h->free & h->members[kind]) && (h->room & h->members[kind]);
}
static inline void collector_forget_writes(struct collector *c) { ((struct collector_head *)c)->written = 0; }

#endif

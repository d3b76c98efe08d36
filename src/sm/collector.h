/* Operand collectors and register banks: between issue and the units, an instruction waits in a collector until each
 * of its register operands has been read (GPGPU-Sim's operand collector). Every register bank serves one access per
 * cycle, writes first. A collector receives one operand per cycle, or, where the machine says so, one from every
 * bank. */
#ifndef HEDDLE_SM_COLLECTOR_H
#define HEDDLE_SM_COLLECTOR_H

#include "base/arena.h"
#include "base/likely.h"
#include "sm/banks.h"
#include "sm/config.h"

enum collector_kind { COLLECT_SP, COLLECT_SFU, COLLECT_MEM, COLLECT_KINDS };

/* A token for an instruction in flight: an index into the core's own table. */
typedef uint16_t inflight_id;

/* The fields that the stages read every cycle, without a call; sets are masks of bits. They come first in struct
 * collector, which is otherwise opaque (collector.c). */
struct collector_head {
    uint64_t all;                     /* all collectors */
    uint64_t free;                    /* collectors without an instruction */
    uint64_t ready;                   /* collectors with all operands */
    uint64_t room;                    /* collectors of the kinds that have room in OC/EX */
    uint64_t wanted;                  /* collectors of the kinds that have an instruction in ID/OC */
    uint64_t asked;                   /* banks with requests */
    uint64_t written;                 /* banks written in this cycle */
    uint8_t accepts;                  /* kinds: an ID/OC register is free */
    uint8_t offers;                   /* kinds: an OC/EX register has an instruction */
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
/* Writeback stage of the same cycle, before collector_cycle: the bank cannot be read in this cycle. Returns false,
 * and does nothing, if the bank has been written in this cycle. */
bool collector_write_bank(struct collector *c, uint32_t bank);
/* Writes all banks of a set, whether or not they have been written in this cycle. */
static inline void collector_write_banks(struct collector *c, uint64_t banks)
{
    ((struct collector_head *)c)->written |= banks;
}
/* One cycle, after the units have taken from the OC/EX registers and before issue. Ready collectors go to their
 * OC/EX registers (at most `ports` per kind, round robin), then banks are read, then instructions move from the
 * ID/OC registers into free collectors (at most `ports` per kind). At the end the banks' writes of this cycle are
 * forgotten. */
void collector_cycle(struct collector *c);
/* One of several steps in a cycle of the core, but not the last of them. */
void collector_early_step(struct collector *c);
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
/* No instruction is in a register or collector, and there is no bank write of this cycle to forget. */
static inline bool collector_idle(const struct collector *c)
{
    const struct collector_head *h = collector_head(c);
    return ((h->all ^ h->free) | h->wanted | h->offers | h->written) == 0;
}
/* Returns false if collector_cycle would only forget the writes of the cycle (collector_forget_writes), because
 * every instruction inside waits for a unit. */
static inline bool collector_moves(const struct collector *c)
{
    const struct collector_head *h = collector_head(c);
    return ((h->ready & h->room) | (h->free & h->wanted) | h->asked) != 0;
}
/* Every collector of the kind has an instruction, although the unit could be given one: all of them wait for
 * operands. */
static inline bool collector_limits(const struct collector *c, enum collector_kind kind)
{
    const struct collector_head *h = collector_head(c);
    return !(h->free & h->members[kind]) && (h->room & h->members[kind]);
}
static inline void collector_forget_writes(struct collector *c) { ((struct collector_head *)c)->written = 0; }

#endif

/* One direction of the interconnect: a single-stage crossbar. A packet is cut into flits; an input sends one flit a cycle (times speedup) to the output that granted it, and an
 * output is held by a packet from its first flit to its last. Arbitration is iSLIP with one iteration: each free output grants one asking input from a rotating pointer, each input
 * accepts one grant from a rotating pointer. An input has one queue (one virtual channel): its first packet blocks those behind it.
 *
 * Time: a packet pushed in network cycle n sends its first flit in crossbar_cycle(n + 1) at the earliest, whether it was pushed before or after crossbar_cycle(n); a flit sent in cycle t has
 * arrived after crossbar_cycle(t + hop_cycles), and a packet can be taken when its last flit has. In an empty network a packet of k flits can be taken after
 * crossbar_cycle(n + hop_cycles + ceil(k / speedup)). Flits on their way already hold their place in the output's buffer, a packet taken gives back its places at once.
 * A packet larger than a buffer passes through it when nothing else is in it.
 *
 * Left out: routing and credit delays beyond hop_cycles. */
#ifndef HEDDLE_MEM_CROSSBAR_H
#define HEDDLE_MEM_CROSSBAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "mem/config.h"
#include "mem/packet.h"

/* in: pushed; out: arrived at an output, as whole packets; stalls: input cycles with a packet that could not move. */
struct crossbar_counters { uint64_t packets_in, packets_out, flits_in, flits_out, stalls; };

enum { CROSSBAR_PORTS_MOST = 256, CROSSBAR_WORDS = CROSSBAR_PORTS_MOST / 64 };

struct crossbar; /* opaque */

struct crossbar *crossbar_create(struct arena *a, const struct crossbar_config *config, uint32_t inputs, uint32_t outputs);
uint32_t crossbar_flits(const struct crossbar *x, uint32_t bytes);
/* An input is touched by its owner only: inputs may be pushed to, and outputs taken from, by several threads at once (each port by one), between two crossbar_cycle. */
bool crossbar_has_room(const struct crossbar *x, uint32_t input, uint32_t bytes);
void crossbar_push(struct crossbar *x, uint32_t input, uint32_t output, const struct packet *p, uint32_t bytes, uint64_t now);
/* One network cycle; skipped freely while crossbar_idle. */
void crossbar_cycle(struct crossbar *x, uint64_t now);
/* The packet that has wholly arrived at an output, or NULL. */
struct packet *crossbar_front(struct crossbar *x, uint32_t output);
void crossbar_pop(struct crossbar *x, uint32_t output);
bool crossbar_idle(const struct crossbar *x);                    /* nothing inside that still moves: queues empty but for packets that wait at outputs */
bool crossbar_empty(const struct crossbar *x);                   /* nothing at all */
uint64_t crossbar_waiting(const struct crossbar *x, uint64_t *words, uint32_t word_count); /* bit set of outputs with a packet to take, as words of 64; returns the first word */
const struct crossbar_counters *crossbar_counters(const struct crossbar *x); /* sums over inputs */

#endif

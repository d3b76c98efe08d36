/* Phases of a kernel (PAWS): maximal runs of instructions, in the order of the text, of which none reads what a load of
 * the same run brings. */
#ifndef HEDDLE_PTX_PHASES_H
#define HEDDLE_PTX_PHASES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* An instruction as the analysis sees it; registers are numbers below register_count. */
struct ptx_phase_step {
    uint32_t latency_cycles;
    bool load; /* takes long: what it writes ends the phase where it is read */
    const uint32_t *sources, *destinations;
    uint32_t source_count, destination_count;
};

struct ptx_phase {
    uint32_t number;      /* from 1 */
    uint32_t distance;    /* latencies from here to the end of the phase, both inclusive */
    uint32_t length;      /* of the whole phase */
    uint32_t next_length; /* of the one after it; 0: there is none */
    bool ends; /* the last instruction of its phase; the kernel's very last does not count, as in the report */
};

/* A load that reads the register it writes (ld r1, [r1]): its sources are looked at first, and it stays a load; or, as
 * in the report's own code, its destination is entered first, so that it begins a phase by itself and is forgotten. */
enum ptx_phase_order { PHASE_SOURCES_FIRST, PHASE_DESTINATION_FIRST, PHASE_ORDERS };

/* Fills out[count]; returns how many phases there are. */
uint32_t ptx_find_phases(const struct ptx_phase_step *steps, uint32_t count, uint32_t register_count,
                         enum ptx_phase_order order, struct ptx_phase *out);

#endif

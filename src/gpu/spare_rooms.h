/* Room for thread blocks (registers, shared and local memory) that one launch leaves to the next: programs launch the
 * same kernel over and over. Only a launch that would make the same room takes it over. Inside gpu/ only. */
#ifndef HEDDLE_GPU_SPARE_ROOMS_H
#define HEDDLE_GPU_SPARE_ROOMS_H

#include "gpu/launch.h"

/* Room for a block on a core: spare room where the launch fits it, else new room. */
struct exec_cta *spare_rooms_take(struct residency *r, struct exec_launch *l, uint32_t core, struct error *e);
/* The launch has ended, and leaves its room. */
void spare_rooms_leave(struct residency *r);
/* Frees spare room that the launch cannot use. */
void spare_rooms_free_others(struct gpu *g, const struct exec_launch *l);

#endif

/* Spare room for blocks: see spare_rooms.h. */
#include "gpu/spare_rooms.h"

#include <stdlib.h>
#include <string.h>

void gpu_spare_free(struct gpu *g)
{
    for (uint32_t i = 0; i < g->spare.count; i++)
        exec_cta_destroy(g->spare.blocks[i]);
    free(g->spare.blocks);
    g->spare = (struct gpu_spare){0};
}

static bool fits(const struct gpu_spare *s, const struct exec_launch *l)
{
    return s->image == l->image->id && s->kernel == l->kernel && memcmp(s->block, l->block, sizeof s->block) == 0 &&
           s->dynamic_shared_bytes == l->dynamic_shared_bytes && s->local_bytes == l->local_bytes;
}

void spare_rooms_leave(struct residency *r)
{
    const struct exec_launch *l = &r->launch;
    struct gpu_spare left = {.image = l->image->id,
                             .kernel = l->kernel,
                             .dynamic_shared_bytes = l->dynamic_shared_bytes,
                             .local_bytes = l->local_bytes,
                             .blocks = r->blocks.slots};
    memcpy(left.block, l->block, sizeof left.block);
    gpu_spare_free(r->gpu);
    for (uint32_t s = 0; s < r->blocks.slot_count; s++) /* close the gaps */
        if (r->blocks.slots[s])
            left.blocks[left.count++] = r->blocks.slots[s];
    r->gpu->spare = left;
    r->blocks.slots = NULL;
}

void spare_rooms_free_others(struct gpu *g, const struct exec_launch *l)
{
    if (!fits(&g->spare, l))
        gpu_spare_free(g);
}

struct exec_cta *spare_rooms_take(struct residency *r, struct exec_launch *l, uint32_t core, struct error *e)
{
    struct gpu_spare *spare = &r->gpu->spare;
    if (!spare->count || !fits(spare, l)) /* another launch has ended meanwhile, and left its own */
        return exec_cta_create(l, core, e);
    struct exec_cta *cta = spare->blocks[--spare->count];
    exec_cta_adopt(cta, l, core);
    return cta;
}

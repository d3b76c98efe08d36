/* Places a function's registers in its frame. PTX has as many registers as the compiler cared to name; two whose live
 * ranges do not touch share a place, so that a warp's frame is about as large as what is alive at once and stays in the
 * host's cache. */
#include "exec/control.h"
#include "exec/image_internal.h"

#include "ptx/cfg.h"

#include <stdlib.h>
#include <string.h>

enum { SCRATCH_BYTES = 512, CLASS_COUNT = 4 };
static const uint32_t class_bytes[CLASS_COUNT] = {4, 4 * WARP_LANES, 8 * WARP_LANES, 16 * WARP_LANES};

static int class_of(const struct ptx_reg *r)
{
    if (r->type == PTX_PRED)
        return 0;
    int bits = ptx_type_bits(r->type);
    return bits <= 32 ? 1 : bits <= 64 ? 2 : 3;
}

struct placement {
    uint32_t *slot; /* per register, within its class */
    uint32_t *free_slots[CLASS_COUNT];
    uint32_t free_count[CLASS_COUNT], slot_count[CLASS_COUNT];
};

static void take_slot(struct placement *p, const struct ptx_reg *r)
{
    int c = class_of(r);
    p->slot[r->index] = p->free_count[c] ? p->free_slots[c][--p->free_count[c]] : p->slot_count[c]++;
}

/* Registers in order of a key that is at most limit: a counting sort. */
static uint32_t *sort_by(struct arena *a, const uint32_t *key, uint32_t count, uint32_t limit, uint32_t *starts)
{
    uint32_t *order = arena_array(a, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        starts[(key[i] > limit ? limit : key[i]) + 1]++;
    for (uint32_t i = 0; i <= limit; i++)
        starts[i + 1] += starts[i];
    uint32_t *next = arena_array(a, uint32_t, limit + 1);
    memcpy(next, starts, (limit + 1) * sizeof *next);
    for (uint32_t i = 0; i < count; i++)
        order[next[key[i] > limit ? limit : key[i]]++] = i;
    return order;
}

/* One pass over the instructions: ranges that ended before give their slots back, ranges that begin take one. */
static void place_by_ranges(struct arena *scratch, struct placement *p, const struct ptx_function *f,
                            const struct ptx_liveness *live)
{
    uint32_t limit = f->inst_count; /* never mentioned: at the end, in a slot of its own */
    uint32_t *first_starts = arena_array(scratch, uint32_t, limit + 2),
             *last_starts = arena_array(scratch, uint32_t, limit + 2);
    uint32_t *by_first = sort_by(scratch, live->range_first, f->reg_count, limit, first_starts);
    uint32_t *by_last = sort_by(scratch, live->range_last, f->reg_count, limit, last_starts);
    for (uint32_t i = 0; i <= limit; i++) {
        for (uint32_t k = i ? last_starts[i - 1] : 0; i && k < last_starts[i]; k++) {
            const struct ptx_reg *r = f->regs[by_last[k]];
            int c = class_of(r);
            if (live->range_first[r->index] <= live->range_last[r->index])
                p->free_slots[c][p->free_count[c]++] = p->slot[r->index];
        }
        for (uint32_t k = first_starts[i]; k < first_starts[i + 1]; k++)
            take_slot(p, f->regs[by_first[k]]);
    }
}

void registers_place(struct exec_image *image, struct exec_function *f, const struct ptx_liveness *live)
{
    const struct ptx_function *ptx = f->ptx;
    struct arena scratch = {0};
    struct placement p = {.slot = arena_array(&scratch, uint32_t, ptx->reg_count + 1)};
    for (int c = 0; c < CLASS_COUNT; c++)
        p.free_slots[c] = arena_array(&scratch, uint32_t, ptx->reg_count + 1);
    place_by_ranges(&scratch, &p, ptx, live);

    uint64_t base[CLASS_COUNT], offset = SCRATCH_BYTES;
    for (int c = CLASS_COUNT - 1; c >= 0; c--) {
        base[c] = offset;
        offset += (uint64_t)p.slot_count[c] * class_bytes[c];
    }
    f->registers = arena_array(&image->arena, exec_ref, ptx->reg_count + 1);
    for (uint32_t i = 0; i < ptx->reg_count; i++) {
        int c = class_of(ptx->regs[i]);
        f->registers[i] = (exec_ref)(base[c] + (uint64_t)p.slot[i] * class_bytes[c]) | BANK_FRAME;
    }
    offset = offset < EXEC_MOST_REGISTERS_BYTES ? offset : EXEC_MOST_REGISTERS_BYTES; /* then the function is refused */
    f->frame_bytes = (uint32_t)(offset + 4 + 255) & ~255u;                            /* 4: the scratch predicate */
    f->scratch_pred = (exec_ref)offset;
    arena_free(&scratch);
}

void registers_copy_lanes(const struct exec_function *f, uint8_t *to, const uint8_t *from, uint32_t lanes)
{
    for (uint32_t i = 0; i < f->ptx->reg_count; i++) {
        uint32_t at = f->registers[i] & ~3u;
        int c = class_of(f->ptx->regs[i]);
        if (c == 0) {
            uint32_t *d = (uint32_t *)(to + at);
            *d = (*d & ~lanes) | (*(const uint32_t *)(from + at) & lanes);
            continue;
        }
        uint32_t bytes = c == 1 ? 4 : 8;
        for (uint32_t part = 0; part < class_bytes[c]; part += bytes * WARP_LANES) /* a 128-bit one is two of 64 */
            for (uint32_t left = lanes; left; left &= left - 1) {
                uint32_t lane = at + part + (uint32_t)__builtin_ctz(left) * bytes;
                memcpy(to + lane, from + lane, bytes);
            }
    }
}

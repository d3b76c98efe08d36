/* Values from another lane (PTX ISA 9.7.9: shfl, shfl.sync).
 *
 * Left out: waiting for lanes of the member mask that are elsewhere. The lanes that execute the instruction together
 * are the ones that exchange. A source lane that is not among them gives 0: the ISA leaves it open, and reductions of
 * fewer lanes than a warp count on it. */
#include "exec/decode.h"
#include "exec/lanes.h"

#include <string.h>

bool decode_shfl(struct decoder *d);

/* Source lane and whether it is in range, for a lane, its b and its c (clamp value in bits 0-4, segment mask in bits
 * 8-12). */
struct shuffle_source {
    int lane;
    bool in_range;
};

static inline struct shuffle_source clamp_source(int j, int lane, bool in_range)
{
    return (struct shuffle_source){in_range ? j : lane, in_range};
}

static inline int highest_lane(int lane, uint32_t c)
{
    int segment = (int)(c >> 8) & 31;
    return (lane & segment) | ((int)(c & 31) & ~segment);
}

static inline struct shuffle_source source_up(int lane, uint32_t b, uint32_t c)
{
    int j = lane - (int)(b & 31);
    return clamp_source(j, lane, j >= highest_lane(lane, c));
}

static inline struct shuffle_source source_down(int lane, uint32_t b, uint32_t c)
{
    int j = lane + (int)(b & 31);
    return clamp_source(j, lane, j <= highest_lane(lane, c));
}

static inline struct shuffle_source source_bfly(int lane, uint32_t b, uint32_t c)
{
    int j = lane ^ (int)(b & 31);
    return clamp_source(j, lane, j <= highest_lane(lane, c));
}

static inline struct shuffle_source source_idx(int lane, uint32_t b, uint32_t c)
{
    int segment = (int)(c >> 8) & 31;
    int j = (lane & segment) | ((int)(b & 31) & ~segment);
    return clamp_source(j, lane, j <= highest_lane(lane, c));
}

/* The lanes that are in range, and the values of all lanes aside: source and destination may be one register. A source
 * lane that does not take part gives 0. */
#define GATHER(mode)                                                                                      \
    static uint32_t gather_##mode(const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t mask, \
                                  uint32_t gathered[WARP_LANES])                                          \
    {                                                                                                     \
        uint32_t in_range = 0;                                                                            \
        for (int i = 0; i < WARP_LANES; i++) {                                                            \
            struct shuffle_source s = source_##mode(i, b[i], c[i]);                                       \
            gathered[i] = mask >> (s.lane & 31) & 1 ? a[s.lane & 31] : 0;                                 \
            in_range |= (uint32_t)s.in_range << i;                                                        \
        }                                                                                                 \
        return in_range;                                                                                  \
    }
GATHER(up)
GATHER(down)
GATHER(bfly)
GATHER(idx)

/* The same for a whole warp by one distance, as reductions and scans do it: b and c are the same in all lanes, and c
 * spans the warp. */

static uint32_t move_up(const uint32_t *a, uint32_t b, uint32_t gathered[WARP_LANES])
{
    memcpy(gathered, a, b * sizeof *a);
    memcpy(gathered + b, a, (WARP_LANES - b) * sizeof *a);
    return FULL_MASK << b;
}

static uint32_t move_down(const uint32_t *a, uint32_t b, uint32_t gathered[WARP_LANES])
{
    memcpy(gathered, a + b, (WARP_LANES - b) * sizeof *a);
    memcpy(gathered + WARP_LANES - b, a + WARP_LANES - b, b * sizeof *a);
    return FULL_MASK >> b;
}

static uint32_t move_bfly(const uint32_t *a, uint32_t b, uint32_t gathered[WARP_LANES])
{
    for (uint32_t i = 0; i < WARP_LANES; i++)
        gathered[i] = a[i ^ b];
    return FULL_MASK;
}

static uint32_t move_idx(const uint32_t *a, uint32_t b, uint32_t gathered[WARP_LANES])
{
    uint32_t v = a[b];
    for (int i = 0; i < WARP_LANES; i++)
        gathered[i] = v;
    return FULL_MASK;
}

static inline bool is_uniform(const uint32_t *b, const uint32_t *c, uint32_t span)
{
    uint32_t differences = 0, first = b[0];
    for (int i = 0; i < WARP_LANES; i++)
        differences |= (b[i] ^ first) | (c[i] ^ span);
    return !differences;
}

/* span: c of a shuffle over the whole warp */
#define SHUFFLE(mode, span)                                                                                         \
    static void shuffle_##mode(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                      \
    {                                                                                                               \
        uint32_t *d = lane_data(w, in->dst), gathered[WARP_LANES];                                                  \
        const uint32_t *a = lane_data(w, in->src[0]);                                                               \
        const uint32_t *b = lane_data(w, in->src[1]);                                                               \
        const uint32_t *c = lane_data(w, in->src[2]);                                                               \
        bool is_move = mask == FULL_MASK && is_uniform(b, c, span);                                                 \
        uint32_t in_range = is_move ? move_##mode(a, b[0] & 31, gathered) : gather_##mode(a, b, c, mask, gathered); \
        FOR_LANES(mask, d[i] = gathered[i]);                                                                        \
        if (in->sub[0])                                                                                             \
            write_pred(w, in->dst2, mask, in_range);                                                                \
    }
SHUFFLE(up, 0)
SHUFFLE(down, 31)
SHUFFLE(bfly, 31)
SHUFFLE(idx, 31)

/* d or d|p */
static bool decode_result(struct decoder *d)
{
    const struct ptx_operand *o = decode_operand(d, 0);
    if (o->kind != PTX_OPERAND_PAIR)
        return decode_dst_of(d, o, PTX_B32, &d->out->dst);
    d->out->sub[0] = 1;
    return decode_dst_of(d, &o->elements[0], PTX_B32, &d->out->dst) &&
           decode_pred_dst(d, &o->elements[1], &d->out->dst2);
}

bool decode_shfl(struct decoder *d)
{
    static const enum ptx_modifier modes[] = {PTX_MOD_UP, PTX_MOD_DOWN, PTX_MOD_BFLY, PTX_MOD_IDX};
    static exec_handler *const handlers[] = {shuffle_up, shuffle_down, shuffle_bfly, shuffle_idx};
    bool sync = decode_take(d, PTX_MOD_SYNC);
    int mode = decode_take_one(d, modes, 4);
    if (mode < 0)
        return decode_wrong(d, NULL, "shfl needs one of .up, .down, .bfly and .idx");
    if (d->in->type_count != 1 || decode_type(d, 0) != PTX_B32)
        return decode_wrong(d, NULL, "shfl moves .b32 only");
    d->out->fn = handlers[mode];
    return decode_count(d, sync ? 5 : 4, sync ? 5 : 4) && decode_result(d) &&
           decode_src(d, 1, PTX_B32, &d->out->src[0]) && decode_src(d, 2, PTX_B32, &d->out->src[1]) &&
           decode_src(d, 3, PTX_B32, &d->out->src[2]) && (!sync || decode_src(d, 4, PTX_B32, &d->out->src[3]));
}

/* Values from another lane (PTX ISA 9.7.9: shfl, shfl.sync).
 *
 * Left out: waiting for lanes of the member mask that are elsewhere. The lanes that execute the instruction together are the
 * ones that exchange. A source lane that is not among them gives 0: the ISA leaves it open, and reductions of fewer lanes than a warp count on it. */
#include "exec/decode.h"
#include "exec/lanes.h"

bool decode_shfl(struct decoder *d);

/* Source lane and whether it is in range, for a lane, its b and its c (clamp value in bits 0-4, segment mask in bits 8-12). */
struct shuffle_source { int lane; bool in_range; };

static inline struct shuffle_source clamp_source(int j, int lane, bool in_range)
{
    return (struct shuffle_source){ in_range ? j : lane, in_range };
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

/* The result is gathered aside: source and destination may be one register. */
#define SHUFFLE(mode)                                                                          \
    static void shuffle_##mode(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) \
    {                                                                                          \
        uint32_t *d = lane_data(w, in->dst), gathered[WARP_LANES], in_range = 0;               \
        const uint32_t *a = lane_data(w, in->src[0]);                                          \
        const uint32_t *b = lane_data(w, in->src[1]);                                          \
        const uint32_t *c = lane_data(w, in->src[2]);                                          \
        for (int i = 0; i < WARP_LANES; i++) {                                                 \
            struct shuffle_source s = source_##mode(i, b[i], c[i]);                            \
            gathered[i] = mask >> (s.lane & 31) & 1 ? a[s.lane & 31] : 0;                      \
            in_range |= (uint32_t)s.in_range << i;                                             \
        }                                                                                      \
        FOR_LANES(mask, d[i] = gathered[i]);                                                   \
        if (in->sub[0])                                                                        \
            write_pred(w, in->dst2, mask, in_range);                                           \
    }
SHUFFLE(up)
SHUFFLE(down)
SHUFFLE(bfly)
SHUFFLE(idx)

/* d or d|p */
static bool decode_result(struct decoder *d)
{
    const struct ptx_operand *o = decode_operand(d, 0);
    if (o->kind != PTX_OPERAND_PAIR)
        return decode_dst_of(d, o, PTX_B32, &d->out->dst);
    d->out->sub[0] = 1;
    return decode_dst_of(d, &o->elements[0], PTX_B32, &d->out->dst) && decode_pred_dst(d, &o->elements[1], &d->out->dst2);
}

bool decode_shfl(struct decoder *d)
{
    static const enum ptx_modifier modes[] = { PTX_MOD_UP, PTX_MOD_DOWN, PTX_MOD_BFLY, PTX_MOD_IDX };
    static exec_handler *const handlers[] = { shuffle_up, shuffle_down, shuffle_bfly, shuffle_idx };
    bool sync = decode_take(d, PTX_MOD_SYNC);
    int mode = decode_take_one(d, modes, 4);
    if (mode < 0)
        return decode_wrong(d, NULL, "shfl needs one of .up, .down, .bfly and .idx");
    if (d->in->type_count != 1 || decode_type(d, 0) != PTX_B32)
        return decode_wrong(d, NULL, "shfl moves .b32 only");
    d->out->fn = handlers[mode];
    return decode_count(d, sync ? 5 : 4, sync ? 5 : 4) && decode_result(d) && decode_src(d, 1, PTX_B32, &d->out->src[0]) &&
           decode_src(d, 2, PTX_B32, &d->out->src[1]) && decode_src(d, 3, PTX_B32, &d->out->src[2]) &&
           (!sync || decode_src(d, 4, PTX_B32, &d->out->src[3]));
}

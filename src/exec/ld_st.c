/* ld, ldu, st (PTX ISA 9.7.9: data movement), and the instructions that only advise the memory system: prefetch,
 * discard, policies, fences.
 *
 * A load or store of a warp is: the lanes' addresses, one check of all of them (access.c), then one loop per vector
 * element; a full warp whose lanes access memory at one distance from each other, as most do, is checked and moved as a
 * row, or as two. There is one handler for each pair of memory type and register width. Cache operators, eviction
 * priorities, scopes and orderings do not change values: memory is coherent, and a warp's accesses happen in program
 * order. What the host may look at meanwhile moves as a whole (ld_whole, st_whole). */
#include "exec/access.h"
#include "exec/decode.h"
#include "exec/store_value.h"

enum { MAX_ELEMENTS = 8, MAX_VECTOR_BYTES = STORE_VALUE_BYTES };

/* One ld or st, decoded. */
struct transfer {
    struct access_address address;
    exec_ref refs[MAX_ELEMENTS];
    uint8_t count, element_bytes, bytes; /* bytes: of all elements, and the alignment asked for */
    uint8_t reg_bits;
    bool is_signed, meets_host, is_store;
};

static const uint64_t *locate(struct exec_warp *w, const struct transfer *t, uint32_t mask, bool is_store,
                              uint64_t hosts[WARP_LANES])
{
    access_addresses(w, &t->address, mask);
    return access_locate(w, (enum ptx_space)t->address.space, mask, t->bytes, t->bytes, is_store, hosts);
}

/* The one address of a load whose lanes all read the same place: kernel parameters and named constants. */
static const uint8_t *locate_uniform(struct exec_warp *w, const struct transfer *t, uint32_t mask)
{
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    uint64_t at = *LANES_OF(uint64_t, w, t->address.base) + (uint64_t)t->address.offset;
    const uint8_t *p;
    enum ptx_space space = (enum ptx_space)t->address.space;
    if (space == PTX_SPACE_PARAM) {
        p = at < w->launch->params_bytes && t->bytes <= w->launch->params_bytes - at
                ? memory_pointer(w->launch->params + at)
                : NULL;
        at += w->launch->params;
    } else {
        p = access_find(w, space, lane, at, t->bytes, false);
    }
    w->addr[lane] = at;
    access_note(w, space, 1u << lane, t->bytes, false);
    if (at % t->bytes) {
        access_misaligned(w, lane, at, t->bytes, t->bytes, false);
        return NULL;
    }
    if (!p)
        access_fault(w, space, lane, at, t->bytes, false);
    return p;
}

/* MEMORY: type in memory, sign included; WIDE: the register's own type; REG: its lanes. */
#define LOAD(name, MEMORY, WIDE, REG)                                                                             \
    static inline                                                                                                 \
        __attribute__((always_inline)) void name##_lanes(REG *d, const uint8_t *first, uint64_t step, int lanes)  \
    {                                                                                                             \
        MEMORY v;                                                                                                 \
        if (step == 0) {                                                                                          \
            memcpy(&v, first, sizeof v);                                                                          \
            VECTOR_LOOP for (int i = 0; i < lanes; i++) d[i] = (REG)(WIDE)v;                                      \
        } else if (step == sizeof v) {                                                                            \
            const MEMORY *from = (const MEMORY *)first;                                                           \
            VECTOR_LOOP for (int i = 0; i < lanes; i++) d[i] = (REG)(WIDE)from[i];                                \
        } else {                                                                                                  \
            for (int i = 0; i < lanes; i++, first += step) {                                                      \
                memcpy(&v, first, sizeof v);                                                                      \
                d[i] = (REG)(WIDE)v;                                                                              \
            }                                                                                                     \
        }                                                                                                         \
    }                                                                                                             \
    static void name##_row(REG *d, const struct access_row *row, uint64_t skip)                                   \
    {                                                                                                             \
        if (row->first[1] == row->first[0] + ROW_LANES * row->step_bytes) {                                       \
            name##_lanes(d, row->first[0] + skip, row->step_bytes, WARP_LANES);                                   \
            return;                                                                                               \
        }                                                                                                         \
        name##_lanes(d, row->first[0] + skip, row->step_bytes, ROW_LANES);                                        \
        name##_lanes(d + ROW_LANES, row->first[1] + skip, row->step_bytes, ROW_LANES);                            \
    }                                                                                                             \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                              \
    {                                                                                                             \
        const struct transfer *t = in->extra;                                                                     \
        struct access_row row;                                                                                    \
        if (mask == FULL_MASK && access_find_row(w, &t->address, t->bytes, false, &row)) {                        \
            for (uint32_t n = 0; n < t->count; n++)                                                               \
                name##_row(lane_data(w, t->refs[n]), &row, n * sizeof(MEMORY));                                   \
            return;                                                                                               \
        }                                                                                                         \
        uint64_t hosts[WARP_LANES];                                                                               \
        const uint64_t *from = locate(w, t, mask, false, hosts);                                                  \
        for (uint32_t n = 0; from && n < t->count; n++) {                                                         \
            REG *d = lane_data(w, t->refs[n]);                                                                    \
            uint64_t skip = n * sizeof(MEMORY);                                                                   \
            FOR_LANES(mask, MEMORY v; memcpy(&v, memory_pointer(from[i] + skip), sizeof v); d[i] = (REG)(WIDE)v); \
        }                                                                                                         \
    }                                                                                                             \
    static void name##_uniform(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                    \
    {                                                                                                             \
        const struct transfer *t = in->extra;                                                                     \
        const uint8_t *from = locate_uniform(w, t, mask);                                                         \
        for (uint32_t n = 0; from && n < t->count; n++) {                                                         \
            REG *d = lane_data(w, t->refs[n]);                                                                    \
            MEMORY v;                                                                                             \
            memcpy(&v, from + n * sizeof v, sizeof v);                                                            \
            FOR_LANES(mask, d[i] = (REG)(WIDE)v);                                                                 \
        }                                                                                                         \
    }

LOAD(ld_u8_32, uint8_t, uint32_t, uint32_t)
LOAD(ld_u8_64, uint8_t, uint64_t, uint64_t)
LOAD(ld_s8_16, int8_t, uint16_t, uint32_t)
LOAD(ld_s8_32, int8_t, uint32_t, uint32_t)
LOAD(ld_s8_64, int8_t, uint64_t, uint64_t)
LOAD(ld_u16_32, uint16_t, uint32_t, uint32_t)
LOAD(ld_u16_64, uint16_t, uint64_t, uint64_t)
LOAD(ld_s16_32, int16_t, uint32_t, uint32_t)
LOAD(ld_s16_64, int16_t, uint64_t, uint64_t)
LOAD(ld_u32_32, uint32_t, uint32_t, uint32_t)
LOAD(ld_u32_64, uint32_t, uint64_t, uint64_t)
LOAD(ld_s32_64, int32_t, uint64_t, uint64_t)
LOAD(ld_u64_64, uint64_t, uint64_t, uint64_t)

/* 128-bit registers: low words, then high words; a narrower value is extended. */
static void ld_128(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct transfer *t = in->extra;
    uint64_t hosts[WARP_LANES];
    const uint64_t *from = locate(w, t, mask, false, hosts);
    for (uint32_t n = 0; from && n < t->count; n++) {
        uint64_t *low = lane_data(w, t->refs[n]), *high = low + WARP_LANES;
        FOR_EACH_LANE(mask, i) {
            uint64_t v[2] = {0, 0};
            memcpy(v, memory_pointer(from[i] + n * t->element_bytes), t->element_bytes);
            if (t->is_signed && t->element_bytes < 16) {
                int shift = 64 - 8 * t->element_bytes;
                v[0] = (uint64_t)((int64_t)(v[0] << shift) >> shift);
                v[1] = (uint64_t)((int64_t)v[0] >> 63);
            }
            low[i] = v[0];
            high[i] = v[1];
        }
    }
}

/* Any store, through access_write. A narrow store is the low bytes of the register. */
static void store_slowly(struct exec_warp *w, const struct transfer *t, uint32_t mask, const uint64_t *to)
{
    for (uint32_t n = 0; n < t->count; n++) {
        const uint32_t *lanes32 = lane_data(w, t->refs[n]);
        const uint64_t *lanes64 = lane_data(w, t->refs[n]);
        FOR_EACH_LANE(mask, i) {
            uint64_t v[2] = {t->reg_bits <= 32 ? lanes32[i] : lanes64[i],
                             t->reg_bits == 128 ? lanes64[WARP_LANES + i] : 0};
            access_write(w, memory_pointer(to[i] + n * t->element_bytes), v, t->element_bytes);
        }
    }
}

void store_values(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                  uint8_t out[WARP_LANES][STORE_VALUE_BYTES])
{
    const struct transfer *t = in->extra;
    for (uint32_t n = 0; n < t->count; n++) {
        const uint32_t *lanes32 = lane_data(w, t->refs[n]);
        const uint64_t *lanes64 = lane_data(w, t->refs[n]);
        FOR_EACH_LANE(mask, i) {
            uint64_t v[2] = {t->reg_bits <= 32 ? lanes32[i] : lanes64[i],
                             t->reg_bits == 128 ? lanes64[WARP_LANES + i] : 0};
            memcpy(out[i] + n * t->element_bytes, v, t->element_bytes);
        }
    }
}

#define STORE(name, MEMORY, REG)                                                                                 \
    static inline                                                                                                \
        __attribute__((always_inline)) void name##_lanes(const REG *s, uint8_t *first, uint64_t step, int lanes) \
    {                                                                                                            \
        if (step == sizeof(MEMORY)) {                                                                            \
            MEMORY *to = (MEMORY *)first;                                                                        \
            VECTOR_LOOP for (int i = 0; i < lanes; i++) to[i] = (MEMORY)s[i];                                    \
            return;                                                                                              \
        }                                                                                                        \
        for (int i = 0; i < lanes; i++, first += step) {                                                         \
            MEMORY v = (MEMORY)s[i];                                                                             \
            memcpy(first, &v, sizeof v);                                                                         \
        }                                                                                                        \
    }                                                                                                            \
    static void name##_row(const REG *s, const struct access_row *row, uint64_t skip)                            \
    {                                                                                                            \
        if (row->first[1] == row->first[0] + ROW_LANES * row->step_bytes) {                                      \
            name##_lanes(s, row->first[0] + skip, row->step_bytes, WARP_LANES);                                  \
            return;                                                                                              \
        }                                                                                                        \
        name##_lanes(s, row->first[0] + skip, row->step_bytes, ROW_LANES);                                       \
        name##_lanes(s + ROW_LANES, row->first[1] + skip, row->step_bytes, ROW_LANES);                           \
    }                                                                                                            \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)                             \
    {                                                                                                            \
        const struct transfer *t = in->extra;                                                                    \
        struct access_row row;                                                                                   \
        if (mask == FULL_MASK && !w->launch->watched && access_find_row(w, &t->address, t->bytes, true, &row)) { \
            for (uint32_t n = 0; n < t->count; n++)                                                              \
                name##_row(lane_data(w, t->refs[n]), &row, n * sizeof(MEMORY));                                  \
            return;                                                                                              \
        }                                                                                                        \
        uint64_t hosts[WARP_LANES];                                                                              \
        const uint64_t *to = locate(w, t, mask, true, hosts);                                                    \
        if (to && w->launch->watched) {                                                                          \
            store_slowly(w, t, mask, to);                                                                        \
            return;                                                                                              \
        }                                                                                                        \
        for (uint32_t n = 0; to && n < t->count; n++) {                                                          \
            const REG *s = lane_data(w, t->refs[n]);                                                             \
            uint64_t skip = n * sizeof(MEMORY);                                                                  \
            if (mask == FULL_MASK) /* in the order of the lanes: of several at one place the last one stays */   \
                for (int i = 0; i < WARP_LANES; i++) {                                                           \
                    MEMORY v = (MEMORY)s[i];                                                                     \
                    memcpy(memory_pointer(to[i] + skip), &v, sizeof v);                                          \
                }                                                                                                \
            else                                                                                                 \
                FOR_EACH_LANE(mask, i) {                                                                         \
                    MEMORY v = (MEMORY)s[i];                                                                     \
                    memcpy(memory_pointer(to[i] + skip), &v, sizeof v);                                          \
                }                                                                                                \
        }                                                                                                        \
    }

STORE(st_8_32, uint8_t, uint32_t)
STORE(st_8_64, uint8_t, uint64_t)
STORE(st_16_32, uint16_t, uint32_t)
STORE(st_16_64, uint16_t, uint64_t)
STORE(st_32_32, uint32_t, uint32_t)
STORE(st_32_64, uint32_t, uint64_t)
STORE(st_64_64, uint64_t, uint64_t)

static void st_128(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct transfer *t = in->extra;
    uint64_t hosts[WARP_LANES];
    const uint64_t *to = locate(w, t, mask, true, hosts);
    if (to)
        store_slowly(w, t, mask, to);
}

static uint64_t in_register(const struct transfer *t, uint64_t v)
{
    return t->reg_bits < 64 ? v & ((1ull << t->reg_bits) - 1) : v;
}

/* Loads and stores that are .volatile, .mmio or of scope .sys: threads of the host may use the same place while the
 * kernel runs. Each element moves as a whole, and whoever sees a store sees those before it. Lanes that follow each
 * other at one place load it once. */
static uint64_t load_whole(const struct transfer *t, const void *from)
{
    uint64_t v = memory_read_whole(from, t->element_bytes);
    int above = 64 - 8 * t->element_bytes;
    return in_register(t, t->is_signed ? (uint64_t)((int64_t)(v << above) >> above) : v);
}

static void ld_whole(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct transfer *t = in->extra;
    uint64_t hosts[WARP_LANES];
    const uint64_t *from = locate(w, t, mask, false, hosts);
    for (uint32_t n = 0; from && n < t->count; n++) {
        uint32_t *lanes32 = lane_data(w, t->refs[n]);
        uint64_t *lanes64 = lane_data(w, t->refs[n]), at = 0, v = 0;
        FOR_EACH_LANE(mask, i) {
            if (from[i] != at)
                v = load_whole(t, memory_pointer(from[i] + n * t->element_bytes));
            at = from[i];
            if (t->reg_bits <= 32)
                lanes32[i] = (uint32_t)v;
            else
                lanes64[i] = v;
        }
    }
}

static void st_whole(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct transfer *t = in->extra;
    uint64_t hosts[WARP_LANES];
    const uint64_t *to = locate(w, t, mask, true, hosts);
    if (to && w->launch->watched) {
        store_slowly(w, t, mask, to);
        return;
    }
    for (uint32_t n = 0; to && n < t->count; n++) {
        const uint32_t *lanes32 = lane_data(w, t->refs[n]);
        const uint64_t *lanes64 = lane_data(w, t->refs[n]);
        FOR_EACH_LANE(mask, i)
            memory_write_whole(memory_pointer(to[i] + n * t->element_bytes),
                               t->reg_bits <= 32 ? lanes32[i] : lanes64[i], t->element_bytes);
    }
}

/* What the host can reach; asked before the modifiers are taken. */
static bool meets_host(const struct decoder *d, enum ptx_space space)
{
    return (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_NONE) &&
           (decode_has(d, PTX_MOD_VOLATILE) || decode_has(d, PTX_MOD_MMIO) || decode_has(d, PTX_MOD_SYS));
}

static bool pick_load(struct decoder *d, const struct transfer *t)
{
    static const struct {
        uint8_t bytes, reg_bits; /* reg_bits: up to */
        bool is_signed;
        exec_handler *each, *uniform;
    } loads[] = {
        /* a signed value in a register of its own width has nothing above it: it is read as unsigned */
        {1, 8, true, ld_u8_32, ld_u8_32_uniform},     {1, 16, true, ld_s8_16, ld_s8_16_uniform},
        {1, 32, true, ld_s8_32, ld_s8_32_uniform},    {1, 64, true, ld_s8_64, ld_s8_64_uniform},
        {2, 16, true, ld_u16_32, ld_u16_32_uniform},  {2, 32, true, ld_s16_32, ld_s16_32_uniform},
        {2, 64, true, ld_s16_64, ld_s16_64_uniform},  {4, 32, true, ld_u32_32, ld_u32_32_uniform},
        {4, 64, true, ld_s32_64, ld_s32_64_uniform},  {8, 64, true, ld_u64_64, ld_u64_64_uniform},
        {1, 32, false, ld_u8_32, ld_u8_32_uniform},   {1, 64, false, ld_u8_64, ld_u8_64_uniform},
        {2, 32, false, ld_u16_32, ld_u16_32_uniform}, {2, 64, false, ld_u16_64, ld_u16_64_uniform},
        {4, 32, false, ld_u32_32, ld_u32_32_uniform}, {4, 64, false, ld_u32_64, ld_u32_64_uniform},
        {8, 64, false, ld_u64_64, ld_u64_64_uniform},
    };
    bool uniform = t->address.is_constant && t->address.base_bits == 64 &&
                   (t->address.kernel_param || t->address.space == PTX_SPACE_CONST);
    if (t->reg_bits == 128) {
        d->out->fn = ld_128;
        return true;
    }
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        if (loads[i].bytes == t->element_bytes && loads[i].is_signed == t->is_signed &&
            t->reg_bits <= loads[i].reg_bits) {
            d->out->fn = t->meets_host ? ld_whole : uniform ? loads[i].uniform : loads[i].each;
            return true;
        }
    return decode_wrong(d, NULL, "%s: the register is narrower than the value", d->in->spelling);
}

static bool pick_store(struct decoder *d, const struct transfer *t)
{
    bool wide = t->reg_bits > 32;
    if (t->meets_host && t->reg_bits < 128) {
        d->out->fn = st_whole;
        return true;
    }
    switch (t->reg_bits == 128 ? 16 : t->element_bytes) {
    case 1: d->out->fn = wide ? st_8_64 : st_8_32; return true;
    case 2: d->out->fn = wide ? st_16_64 : st_16_32; return true;
    case 4: d->out->fn = wide ? st_32_64 : st_32_32; return true;
    case 8: d->out->fn = st_64_64; return true;
    default: d->out->fn = st_128; return true;
    }
}

static int take_vector(struct decoder *d)
{
    return decode_take(d, PTX_MOD_V2) ? 2 : decode_take(d, PTX_MOD_V4) ? 4 : decode_take(d, PTX_MOD_V8) ? 8 : 1;
}

/* .b8 to .b128, .u8 to .u64, .s8 to .s64, .f32, .f64 */
static bool is_transfer_type(enum ptx_type t) { return (t >= PTX_B8 && t <= PTX_S64) || t == PTX_F32 || t == PTX_F64; }

static bool element(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, bool is_store,
                    struct transfer *t, int n)
{
    int reg_bits;
    bool good = is_store ? decode_src_wide(d, o, type, &t->refs[n], &reg_bits)
                         : decode_dst_wide(d, o, type, &t->refs[n], &reg_bits);
    if (!good || o->kind == PTX_OPERAND_SINK)
        return good && (!is_store || decode_wrong(d, o, "%s: nothing to store", d->in->spelling));
    if (t->reg_bits && t->reg_bits != reg_bits && (t->reg_bits > 32 || reg_bits > 32))
        return decode_wrong(d, o, "%s: the registers of a vector must be equally wide", d->in->spelling);
    if (reg_bits > t->reg_bits)
        t->reg_bits = (uint8_t)reg_bits;
    return true;
}

/* The register operand: one, or as many in braces as the vector has elements. */
static bool decode_elements(struct decoder *d, const struct ptx_operand *o, enum ptx_type type, bool is_store,
                            struct transfer *t)
{
    if (o && o->kind == PTX_OPERAND_VECTOR) {
        if (o->element_count != t->count)
            return decode_wrong(d, o, "%s: %d registers are needed here, %u given", d->in->spelling, t->count,
                                o->element_count);
        for (int n = 0; n < t->count; n++)
            if (!element(d, &o->elements[n], type, is_store, t, n))
                return false;
    } else if (t->count > 1) {
        return decode_wrong(d, o, "%s: a vector {...} of %d registers is needed here", d->in->spelling, t->count);
    } else if (o && o->kind == PTX_OPERAND_SINK) {
        return decode_wrong(d, o, "%s: a register is needed here", d->in->spelling);
    } else if (!o || !element(d, o, type, is_store, t, 0)) {
        return o ? false : decode_count(d, 2, 3);
    }
    if (t->reg_bits == 0) /* only sinks */
        t->reg_bits = (uint8_t)ptx_type_bits(type);
    return true;
}

/* The last operand of an access with .L2::cache_hint: a policy, which has no effect here but must be well formed. */
static bool decode_cache_policy(struct decoder *d, int index)
{
    exec_ref unused;
    if (!decode_take(d, PTX_MOD_L2_CACHE_HINT))
        return decode_count(d, index, index);
    return decode_count(d, index + 1, index + 1) && decode_src(d, index, PTX_B64, &unused);
}

static bool decode_transfer(struct decoder *d, bool is_store)
{
    struct transfer *t = decode_alloc(d, sizeof *t);
    enum ptx_space space = decode_take_space(d);
    enum ptx_type type = decode_type(d, 0);
    t->count = (uint8_t)take_vector(d);
    t->meets_host = meets_host(d, space);
    t->is_store = is_store;
    decode_take_memory_hints(d);
    if (d->in->type_count != 1 || !is_transfer_type(type))
        return decode_wrong(d, NULL, "%s: one type of .b8 to .b128, .u8 to .u64, .s8 to .s64, .f32 or .f64 is needed",
                            d->in->spelling);
    t->element_bytes = (uint8_t)(ptx_type_bits(type) / 8);
    t->is_signed = ptx_type_is_signed(type);
    int bytes = t->element_bytes * t->count;
    if (bytes > MAX_VECTOR_BYTES || (bytes > 16 && (t->count == 2 || t->element_bytes < 4)) ||
        (t->count == 8 && t->element_bytes != 4))
        return decode_wrong(d, NULL, "%s: no such vector", d->in->spelling);
    if (bytes > 16 && space != PTX_SPACE_GLOBAL) /* the pipelines of the other spaces take 16 bytes per lane */
        return decode_wrong(d, NULL, "%s: vectors of 32 bytes are for .global only", d->in->spelling);
    t->bytes = (uint8_t)bytes;
    return decode_cache_policy(d, 2) &&
           access_decode_address(d, decode_operand(d, is_store ? 0 : 1), space, &t->address) &&
           decode_elements(d, decode_operand(d, is_store ? 1 : 0), type, is_store, t) && ((d->out->extra = t), true) &&
           (is_store ? pick_store(d, t) : pick_load(d, t));
}

bool decode_ld(struct decoder *d)
{
    if (decode_has(d, PTX_MOD_NC) && !decode_has(d, PTX_MOD_GLOBAL))
        return decode_wrong(d, NULL, "%s: .nc loads are .global", d->in->spelling);
    return decode_transfer(d, false);
}

bool decode_st_async(struct decoder *d); /* mbarrier.c */

bool decode_st(struct decoder *d)
{
    if (decode_has(d, PTX_MOD_ASYNC))
        return decode_st_async(d);
    if (decode_has(d, PTX_MOD_BULK))
        return decode_fail(d, "bulk stores are not implemented");
    if (decode_has(d, PTX_MOD_CONST) || decode_has(d, PTX_MOD_NC))
        return decode_wrong(d, NULL, "%s: no such store", d->in->spelling);
    if (decode_has(d, PTX_MOD_PARAM) && decode_param_is_kernel(d, decode_operand(d, 0)))
        return decode_wrong(d, decode_operand(d, 0), "a kernel's parameters cannot be written");
    return decode_transfer(d, true);
}

static void no_effect(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) { (void)w, (void)in, (void)mask; }

/* prefetch{.space}.level [a]; prefetchu.L1 [a]; applypriority{.global}.L2::evict_normal [a], size; discard{.global}.L2
 * [a], size. Addresses that are not mapped are no error for them. discard may leave anything behind, what was there
 * included. */
bool decode_prefetch(struct decoder *d)
{
    static const enum ptx_modifier levels[] = {PTX_MOD_L1, PTX_MOD_L2, PTX_MOD_L2_EVICT_LAST, PTX_MOD_L2_EVICT_NORMAL,
                                               PTX_MOD_TENSORMAP};
    struct access_address unused;
    bool sized = d->in->opcode == PTX_OP_applypriority || d->in->opcode == PTX_OP_discard;
    enum ptx_space space = decode_take_space(d);
    int64_t size;
    if (space != PTX_SPACE_NONE && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_LOCAL && space != PTX_SPACE_CONST &&
        space != PTX_SPACE_PARAM)
        return decode_wrong(d, NULL, "%s: not in this space", d->in->spelling);
    if (decode_take_one(d, levels, 5) < 0)
        return decode_wrong(d, NULL, "%s: a cache level is needed (.L1, .L2)", d->in->spelling);
    if (!decode_count(d, sized ? 2 : 1, sized ? 2 : 1) ||
        !access_decode_address(d, decode_operand(d, 0), space, &unused))
        return false;
    if (sized && (!decode_immediate(d, 1, &size) || size != 128))
        return decode_wrong(d, decode_operand(d, 1), "%s: the size must be 128", d->in->spelling);
    d->out->fn = no_effect;
    return true;
}

static void zero_policy(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t *d = lane_data(w, in->dst);
    FOR_LANES(mask, d[i] = 0);
}

/* A policy is an opaque number that accesses carry along. */
bool decode_createpolicy(struct decoder *d)
{
    static const enum ptx_modifier primary[] = {PTX_MOD_L2_EVICT_LAST, PTX_MOD_L2_EVICT_NORMAL, PTX_MOD_L2_EVICT_FIRST,
                                                PTX_MOD_L2_EVICT_UNCHANGED};
    exec_ref unused;
    bool fractional = decode_take(d, PTX_MOD_FRACTIONAL), range = !fractional && decode_take(d, PTX_MOD_RANGE);
    if (!fractional && !range && decode_take(d, PTX_MOD_CVT))
        decode_take(d, PTX_MOD_L2);
    decode_take(d, PTX_MOD_GLOBAL);
    for (int i = 0; i < 4; i++)
        decode_take(d, primary[i]);
    if (!decode_count(d, 1, 4) || !decode_dst(d, 0, PTX_B64, &d->out->dst))
        return false;
    for (int i = 1; i < d->in->operand_count; i++) {
        const struct ptx_operand *o = decode_operand(d, i);
        if (o->kind == PTX_OPERAND_ADDRESS) {
            struct access_address address;
            if (!access_decode_address(d, o, PTX_SPACE_GLOBAL, &address))
                return false;
        } else if (o->kind != PTX_OPERAND_FLOAT && o->kind != PTX_OPERAND_INT &&
                   !decode_src_of(d, o,
                                  fractional ? PTX_F32
                                  : range    ? PTX_B32
                                             : PTX_B64,
                                  &unused)) {
            return false;
        }
    }
    d->out->fn = zero_policy;
    return true;
}

/* membar, fence: 9.7.13. Accesses of a warp take effect in order and at once, so that nothing is left to wait for. */
bool decode_fence(struct decoder *d)
{
    static const enum ptx_modifier known[] = {
        PTX_MOD_CTA,
        PTX_MOD_CLUSTER,
        PTX_MOD_GPU,
        PTX_MOD_GL,
        PTX_MOD_SYS,
        PTX_MOD_SC,
        PTX_MOD_ACQ_REL,
        PTX_MOD_ACQUIRE,
        PTX_MOD_RELEASE,
        PTX_MOD_RELAXED,
        PTX_MOD_PROXY,
        PTX_MOD_ALIAS,
        PTX_MOD_ASYNC,
        PTX_MOD_ASYNC_GLOBAL,
        PTX_MOD_MBARRIER_INIT,
        PTX_MOD_SYNC_RESTRICT_CTA,
        PTX_MOD_SYNC_RESTRICT_CLUSTER,
        PTX_MOD_TENSORMAP_GENERIC,
        PTX_MOD_PROXY_ALIAS,
        PTX_MOD_PROXY_TENSORMAP_GENERIC,
        PTX_MOD_PROXY_ASYNC,
        PTX_MOD_PROXY_ASYNC_GLOBAL,
        PTX_MOD_PROXY_ASYNC_GENERIC,
        PTX_MOD_GLOBAL,
        PTX_MOD_SHARED_CTA,
        PTX_MOD_SHARED_CLUSTER,
        PTX_MOD_GENERIC,
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        decode_take(d, known[i]);
    if (d->in->modifier_count == 0)
        return decode_wrong(d, NULL, "%s: a scope is needed", d->in->spelling);
    d->out->fn = no_effect;
    return d->in->operand_count == 2 || decode_count(d, 0, 0); /* a tensormap fence names an address and a size */
}

/* pmevent, griddepcontrol, setmaxnreg: 9.7.19 and 9.7.13. Kernels run one after the other, and registers are not
 * rationed. */
bool decode_hint(struct decoder *d)
{
    static const enum ptx_modifier known[] = {
        PTX_MOD_LAUNCH_DEPENDENTS, PTX_MOD_WAIT, PTX_MOD_INC, PTX_MOD_DEC, PTX_MOD_SYNC, PTX_MOD_ALIGNED};
    bool has_operand = d->in->opcode != PTX_OP_griddepcontrol;
    int64_t value;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (d->in->opcode != PTX_OP_pmevent)
            decode_take(d, known[i]);
    if (d->in->opcode == PTX_OP_pmevent)
        decode_take(d, PTX_MOD_MASK);
    d->out->fn = no_effect;
    return decode_count(d, has_operand, has_operand) && (!has_operand || decode_immediate(d, 0, &value));
}

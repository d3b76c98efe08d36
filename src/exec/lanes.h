/* What handlers are written with. */
#ifndef HEDDLE_EXEC_LANES_H
#define HEDDLE_EXEC_LANES_H

#include "exec/exec.h"

#if defined(__clang__)
#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define VECTOR_LOOP _Pragma("GCC ivdep")
#endif

static inline void *lane_data(const struct exec_warp *w, exec_ref ref) { return w->bank[ref & 3] + (ref & ~3u); }
#define LANES_OF(type, w, ref) ((type *)lane_data((w), (ref)))

static inline uint32_t read_pred(const struct exec_warp *w, exec_ref ref, bool negated)
{
    uint32_t bits = *(const uint32_t *)lane_data(w, ref);
    return negated ? ~bits : bits;
}

static inline void write_pred(struct exec_warp *w, exec_ref ref, uint32_t mask, uint32_t bits)
{
    uint32_t *p = lane_data(w, ref);
    *p = (*p & ~mask) | (bits & mask);
}

/* Runs the statement for every lane i of mask: a plain loop that vectorises when the warp is full, else one pass over
 * the set bits. Sources and destination of an instruction may be the same register; they never overlap otherwise. */
#define FOR_LANES(mask, ...)                                                                   \
    do {                                                                                       \
        if ((mask) == FULL_MASK) {                                                             \
            VECTOR_LOOP for (int i = 0; i < WARP_LANES; i++) { __VA_ARGS__; }                  \
        } else {                                                                               \
            for (uint32_t lanes_left_ = (mask); lanes_left_; lanes_left_ &= lanes_left_ - 1) { \
                int i = __builtin_ctz(lanes_left_);                                            \
                __VA_ARGS__;                                                                   \
            }                                                                                  \
        }                                                                                      \
    } while (0)
/* The same without the vectorised copy, for long bodies. */
#define FOR_EACH_LANE(mask, i)                                                                           \
    for (uint32_t lanes_left_ = (mask), i; lanes_left_ && (i = (uint32_t)__builtin_ctz(lanes_left_), 1); \
         lanes_left_ &= lanes_left_ - 1)

/* Defines a handler d = expression of a, b, c in the given C types; 32-bit results of narrow types are zero-extended by
 * the cast to unsigned. */
#define HANDLER_1(name, D, A, expression)                                            \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) \
    {                                                                                \
        D *d = lane_data(w, in->dst);                                                \
        const A *pa = lane_data(w, in->src[0]);                                      \
        FOR_LANES(mask, A a = pa[i]; d[i] = (D)(expression));                        \
    }
#define HANDLER_2(name, D, A, B, expression)                                         \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) \
    {                                                                                \
        D *d = lane_data(w, in->dst);                                                \
        const A *pa = lane_data(w, in->src[0]);                                      \
        const B *pb = lane_data(w, in->src[1]);                                      \
        FOR_LANES(mask, A a = pa[i]; B b = pb[i]; d[i] = (D)(expression));           \
    }
#define HANDLER_3(name, D, A, B, C, expression)                                         \
    static void name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)    \
    {                                                                                   \
        D *d = lane_data(w, in->dst);                                                   \
        const A *pa = lane_data(w, in->src[0]);                                         \
        const B *pb = lane_data(w, in->src[1]);                                         \
        const C *pc = lane_data(w, in->src[2]);                                         \
        FOR_LANES(mask, A a = pa[i]; B b = pb[i]; C c = pc[i]; d[i] = (D)(expression)); \
    }

/* Ends the launch with a fault at this lane; the handler returns after it. */
void exec_raise(struct exec_warp *w, enum error_kind kind, uint32_t lane, uint64_t address, uint32_t bytes,
                const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Turns w->addr[] (addresses in the given space; NONE: generic) of the lanes of mask into host pointers, each checked
 * for bounds, alignment to align bytes and, for writes, permission; fills w->access. False after a fault was raised.
 * (exec/access.c) */
bool exec_resolve(struct exec_warp *w, enum ptx_space space, uint32_t mask, uint32_t bytes, uint32_t align,
                  bool is_store, uint8_t *pointers[WARP_LANES]);

#endif

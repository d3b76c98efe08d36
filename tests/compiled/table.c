/*
 * The kernels: launch shape, sizes of input and output, what the input is made of, how the output is compared. Every
 * entry takes a pointer to its input and one to its output, which is zeroed before the
 * launch. */
#include "compiled.h"

#define F64_PLANES(NAME, N)                                                                           \
    {                                                                                                 \
        .source = "math64", .name = NAME, .grid = {4, 1}, .block = {128, 1}, .in_bytes = 3 * 512 * 8, \
        .out_bytes = (N)*512 * 8, .fill = FILL_F64                                                    \
    }
#define F64_MORE(NAME, N)                                                                                  \
    {                                                                                                      \
        .source = "math64_more", .name = NAME, .grid = {4, 1}, .block = {128, 1}, .in_bytes = 3 * 512 * 8, \
        .out_bytes = (N)*512 * 8, .fill = FILL_F64                                                         \
    }
#define F32_PLANES(NAME, N)                                                                           \
    {                                                                                                 \
        .source = "math32", .name = NAME, .grid = {4, 1}, .block = {128, 1}, .in_bytes = 3 * 512 * 4, \
        .out_bytes = (N)*512 * 4, .fill = FILL_F32                                                    \
    }
#define APPROXIMATE(NAME, N, FILL, COMPARE, TOLERANCE)                                                      \
    {                                                                                                       \
        .source = "math32_approx", .name = NAME, .grid = {2, 1}, .block = {64, 1}, .in_bytes = 2 * 128 * 4, \
        .out_bytes = (N)*128 * 4, .fill = FILL, .compare = COMPARE, .tolerance = TOLERANCE                  \
    }
/* Words of 32 bits, three inputs a thread, 4 blocks of 128 threads. */
#define WORDS(SOURCE, NAME, N)                                                                      \
    {                                                                                               \
        .source = SOURCE, .name = NAME, .grid = {4, 1}, .block = {128, 1}, .in_bytes = 3 * 512 * 4, \
        .out_bytes = (N)*512 * 4, .fill = FILL_BITS                                                 \
    }
#define WIDE_WORDS(SOURCE, NAME, N)                                                                 \
    {                                                                                               \
        .source = SOURCE, .name = NAME, .grid = {4, 1}, .block = {128, 1}, .in_bytes = 3 * 512 * 8, \
        .out_bytes = (N)*512 * 8, .fill = FILL_WIDE                                                 \
    }
#define FLAGGED(SOURCE, NAME, N, FLAGS)                                                             \
    {                                                                                               \
        .source = SOURCE, .name = NAME, .grid = {4, 1}, .block = {128, 1}, .in_bytes = 3 * 512 * 4, \
        .out_bytes = (N)*512 * 4, .fill = FILL_BITS, .flags = FLAGS                                 \
    }
/* Any shape, bytes of input and output. */
#define SHAPE(SOURCE, NAME, GX, GY, BX, BY, SHARED, IN, OUT, FILL)                                                   \
    {                                                                                                                \
        .source = SOURCE, .name = NAME, .grid = {GX, GY}, .block = {BX, BY}, .shared_bytes = SHARED, .in_bytes = IN, \
        .out_bytes = OUT, .fill = FILL                                                                               \
    }
#define CUB(NAME, OUT, FILL) SHAPE("cub_block", NAME, 4, 1, 128, 1, 0, 2048 * 4, OUT, FILL)

const struct kernel kernels[] = {
    F64_PLANES("d_trig", 7),
    F64_PLANES("d_inverse", 4),
    F64_PLANES("d_exp", 5),
    F64_PLANES("d_log", 6),
    F64_PLANES("d_pow", 3),
    F64_PLANES("d_roots", 7),
    F64_PLANES("d_hyperbolic", 3),
    F64_PLANES("d_error", 2),
    F64_PLANES("d_gamma", 2),
    F64_PLANES("d_divide", 7),
    F64_PLANES("d_parts", 11),
    F64_PLANES("d_round", 12),
    F64_PLANES("d_directed", 10),
    F64_MORE("d_bessel", 6),
    F64_MORE("d_norms", 4),
    F64_MORE("d_more", 8),
    F32_PLANES("f_trig", 5),
    {.source = "math32",
     .name = "f_inverse",
     .grid = {4, 1},
     .block = {128, 1},
     .in_bytes = 3 * 512 * 4,
     .out_bytes = 2 * 512 * 4,
     .fill = FILL_F32,
     .compare = COMPARE_ULPS,
     .tolerance = 2}, /* atanf begins with rcp.approx */
    F32_PLANES("f_log", 5),
    F32_PLANES("f_divide", 8),
    F32_PLANES("f_parts", 19),
    F32_PLANES("f_directed", 12),
    F32_PLANES("f_chain", 3),
    APPROXIMATE("a_exp", 6, FILL_F32_MILD, COMPARE_ULPS, 4),
    APPROXIMATE("a_log", 4, FILL_F32_MILD, COMPARE_ULPS, 4),
    APPROXIMATE("a_hyperbolic", 6, FILL_F32_MILD, COMPARE_ULPS, 4),
    APPROXIMATE("a_pow", 7, FILL_F32_MILD, COMPARE_ULPS, 4),
    APPROXIMATE("a_error", 5, FILL_F32_MILD, COMPARE_ULPS, 4),
    APPROXIMATE("a_fast", 7, FILL_F32_MILD, COMPARE_ULPS, 10), /* __powf multiplies the error of lg2.approx */
    APPROXIMATE("a_trig", 3, FILL_F32_MILD, COMPARE_ULPS, 4),
    APPROXIMATE("a_sine", 4, FILL_F32_UNIT, COMPARE_ABSOLUTE, 8),
    WORDS("half", "half_two", 15),
    WORDS("half", "bfloat_two", 15),
    WORDS("half", "half_one", 11),
    WORDS("half", "bfloat_one", 11),
    WORDS("half", "half_convert", 23),
    WORDS("half", "half_dot", 2),
    WIDE_WORDS("integer", "int_divide", 10),
    WIDE_WORDS("integer", "int_wide", 11),
    WIDE_WORDS("integer", "int_128", 11),
    WIDE_WORDS("integer", "int_modular", 2),
    WORDS("integer", "int_bits", 19),
    WORDS("integer", "int_simd", 27),
    WORDS("integer", "int_hash", 5),
    CUB("cub_scan", 2048 * 4, FILL_BITS),
    CUB("cub_reduce", 4 * 4 * 4, FILL_F32_MILD),
    CUB("cub_sort", 2048 * 4, FILL_BITS),
    CUB("cub_sort_float", 2048 * 4, FILL_F32),
    CUB("cub_exchange", 2048 * 4, FILL_BITS),
    CUB("cub_histogram", 4 * 64 * 4, FILL_BITS),
    CUB("cub_warp", 2048 * 4, FILL_BITS),
    CUB("cub_neighbours", 2048 * 4, FILL_BITS),
    WORDS("groups", "cg_tiles", 1),
    WORDS("groups", "cg_coalesced", 1),
    WORDS("groups", "cg_partition", 1),
    WORDS("groups", "cg_reduce", 6),
    WORDS("groups", "cg_scan", 4),
    SHAPE("groups", "cg_compact", 4, 1, 256, 1, 0, 1024 * 4, 4 * 4, FILL_BITS),
    FLAGGED("groups", "cg_grid", 2, RUN_COOPERATIVE),
    WORDS("warp", "warp_shuffle", 9),
    WORDS("warp", "warp_vote", 7),
    WORDS("warp", "warp_reduce", 9),
    WORDS("warp", "warp_sort", 2),
    WORDS("warp", "warp_leave", 2),
    WORDS("atomics", "atomic_int", 2),
    SHAPE("atomics", "atomic_long", 4, 1, 128, 1, 0, 512 * 8, 32 * 8, FILL_WIDE),
    SHAPE("atomics", "atomic_float", 4, 1, 128, 1, 0, 512 * 4, 32 * 4, FILL_BITS),
    SHAPE("atomics", "atomic_shared", 4, 1, 128, 1, 0, 512 * 4, 64 * 4, FILL_BITS),
    SHAPE("atomics", "atomic_scopes", 4, 1, 128, 1, 0, 512 * 4, 256 * 4, FILL_BITS),
    SHAPE("atomics", "atomic_lock", 3, 1, 64, 1, 0, 192 * 4, 4 * 4, FILL_BITS),
    SHAPE("atomics", "atomic_lookback", 8, 1, 128, 1, 0, 1024 * 4, 1044 * 4, FILL_BITS),
    SHAPE("shared", "shared_transpose", 2, 3, 32, 8, 0, 6144 * 4, 6144 * 4, FILL_BITS),
    SHAPE("shared", "shared_transpose_wide", 2, 1, 32, 4, 0, 2048 * 16, 2048 * 16, FILL_WIDE),
    SHAPE("shared", "shared_matmul", 4, 4, 16, 16, 0, 8192 * 4, 4096 * 4, FILL_F32_MILD),
    SHAPE("shared", "shared_matmul_double", 2, 1, 64, 1, 16384, 2048 * 8, 2048 * 8, FILL_F64_MILD),
    SHAPE("shared", "shared_reduce", 4, 1, 256, 1, 0, 1024 * 4, 4 * 4, FILL_BITS),
    SHAPE("shared", "shared_scan", 4, 1, 256, 1, 0, 1024 * 4, 1024 * 4, FILL_BITS),
    SHAPE("shared", "shared_bitonic", 2, 1, 128, 1, 1024, 512 * 4, 512 * 4, FILL_BITS),
    SHAPE("shared", "shared_stencil", 2, 1, 256, 1, 0, 512 * 4, 512 * 4, FILL_F32_MILD),
    SHAPE("shared", "shared_barriers", 2, 1, 128, 1, 0, 256 * 4, 256 * 4, FILL_BITS),
    SHAPE("async", "async_barrier", 2, 1, 128, 1, 0, 512 * 4, 256 * 4, FILL_BITS),
    SHAPE("async", "async_copy", 2, 1, 128, 1, 0, 1024 * 4, 256 * 4, FILL_BITS),
    SHAPE("async", "async_groups", 2, 1, 128, 1, 1024, 768 * 4, 256 * 4, FILL_BITS),
    SHAPE("async", "async_pipeline", 2, 1, 128, 1, 0, 2048 * 4, 256 * 4, FILL_F32_MILD),
    SHAPE("async", "async_roles", 2, 1, 96, 1, 0, 768 * 4, 192 * 4, FILL_BITS),
    SHAPE("tensor", "tensor_half", 4, 1, 128, 1, 0, 8192 * 4, 4096 * 4, FILL_BITS),
    SHAPE("tensor", "tensor_half_half", 4, 1, 128, 1, 0, 8192 * 4, 4096 * 2, FILL_BITS),
    SHAPE("tensor", "tensor_bfloat", 4, 1, 128, 1, 0, 8192 * 4, 4096 * 4, FILL_BITS),
    SHAPE("tensor", "tensor_byte", 4, 1, 128, 1, 0, 8192 * 4, 4096 * 4, FILL_BITS),
    SHAPE("tensor", "tensor_double", 1, 1, 128, 1, 0, 1024 * 8, 256 * 8, FILL_F64_MILD),
    SHAPE("tensor", "tensor_tf32", 1, 1, 32, 1, 0, 512 * 4, 256 * 4, FILL_BITS),
    WORDS("control", "control_pointers", 2),
    SHAPE("control", "control_virtual", 4, 1, 128, 1, 0, 512 * 4, 1024 * 8, FILL_BITS),
    WORDS("control", "control_recursion", 8),
    WORDS("control", "control_local", 2),
    WORDS("control", "control_structs", 4),
    FLAGGED("control", "control_parameters", 4, RUN_STRUCT),
    WORDS("control", "control_switch", 1),
    WORDS("control", "control_goto", 3),
    SHAPE("control", "control_long", 4, 1, 128, 1, 0, 512 * 4, 1024 * 8, FILL_BITS),
    WORDS("control", "control_heap", 1),
    WORDS("control", "control_constants", 1),
    FLAGGED("control", "control_print", 1, RUN_PRINTS),
    WORDS("control", "control_asm", 3),
    SHAPE("cluster", "cluster_exchange", 8, 1, 128, 1, 0, 1024 * 4, 1024 * 4, FILL_BITS),
    SHAPE("cluster", "cluster_histogram", 4, 1, 128, 1, 0, 512 * 4, 128 * 4, FILL_BITS),
    WORDS("link", "link_calls", 3),
    WORDS("link", "link_second", 1),
    WIDE_WORDS("plain", "plain_integers", 8),
    SHAPE("plain", "plain_floats", 4, 1, 128, 1, 0, 1536 * 4, 8 * 512 * 4, FILL_F32),
    SHAPE("plain", "plain_doubles", 4, 1, 128, 1, 0, 1536 * 8, 6 * 512 * 8, FILL_F64),
    SHAPE("plain", "plain_shared", 4, 1, 256, 1, 0, 1024 * 4, 1024 * 4, FILL_BITS),
    WORDS("plain", "plain_control", 2),
    SHAPE("plain", "plain_structs", 4, 1, 128, 1, 0, 1536 * 8, 1536 * 8, FILL_F64_MILD),
    SHAPE("plain", "plain_atomics", 4, 1, 128, 1, 0, 512 * 4, 32 * 4, FILL_BITS),
};
const size_t kernel_count = sizeof kernels / sizeof kernels[0];

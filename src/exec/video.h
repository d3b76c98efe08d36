/* The video instructions on single values. PTX ISA 9.7.18. Pure functions, used by the handlers and by tests. */
#ifndef HEDDLE_EXEC_VIDEO_H
#define HEDDLE_EXEC_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

enum video_op {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_AVERAGE,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD,
    VIDEO_SET
};
enum video_second { SECOND_NONE, SECOND_ADD, SECOND_MIN, SECOND_MAX };
enum video_compare { VIDEO_EQ, VIDEO_NE, VIDEO_LT, VIDEO_LE, VIDEO_GT, VIDEO_GE };

/* All that an instruction says but its registers. */
struct video_form {
    enum video_op op;
    enum video_second second;
    enum video_compare compare;
    bool signed_d, signed_a, signed_b;
    bool saturate, clamp; /* clamp: of shift amounts, else wrap */
    bool negate_ab, negate_c, plus_one;
    int scale;                        /* vmad: 0, 7 or 15 */
    int select_a, select_b, select_d; /* scalar: 0..3 bytes, 4..5 halves, -1 the whole */
    int elements;                     /* SIMD: 2 or 4; scalar: 1 */
    uint8_t from_a[4], from_b[4];     /* SIMD: which element of {b, a}, for each element */
    uint8_t mask;                     /* SIMD: elements computed; the others are c's */
};

uint32_t video_scalar(const struct video_form *f, uint32_t a, uint32_t b, uint32_t c);
uint32_t video_simd(const struct video_form *f, uint32_t a, uint32_t b, uint32_t c);

#endif

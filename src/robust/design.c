/* The design of R. L. Plackett and J. P. Burman, "The design of optimum multifactorial experiments" (Biometrika, 1946),
 * for 12 runs: a row of signs, moved on by one place from run to run, and a last run with all factors low. */
#include "robust/robust.h"

int robust_design(uint32_t row, uint32_t factor)
{
    static const int8_t signs[DESIGN_FACTORS] = {1, 1, -1, 1, 1, 1, -1, -1, -1, 1, -1};
    uint32_t run = row % DESIGN_RUNS;
    int sign = run == DESIGN_RUNS - 1 ? -1 : signs[(factor + DESIGN_FACTORS - run) % DESIGN_FACTORS];
    return row < DESIGN_RUNS ? sign : -sign;
}

/* Which lines an L1 still has after it was filled. */
#ifndef BENCH_SILICON_L1_LINES_H
#define BENCH_SILICON_L1_LINES_H

void measure_l1_lines(void);

#endif

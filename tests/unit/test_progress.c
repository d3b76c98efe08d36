/* Does the progress line say what it should, and only when it should? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/progress.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void shows(const struct progress_state *s, const char *wanted)
{
    char line[200];
    progress_line(line, sizeof line, s);
    assert_string_equal(line, wanted);
}

static void lines(void **state)
{
    (void)state;
    struct progress_state s = {.kernel = "bfs",
                               .cycles = 1234567,
                               .warp_instructions = 950,
                               .blocks_done = 0,
                               .blocks_all = 40,
                               .kwips = 1500.4,
                               .seconds = 2};
    shows(&s, "bfs: 1.23 M cycles, 950 warp instructions, 1500 kWI/s, block 0/40");
    s.blocks_done = 10; /* and none runs */
    shows(&s, "bfs: 1.23 M cycles, 950 warp instructions, 1500 kWI/s, block 10/40, about 6 s left");
    s.blocks_started = 18; /* 8 that run are half done: 14 in 2 s */
    shows(&s, "bfs: 1.23 M cycles, 950 warp instructions, 1500 kWI/s, block 10/40, about 4 s left");
    s.blocks_started = 21; /* more run than have ended */
    shows(&s, "bfs: 1.23 M cycles, 950 warp instructions, 1500 kWI/s, block 10/40");
    s.blocks_started = 10;
    s.seconds = 50;
    shows(&s, "bfs: 1.23 M cycles, 950 warp instructions, 1500 kWI/s, block 10/40, about 2:30 min left");
    s.blocks_done = 40;
    shows(&s, "bfs: 1.23 M cycles, 950 warp instructions, 1500 kWI/s, block 40/40");
    s.kwips = 3.14;
    shows(&s, "bfs: 1.23 M cycles, 950 warp instructions, 3.1 kWI/s, block 40/40");
    char narrow[20];
    progress_line(narrow, sizeof narrow, &s);
    assert_string_equal(narrow, "bfs: 1.23 M cycles,");
    s.kernel = "a_name_that_is_much_longer_than_any_line_could_hold_and_goes_on";
    char line[200];
    progress_line(line, sizeof line, &s);
    assert_non_null(strstr(line, "longer_than_any_line: 1.23 M"));
}

static void without_time(void **state)
{
    (void)state;
    struct progress_state s = {.kernel = "bfs",
                               .warp_instructions = 12345678,
                               .blocks_started = 12,
                               .blocks_done = 2,
                               .blocks_all = 40,
                               .kwips = 20000,
                               .seconds = 3};
    shows(&s, "bfs: 12.3 M warp instructions, 20000 kWI/s, block 2/40");
}

/* Who waits for a minute wants to know how much longer: that comes first, where no terminal is too narrow for it. */
static void after_a_minute(void **state)
{
    (void)state;
    struct progress_state s = {.kernel = "bfs",
                               .cycles = 1234567,
                               .warp_instructions = 4560000,
                               .blocks_started = 10,
                               .blocks_done = 10,
                               .blocks_all = 40,
                               .kwips = 46,
                               .seconds = 59.9};
    shows(&s, "bfs: 1.23 M cycles, 4.56 M warp instructions, 46 kWI/s, block 10/40, about 3:00 min left");
    s.seconds = 100;
    shows(&s,
          "bfs has run for 1:40 min: 25% of 40 blocks done, 1.23 M cycles, 4.56 M warp instructions, 46 kWI/s, about "
          "5:00 min left");
    s.seconds = 3660;
    s.blocks_started = s.blocks_done = 0;
    s.blocks_all = 1;
    s.cycles = 0;
    shows(&s, "bfs has run for 1:01 h: 0% of 1 block done, 4.56 M warp instructions, 46 kWI/s");
    s.blocks_all = 1000;
    s.blocks_done = 999;
    s.blocks_started = 1000;
    shows(&s, "bfs has run for 1:01 h: 99% of 1000 blocks done, 4.56 M warp instructions, 46 kWI/s, about 2 s left");
}

static void wait_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/* Off a terminal: whole lines, four per second at most. */
static void not_too_often(void **state)
{
    (void)state;
    FILE *to = tmpfile();
    struct progress *p = progress_create(to, true);
    int lines_seen = 0;
    char line[256];
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < 40; i++) {
        progress_update(p, &(struct progress_state){.kernel = "k",
                                                    .cycles = (uint64_t)i,
                                                    .warp_instructions = (uint64_t)i * 100,
                                                    .blocks_started = 1,
                                                    .blocks_done = 1,
                                                    .blocks_all = 4});
        wait_ms(15);
    }
    clock_gettime(CLOCK_MONOTONIC, &now); /* a busy machine takes its time */
    double seconds = (double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec);
    progress_destroy(p);
    rewind(to);
    while (fgets(line, sizeof line, to)) {
        assert_non_null(strstr(line, "heddle: k: "));
        assert_null(strchr(line, '\033'));
        lines_seen++;
    }
    fclose(to);
    assert_in_range(lines_seen, 1, 1 + (int)(4 * seconds));
}

static void not_enabled(void **state)
{
    (void)state;
    struct progress *p = progress_create(stderr, false);
    assert_null(p);
    progress_update(p, &(struct progress_state){.kernel = "k", .cycles = 1});
    progress_end(p, 0);
    progress_done(p);
    progress_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(without_time),
                                       cmocka_unit_test(after_a_minute), cmocka_unit_test(not_too_often),
                                       cmocka_unit_test(not_enabled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Are the words of HEDDLE_OPTIONS understood, and bad ones refused with a message that names them? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/options.h"

#include <string.h>

static struct options parsed(const char *text)
{
    struct options o;
    struct error e = {0};
    if (!options_parse(&o, text, &e))
        fail_msg("%s", e.text);
    return o;
}

static void refused(const char *text, const char *wanted)
{
    struct options o;
    struct error e = {0};
    assert_false(options_parse(&o, text, &e));
    if (!strstr(e.text, wanted))
        fail_msg("'%s' is not in: %s", wanted, e.text);
}

static void defaults(void **state)
{
    (void)state;
    struct options o = parsed(NULL);
    assert_string_equal(o.machine, "gtx480");
    assert_string_equal(o.stats, "");
    assert_string_equal(o.trace, "");
    assert_string_equal(o.warps, "");
    assert_string_equal(parsed("--warps=w.csv").warps, "w.csv");
    assert_string_equal(parsed("--trace 'a b'").trace, "a b");
    assert_false(o.functional);
    assert_false(o.exact_bounds);
    assert_false(o.quiet);
    assert_int_equal(o.max_cycles, 0);
    assert_string_equal(parsed("  ").machine, "gtx480");
}

static void spellings(void **state)
{
    (void)state;
    struct options o =
        parsed("-m a --stats - --functional --max-cycles 100 -s gto --l1=lru --divergence pdom --quiet --exact-bounds");
    assert_string_equal(o.machine, "a");
    assert_string_equal(o.stats, "-");
    assert_string_equal(o.scheduler, "gto");
    assert_string_equal(o.l1, "lru");
    assert_string_equal(o.divergence, "pdom");
    assert_true(o.functional);
    assert_true(o.exact_bounds);
    assert_true(o.quiet);
    assert_int_equal(o.max_cycles, 100);
    assert_string_equal(parsed("--machine=b").machine, "b");
    assert_string_equal(parsed("-mb").machine, "b");
    assert_true(parsed("--func").functional);
    assert_true(parsed("--races --functional").races);
}

static void what_goes_with_races(void **state)
{
    (void)state;
    assert_false(parsed("--functional").races);
    refused("--races", "--functional");
    refused("--races --functional --probe compaction", "--probe");
}

static void quoting(void **state)
{
    (void)state;
    assert_string_equal(parsed("--stats 'a b.json'").stats, "a b.json");
    assert_string_equal(parsed("--stats \"a 'b'\"").stats, "a 'b'");
    assert_string_equal(parsed("--stats a\\ b").stats, "a b");
    refused("--stats 'a", "closing");
}

static void timing(void **state)
{
    (void)state;
    struct options o =
        parsed("--set l1d.ways=8 --set='clock.core_mhz=1 000' --timeline t.json --timeline-cycles 100:2000 -j 4");
    const char *sets[OPTIONS_SETS];
    assert_int_equal(options_sets(&o, sets), 2);
    assert_string_equal(sets[0], "l1d.ways=8");
    assert_string_equal(sets[1], "clock.core_mhz=1 000");
    assert_string_equal(o.timeline, "t.json");
    assert_int_equal(o.timeline_first, 100);
    assert_int_equal(o.timeline_end, 2000);
    assert_int_equal(o.threads, 4);
    o = parsed("--timeline=t");
    assert_int_equal(o.timeline_first, 0);
    assert_int_equal(o.timeline_end, 20000);
    assert_int_equal(o.threads, 0);
    assert_int_equal(options_sets(&o, sets), 0);
}

static void too_many_sets(void **state)
{
    (void)state;
    char text[OPTIONS_SETS * 12 + 100] = "";
    for (int i = 0; i < OPTIONS_SETS; i++)
        strcat(text, " --set a.b=1");
    assert_int_equal(parsed(text).set_count, OPTIONS_SETS);
    strcat(text, " --set a.b=1");
    refused(text, "too many --set");
}

/* Small m is minutes, large M is millions. */
static void launch_limits(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t cycles;
        double seconds;
    } good[] = {{"1", 1, 0},        {"5000000", 5000000, 0}, {"500k", 500000, 0},
                {"5M", 5000000, 0}, {"1.5G", 1500000000, 0}, {"30s", 0, 30},
                {"5m", 0, 300},     {"2h", 0, 7200},         {"0.25s", 0, 0.25}};
    const char *const bad[] = {"",        "0",  "0s",  "0.5", "-5",
                               "+5",      "5K", "5g",  "5S",  "5ks",
                               "5 s",     "s",  ".5s", "1e6", "99999999999999999999",
                               "1000000h"};
    struct launch_limit limit;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(launch_limit_read(good[i].text, &limit));
        assert_int_equal(limit.cycles, good[i].cycles);
        assert_true(limit.seconds == good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (launch_limit_read(bad[i], &limit))
            fail_msg("'%s' was taken", bad[i]);
    assert_int_equal(parsed("--launch-limit=5M").launch_limit.cycles, 5000000);
    assert_int_equal(parsed("").launch_limit.cycles, 0);
}

static void mistakes(void **state)
{
    (void)state;
    refused("--functionl", "did you mean --functional");
    refused("-x", "-x");
    refused("word", "word");
    refused("--stats", "needs a value");
    refused("--functional=1", "takes no value");
    refused("--max-cycles ten", "number");
    refused("--max-cycles -3", "number");
    refused("--max-cycles 99999999999999999999", "number");
    refused("--launch-limit", "needs a value");
    refused("--launch-limit 5x", "cycles (5000000, 500k, 5M or 2G) or a time (90s, 15m or 2h), not '5x'");
    refused("--trace", "needs a value");
    refused("--warps", "needs a value");
    refused("--print-machine", "'heddle run' alone");
    refused("--", "--");
    refused("--timeline-cycles 5", "A:B");
    refused("--timeline-cycles 5:5", "A:B");
    refused("--timeline-cycles 5:4", "A:B");
    refused("--timeline-cycles 5:x", "A:B");
    refused("--timeline-cycles :5", "A:B");
    refused("-j", "-j needs a value");
    refused("-j0", "from 1");
    refused("-j many", "number");
    refused("--set ''", "needs a value");
    refused("--time x", "may be --timeline or --timeline-cycles");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),      cmocka_unit_test(spellings), cmocka_unit_test(what_goes_with_races),
        cmocka_unit_test(quoting),       cmocka_unit_test(timing),    cmocka_unit_test(too_many_sets),
        cmocka_unit_test(launch_limits), cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

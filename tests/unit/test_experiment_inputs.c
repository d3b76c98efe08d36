/* Are probes and inputs of experiments read as docs/experiments.md says, and does every mistake have its place? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/experiment.h"

#include <stdio.h>
#include <string.h>

static struct arena arena;

static int start(void **state)
{
    (void)state;
    arena = (struct arena){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct experiment parsed(const char *text)
{
    struct experiment x;
    struct error e = {0};
    if (!experiment_parse(&x, &arena, "test", text, strlen(text), NULL, &e))
        fail_msg("%s", e.text);
    return x;
}

static void refused(const char *text, int line, int column, const char *wanted)
{
    struct experiment x;
    struct error e = {0};
    assert_false(experiment_parse(&x, &arena, "test", text, strlen(text), NULL, &e));
    if (!strstr(e.text, wanted) || e.line != line || e.column != column)
        fail_msg("wanted %d:%d and '%s', not: %s", line, column, wanted, e.text);
}

/* The probes of the point with these labels, with a '|' between them. */
static const char *probes_at(const struct experiment *x, const char *program, const char *scheduler)
{
    for (uint32_t i = 0; i < x->point_count; i++) {
        const struct lab_point *p = &x->points[i];
        const char *text = "";
        if (strcmp(experiment_label(x, p, AXIS_PROGRAM), program) != 0 ||
            strcmp(experiment_label(x, p, AXIS_SCHEDULER), scheduler) != 0)
            continue;
        for (const char **probe = p->probes; *probe; probe++)
            text = arena_printf(&arena, "%s%s%s", text, *text ? "|" : "", *probe);
        return text;
    }
    fail_msg("no point %s %s", program, scheduler);
    return "";
}

static void probes_of_all_runs(void **state)
{
    (void)state;
    struct experiment x = parsed("[programs]\nbfs\n");
    assert_string_equal(probes_at(&x, "bfs", "machine's own"), "");
    x = parsed("[experiment]\nprobes = loads  trips:line=128 \"lost:a=1, b = 2\" here:file=\"a b\" loads ; "
               "no\n[programs]\nbfs\n");
    assert_string_equal(probes_at(&x, "bfs", "machine's own"), "loads|trips:line=128|lost:a=1,b=2|here:file=a b");
    assert_true(x.points[0].probes[4] == NULL);
    x = parsed("[experiment]\nprobes =\n[programs]\nbfs\n");
    assert_string_equal(probes_at(&x, "bfs", "machine's own"), "");
}

static void probes_of_some_runs(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[experiment]\nprobes = loads\n[programs]\nbfs\ngc\n[schedulers]\nlrr\nSWL = swl:limit=1..2\n"
               "Best = best(swl:limit=1..2)\n[probes]\ntrips\nlost:a=1,b=2 = scheduler=SWL\n"
               "once = program=gc scheduler=lrr|\"SWL 2\"\nloads = program=bfs\nchosen = scheduler=Best\n");
    assert_string_equal(probes_at(&x, "bfs", "lrr"), "loads|trips");
    assert_string_equal(probes_at(&x, "gc", "lrr"), "loads|trips|once");
    assert_string_equal(probes_at(&x, "bfs", "SWL 1"), "loads|trips|lost:a=1,b=2|chosen");
    assert_string_equal(probes_at(&x, "gc", "SWL 2"), "loads|trips|lost:a=1,b=2|once|chosen");
}

static void counters_of_probes(void **state)
{
    (void)state;
    struct experiment x = parsed(
        "[experiment]\nprobes = residency\n[programs]\nbfs\ngc\n[probes]\nloads = program=bfs\n./mine.so = program=gc\n"
        "[figure a]\nx=program\ny=mine.own + residency.warps.3 / loads.requests\n"
        "[figure b]\nx=pc\ny=loads.misses\nwhere=program=bfs\n[figure "
        "c]\nx=bucket\ny=residency.warps\nwhere=program=bfs\n");
    assert_int_equal(x.figure_count, 3);
    refused("[experiment]\nprobes = residency\n[programs]\nbfs\n[figure a]\nx=program\ny=residency.warps\n", 7, 3,
            "unknown metric 'residency.warps'");
    refused("[experiment]\nbest_by = trips.other\n[programs]\nbfs\n", 2, 11, "no run has the probe trips");
}

static void mistakes_of_probes(void **state)
{
    (void)state;
    refused("[experiment]\nprobes = loads, trips\n[programs]\nbfs\n", 2, 15, "expected NAME[:key=value,...]");
    refused("[experiment]\nprobes = loads \"trips\n[programs]\nbfs\n", 2, 16, "this quote is not closed");
    refused("[experiment]\nprobes = trips:line=1..4\n[programs]\nbfs\n", 2, 10, "a probe has no range and no choice");
    refused("[programs]\nbfs\n[probes]\nbest(a | b)\n", 4, 1, "a probe has no range and no choice");
    refused("[programs]\nbfs\n[probes]\ntrips = scheduler=nosuch\n", 4, 19, "unknown scheduler 'nosuch'");
    refused("[programs]\nbfs\n[probes]\ntrips = warp=1\n", 4, 9, "unknown axis 'warp'");
    refused("[programs]\nbfs\n[probes]\ntrips:x\"y\" = program=bfs\n", 4, 8, "expected '='");
    char many[2000] = "[experiment]\nprobes =";
    for (int i = 0; i < 65; i++)
        sprintf(many + strlen(many), " p%02d", i);
    strcat(many, "\n[programs]\nbfs\n");
    refused(many, 2, 10 + 64 * 4, "more than 64 probes");
}

static void inputs(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[programs]\nbfs\n[input profile]\nscheduler = gto\narguments = --seed 7 \"two words\"\n"
               "probe = daws-profile:file=@,top=4\n[input warps-2]\nl1 = srrip:bits=3\noption = --warps @\n"
               "[schedulers]\ngto\ndaws = daws:profile=@profile,assoc={0.5,0.6}\n"
               "Best = best(cawa:warps=@warps-2,limit=1..3)\n[probes]\nlost:of=@profile = scheduler=daws\n");
    assert_int_equal(x.input_count, 2);
    const struct lab_input *in = lab_find_input(&x, "profile", 7);
    assert_ptr_equal(in, &x.inputs[0]);
    assert_null(lab_find_input(&x, "profil", 6));
    assert_string_equal(in->policies[0], "gto");
    assert_string_equal(in->policies[1], "");
    assert_string_equal(in->policies[2], "");
    assert_string_equal(in->arguments[2], "two words");
    assert_null(in->arguments[3]);
    assert_string_equal(in->probe, "daws-profile:file=@,top=4");
    assert_null(in->options[0]);
    in = &x.inputs[1];
    assert_null(in->probe);
    assert_string_equal(in->policies[1], "srrip:bits=3");
    assert_string_equal(in->options[0], "--warps");
    assert_string_equal(in->options[1], "@");
    assert_null(in->options[2]);
    assert_null(in->arguments[0]);
    assert_int_equal(x.point_count, 1 + 2 + 3);
    assert_string_equal(x.axes[AXIS_SCHEDULER].values[1].text, "daws:profile=@profile,assoc=0.5");
    assert_string_equal(probes_at(&x, "bfs", "daws 0.6"), "lost:of=@profile");
    x = parsed(
        "[programs]\nbfs mail@home --to=@other\n[input a]\noption = --warps=@\n[schedulers]\nx:file={@a,plain}\n");
    assert_int_equal(x.point_count, 2);
}

static void references_in_a_spec(void **state)
{
    (void)state;
    const char *at = "daws:profile=@profile,mail=a@b,odd=@ x,other=@two.b-c";
    size_t length;
    assert_true(lab_reference_next(&at, &length));
    assert_int_equal(length, 7);
    assert_memory_equal(at, "@profile", 8);
    assert_true(lab_reference_next(&at, &length));
    assert_memory_equal(at, "@two.b-c", 8);
    assert_int_equal(length, 7);
    assert_false(lab_reference_next(&at, &length));
}

static void mistakes_of_inputs(void **state)
{
    (void)state;
    static const char head[] = "[programs]\nbfs\n[input profile]\n"; /* three lines */
    char text[500];
    static const struct {
        const char *rest;
        int line, column;
        const char *wanted;
    } cases[] = {
        {"", 3, 8, "expected probe = NAME:key=@ or option = --OPTION @"},
        {"probe = daws-profile\n", 4, 9, "nothing here names the file that the run writes"},
        {"option = --warps\n", 4, 10, "nothing here names the file"},
        {"probe = a:file=@\noption = --warps @\n", 5, 18, "a second '@'"},
        {"option = --warps @.\n", 4, 18, "expected '@' or '@.ENDING' alone"},
        {"option = --warps @.csv/x\n", 4, 18, "expected '@' or '@.ENDING' alone"},
        {"probe = a:file=@,copy=@\n", 4, 23, "a second '@'"},
        {"probe = a:file=@here\n", 4, 16, "expected '@' or '@.ENDING' alone as a value"},
        {"probe = a:file=1..3,x=@\n", 4, 9, "an input's probe has no range"},
        {"probes = a:file=@\n", 4, 1, "unknown key of an input 'probes'; did you mean 'probe'?"},
        {"scheduler = swl:limit=1..3\noption = --warps @\n", 4, 13, "an input's policy has no range"},
        {"scheduler = daws:profile=@profile\noption = --warps @\n", 4, 26,
         "an input's run reads no other input's file"},
        {"arguments = \"one\noption = --warps @\n", 4, 13, "this quote is not closed"},
        {"option = --warps @\n[schedulers]\ndaws:profile=@profil\n", 6, 15,
         "unknown input 'profil'; did you mean 'profile'?"},
        {"option = --warps @\n[l1]\nx:a=1,profile=@\n", 6, 15, "expected the name of an input after '@'"},
        {"option = --warps @\n[l1]\nx = best(x:a=1..2,profile=@other)\n", 6, 28, "unknown input 'other'"},
        {"option = --warps @\n[probes]\nlost:of=@other = program=bfs\n", 6, 10, "unknown input 'other'"},
        {"option = --warps @\n[experiment]\nprobes = loads lost:of=@other\n", 6, 25, "unknown input 'other'"},
        {"option = --warps @\n[variants]\nx = l1d.sets=@profile\n", 6, 14, "only parameters of policies and of probes"},
        {"option = --warps @\n[input profile]\n", 5, 8, "[input profile] is given twice"},
        {"option = --warps @\n[input]\n", 5, 7, "expected the input's name: [input NAME]"},
        {"option = --warps @\n[input two words]\n", 5, 11, "expected a name of letters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s%s", head, cases[i].rest);
        refused(text, cases[i].line, cases[i].column, cases[i].wanted);
    }
    refused("[programs]\nbfs --read @profile\n[input profile]\noption = --warps @\n", 2, 12,
            "only parameters of policies and of probes");
    refused("[programs]\nbfs\n[schedulers]\nx = daws:profile=@profile\n", 4, 18, "there is no [input profile]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(probes_of_all_runs, start, end),
        cmocka_unit_test_setup_teardown(probes_of_some_runs, start, end),
        cmocka_unit_test_setup_teardown(counters_of_probes, start, end),
        cmocka_unit_test_setup_teardown(mistakes_of_probes, start, end),
        cmocka_unit_test_setup_teardown(inputs, start, end),
        cmocka_unit_test_setup_teardown(references_in_a_spec, start, end),
        cmocka_unit_test_setup_teardown(mistakes_of_inputs, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

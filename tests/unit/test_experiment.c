/* Are experiment files read as docs/experiments.md says, are their points the right ones, and does every mistake have
 * its line, its column and a hint? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/experiment.h"
#include "replay/replay.h"

#include <math.h>
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

static struct experiment parsed_as(const char *text, const char *size)
{
    struct experiment x;
    struct error e = {0};
    if (!experiment_parse(&x, &arena, "test", text, strlen(text), size, &e))
        fail_msg("%s", e.text);
    return x;
}

static struct experiment parsed(const char *text) { return parsed_as(text, NULL); }

static void refused(const char *text, int line, int column, const char *wanted)
{
    struct experiment x;
    struct error e = {0};
    assert_false(experiment_parse(&x, &arena, "test", text, strlen(text), NULL, &e));
    if (!strstr(e.text, wanted) || e.line != line || e.column != column)
        fail_msg("wanted %d:%d and '%s', not: %s", line, column, wanted, e.text);
}

static uint32_t word_count(const char **words)
{
    uint32_t count = 0;
    while (words[count])
        count++;
    return count;
}

static const struct lab_point *point(const struct experiment *x, const char *program, const char *scheduler)
{
    for (uint32_t i = 0; i < x->point_count; i++)
        if (strcmp(experiment_label(x, &x->points[i], AXIS_PROGRAM), program) == 0 &&
            strcmp(experiment_label(x, &x->points[i], AXIS_SCHEDULER), scheduler) == 0)
            return &x->points[i];
    return NULL;
}

static void smallest(void **state)
{
    (void)state;
    struct experiment x = parsed("[programs]\nbfs");
    assert_int_equal(x.point_count, 1);
    assert_string_equal(x.title, "test");
    assert_string_equal(x.size, "small");
    assert_string_equal(x.best_by, "ipc");
    assert_true(x.time_limit_seconds == 0 && x.memory_limit_bytes == 0 && x.figure_count == 0);
    const struct lab_point *p = &x.points[0];
    assert_int_equal(word_count(p->words), 3);
    assert_string_equal(p->words[0], "bfs");
    assert_string_equal(p->words[1], "--size");
    assert_string_equal(p->words[2], "small");
    assert_int_equal(word_count(p->sets), 0);
    assert_string_equal(experiment_label(&x, p, AXIS_MACHINE), "gtx480");
    assert_string_equal(x.axes[AXIS_SCHEDULER].values[p->value[AXIS_SCHEDULER]].text, "");
    assert_string_equal(experiment_label(&x, p, AXIS_SCHEDULER), "machine's own");
    assert_string_equal(experiment_label(&x, p, AXIS_VARIANT), "base");
}

static void head(void **state)
{
    (void)state;
    struct experiment x = parsed("\xef\xbb\xbf; first\n[experiment]\r\ntitle = G\xc3\xb6rlitz; 100% ; a "
                                 "comment\r\n\tabout\t=\t\"a ; b\" \r\nsize = test # no\nbest_by = 1000 / cycles\n"
                                 "time_limit = 1.5m\nmemory_limit = 2G\n\n[programs]\nbfs");
    assert_string_equal(x.title, "G\xc3\xb6rlitz; 100%");
    assert_string_equal(x.about, "a ; b");
    assert_string_equal(x.size, "test");
    assert_string_equal(x.best_by, "1000 / cycles");
    assert_true(x.time_limit_seconds == 90);
    assert_true(x.memory_limit_bytes == UINT64_C(2) << 30);
    assert_string_equal(parsed_as("[experiment]\nsize = test\n[programs]\nbfs\n", "paper").points[0].words[2], "paper");
    assert_string_equal(parsed_as("[experiment]\nsize = test\n[programs]\nbfs\n", "paper").size, "paper");
    assert_true(parsed("[experiment]\ntime_limit = 2h\nmemory_limit=1048576\n[programs]\nbfs\n").time_limit_seconds ==
                7200);
    assert_true(parsed("[experiment]\ntime_limit = none\nmemory_limit=1048576\n[programs]\nbfs\n").memory_limit_bytes ==
                1 << 20);
    assert_true(!x.pcs && !x.interval_cycles);
    x = parsed("[experiment]\npcs = yes\ninterval = 10000\n[programs]\nbfs\n");
    assert_true(x.pcs && x.interval_cycles == 10000);
    x = parsed("[experiment]\npcs = no\ninterval = none\n[programs]\nbfs\n");
    assert_true(!x.pcs && !x.interval_cycles && !x.replay);
    assert_null(x.launches);
    assert_null(x.build);
    x = parsed("[experiment]\nlaunches = 0,3-79\nbuild = 5f a\n[programs]\nbfs\n");
    assert_string_equal(x.launches, "0,3-79");
    assert_string_equal(x.build, "5f a");
    x = parsed("[experiment]\nreplay = lru ,belady-reads\n[programs]\nbfs\n[figure "
               "f]\nx=program\ny=l1d.replay.belady_reads.misses / l1d.replay.lru.read_misses\n");
    assert_int_equal(x.replay, 1 << REPLAY_LRU | 1 << REPLAY_BELADY_READS);
    assert_int_equal(parsed("[experiment]\nreplay = all\n[programs]\nbfs\n").replay, (1 << REPLAY_POLICIES) - 1);
    assert_int_equal(parsed("[experiment]\nreplay = none\n[programs]\nbfs\n").replay, 0);
    struct error e = {0};
    assert_false(experiment_parse(&x, &arena, "test", "[programs]\nbfs", 14, "huge", &e));
    assert_non_null(strstr(e.text, "unknown size 'huge'"));
}

static void programs(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[experiment]\nsize = test\n[programs]\nbfs\nbig bfs = bfs  --nodes 1000 \"a b\" x=\"c d\"\n./mine "
               "-q\nown = /bin/true\nsized = bfs --size paper\nsized2 = bfs --size=paper\n"
               "\"quoted = label\" = mdbrot\nbfs --n=5\n");
    assert_int_equal(x.point_count, 8);
    const struct lab_point *p = point(&x, "big bfs", "machine's own");
    assert_int_equal(word_count(p->words), 7);
    assert_string_equal(p->words[3], "a b");
    assert_string_equal(p->words[4], "x=c d");
    assert_string_equal(p->words[5], "--size");
    assert_int_equal(word_count(point(&x, "./mine -q", "machine's own")->words), 2); /* a path takes no size */
    assert_int_equal(word_count(point(&x, "own", "machine's own")->words), 1);
    assert_int_equal(word_count(point(&x, "sized", "machine's own")->words), 3);
    assert_int_equal(word_count(point(&x, "sized2", "machine's own")->words), 2);
    assert_string_equal(point(&x, "quoted = label", "machine's own")->words[0], "mdbrot");
    assert_string_equal(point(&x, "bfs --n=5", "machine's own")->words[1], "--n=5");
}

static void product(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[programs]\na\nb\nc\n[machines]\ngtx480\nmine = "
               "./mine.ini\n[schedulers]\nlrr\ngto\n[l1]\nlru\nsrrip\n[divergence]\npdom\n[variants]\nbase =\n8MB = "
               "l1d.sets=16384, core.warps = 24\n");
    assert_int_equal(x.point_count, 3 * 2 * 2 * 2 * 1 * 2);
    const struct lab_point *last = &x.points[x.point_count - 1];
    assert_string_equal(last->words[0], "c");
    assert_int_equal(word_count(last->sets), 2);
    assert_string_equal(last->sets[0], "l1d.sets=16384");
    assert_string_equal(last->sets[1], "core.warps=24");
    assert_int_equal(word_count(x.points[0].sets), 0);
    assert_string_equal(x.axes[AXIS_MACHINE].values[1].text, "./mine.ini");
    assert_int_equal(x.axes[AXIS_SCHEDULER].entries[1].line, 10);
}

static void ranges(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[programs]\na\n[schedulers]\nlrr\nswl = swl:limit=1..32\nother = swl:limit = 2..10..4, mode=x\nset = "
               "s:k={1,2,4,8..10,word,16K}\nreal = r:f=0.1..0.7..0.1\nbare:limit=1..2\n");
    const struct lab_axis_values *v = &x.axes[AXIS_SCHEDULER];
    assert_int_equal(x.point_count, 1 + 32 + 3 + 8 + 7 + 2);
    const struct lab_entry *swl = &v->entries[1], *other = &v->entries[2], *set = &v->entries[3],
                           *real = &v->entries[4], *bare = &v->entries[5];
    assert_int_equal(swl->count, 32);
    assert_string_equal(v->values[swl->first + 3].label, "swl 4");
    assert_string_equal(v->values[swl->first + 3].text, "swl:limit=4");
    assert_string_equal(v->values[swl->first + 3].parameter, "limit");
    assert_true(v->values[swl->first + 31].number == 32);
    assert_int_equal(other->count, 3);
    assert_string_equal(v->values[other->first + 2].text, "swl:limit=10,mode=x");
    assert_int_equal(set->count, 8);
    assert_string_equal(v->values[set->first + 4].text, "s:k=9");
    assert_true(isnan(v->values[set->first + 6].number));
    assert_true(v->values[set->first + 7].number == 16384);
    assert_string_equal(v->values[set->first + 7].text, "s:k=16K");
    assert_int_equal(real->count, 7); /* though 0.7 is not 0.1 + 6 * 0.1 */
    assert_string_equal(v->values[real->first + 2].text, "r:f=0.3");
    assert_string_equal(v->values[real->first + 4].label, "real 0.5");
    assert_string_equal(bare->label, "bare:limit=1..2");
    assert_string_equal(v->values[bare->first].label, "bare:limit=1");
}

static void ranges_of_variants(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[programs]\na\n[variants]\nbase =\ncache = l1d.sets={32,64,128}, l1d.ways=4\nlist = "
               "latency.integer=4,13,4,5,145, core.warps=24\nmap = dram.map=\"RR..BB\"\nl1d.ways=2\n");
    const struct lab_axis_values *v = &x.axes[AXIS_VARIANT];
    assert_int_equal(x.point_count, 7);
    assert_string_equal(v->entries[4].label, "l1d.ways=2");
    assert_string_equal(v->values[v->entries[1].first + 1].label, "cache 64");
    assert_string_equal(v->values[v->entries[1].first + 1].parameter, "l1d.sets");
    for (uint32_t i = 0; i < x.point_count; i++) {
        const char **sets = x.points[i].sets, *label = experiment_label(&x, &x.points[i], AXIS_VARIANT);
        if (strcmp(label, "cache 128") == 0) {
            assert_string_equal(sets[0], "l1d.sets=128");
            assert_string_equal(sets[1], "l1d.ways=4");
        } else if (strcmp(label, "list") == 0) {
            assert_int_equal(word_count(sets), 2);
            assert_string_equal(sets[0], "latency.integer=4,13,4,5,145");
        }
    }
}

/* A choice takes no runs of its own where another line has its range, in whatever order and spelling. */
static void best_shares_its_runs(void **state)
{
    (void)state;
    struct experiment x = parsed("[programs]\na\nb\n[schedulers]\nbest swl = best(swl: limit=1..32)\nlrr\nswl = "
                                 "swl:limit=1..32\nsome = best(swl:limit={2,4,40})\n");
    const struct lab_axis_values *v = &x.axes[AXIS_SCHEDULER];
    assert_int_equal(x.point_count, 2 * (1 + 32 + 1)); /* 40 is new */
    assert_true(v->entries[0].best && !v->entries[2].best);
    assert_int_equal(v->entries[0].first, v->entries[2].first);
    assert_int_equal(v->entries[0].count, 32);
    assert_string_equal(v->values[v->entries[3].first + 2].label, "swl 40");
    x = parsed("[programs]\na\n[schedulers]\nbest = best(swl:limit=1..4)\nlrr\n");
    assert_int_equal(x.point_count, 5);
    assert_string_equal(x.axes[AXIS_SCHEDULER].values[x.axes[AXIS_SCHEDULER].entries[0].first].label, "swl 1");
}

/* A choice among lines has their values, each once, and no runs. */
static void choices_among_lines(void **state)
{
    (void)state;
    struct experiment x = parsed("[programs]\na\nb\n[schedulers]\nbetter = best( gto | \"rr\" |gto)\nrr\ngto\nswl = "
                                 "swl:limit=1..4\nany = best(better | swl 2 | swl)\n"
                                 "[variants]\nbase =\nways = l1d.ways=2\neither = best(base | "
                                 "ways)\n[machines]\ngtx480\nccws\none of them = best(gtx480 | ccws)\n");
    const struct lab_axis_values *v = &x.axes[AXIS_SCHEDULER];
    assert_int_equal(v->value_count, 6);
    assert_int_equal(x.point_count, 2 * 6 * 2 * 2);
    const struct lab_entry *better = &v->entries[0], *any = &v->entries[4];
    assert_true(better->best && better->list && !v->entries[1].list);
    assert_int_equal(better->count, 2);
    assert_string_equal(v->values[lab_entry_value(better, 0)].label, "gto");
    assert_string_equal(v->values[lab_entry_value(better, 1)].label, "rr");
    assert_int_equal(any->count, 6);
    assert_string_equal(v->values[lab_entry_value(any, 2)].label, "swl 2"); /* in the order of the choice */
    assert_string_equal(v->values[lab_entry_value(any, 3)].label, "swl 1");
    x = parsed("[programs]\na\nb\n[schedulers]\nlrr\nrr\ngto\nslow = best(lrr | rr)\n[exclude]\nno slow one = "
               "scheduler=slow program=a\n");
    assert_int_equal(x.point_count, 4);
    assert_null(point(&x, "a", "rr"));
    assert_non_null(point(&x, "a", "gto"));
}

static void mistakes_of_choices(void **state)
{
    (void)state;
#define LINES "[programs]\na\n[schedulers]\nlrr\ngto\nswl = swl:limit={2,4}\n" /* the next line is 7 */
    refused(LINES "b = best(lrr | gtoo)\n", 7, 16, "unknown line of this axis 'gtoo'; did you mean 'gto'?");
    refused(LINES "b = best(lrr | nothing like it)\n", 7, 16, "known: lrr, gto, swl, b, swl 2, swl 4");
    refused(LINES "b = best(lrr | )\n", 7, 15, "expected a label");
    refused(LINES "b = best( | lrr)\n", 7, 11, "expected a label");
    refused(LINES "b = best(lrr | b)\n", 7, 16, "cannot be among what it chooses from");
    refused(LINES "b = best(lrr | c)\nc = best(lrr | gto)\n", 7, 16, "it must stand above this one");
    refused(LINES "b = best(lrr | \"gto)\n", 7, 16, "not closed");
    refused(LINES "b = best(lrr | gto\n", 7, 9, "not closed");
    refused(LINES "best(lrr | gto)\n", 7, 1, "give the line a label of its own");
    refused(LINES "b = best(gto)\n", 7, 10, "best(...) of no range");
    refused(LINES "b = best(lrr | gto)\n[figure f]\nx = scheduler.limit\ny = ipc\nwhere = scheduler=b\n", 11, 9,
            "no line of scheduler that this leaves has a range over limit");
}

static void tables(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[programs]\nbfs\n[table speedups]\nsource = Table 3 of a paper\ncolumns = lrr, \"gto, 2\"\nrow.bfs = "
               "1, 1.5 x\nrow.\"a = b\" = \"1,000\",\n"
               "[table speedups 2]\ntitle = More\ncaption = As printed.\nsource = same\ncolumns = one\nrow.x = 1\n");
    assert_int_equal(x.table_count, 2);
    const struct lab_table *t = x.tables;
    assert_string_equal(t->name, "speedups");
    assert_string_equal(t->title, "speedups");
    assert_string_equal(t->caption, "");
    assert_string_equal(t->source, "Table 3 of a paper");
    assert_int_equal(t->column_count, 2);
    assert_string_equal(t->columns[1], "gto, 2");
    assert_int_equal(t->row_count, 2);
    assert_string_equal(t->rows[0].values[1], "1.5 x");
    assert_string_equal(t->rows[1].label, "a = b");
    assert_string_equal(t->rows[1].values[0], "1,000");
    assert_string_equal(t->rows[1].values[1], "");
    assert_string_equal(x.tables[1].title, "More");
    assert_string_equal(x.tables[1].caption, "As printed.");
    assert_int_equal(parsed("[programs]\nbfs\n").table_count, 0);
}

static void mistakes_of_tables(void **state)
{
    (void)state;
#define TABLE "[programs]\na\n[table t]\n" /* its lines begin with 4 */
    refused(TABLE "columns = a\nrow.x = 1\n", 3, 8, "expected source = where these numbers were published");
    refused(TABLE "source =\ncolumns = a\nrow.x = 1\n", 3, 8, "expected source");
    refused(TABLE "source = s\nrow.x = 1\n", 3, 8, "expected columns =");
    refused(TABLE "source = s\ncolumns = a\n", 3, 8, "a table without rows");
    refused(TABLE "source = s\ncolumns = a, b\nrow.x = 1\n", 6, 10,
            "expected 2 values, one for each column; here are 1");
    refused(TABLE "source = s\ncolumns = a, b\nrow.x = 1, 2, 3\n", 6, 15, "more values than the 2 columns");
    refused(TABLE "source = s\ncolumns = a, b\nrow.x = 1, 2\nrow.x = 3, 4\n", 7, 1,
            "row.x is given twice; first on line 6");
    refused(TABLE "source = s\ncolumns = a, b\nrow.x = 1, 2\nrow.\"x\" = 3, 4\n", 7, 5, "the row 'x' is given twice");
    refused(TABLE "source = s\ncolumns = a, b, a\nrow.x = 1, 2, 3\n", 5, 17, "the column 'a' is given twice");
    refused(TABLE "source = s\ncolumns = a, , b\nrow.x = 1, 2, 3\n", 5, 14, "expected the label of a column");
    refused(TABLE "source = s\ncolumns = a\nrow. = 1\n", 6, 5, "expected the label of a row");
    refused(TABLE "source = s\ncolumns = a\nrow.x = \"1\n", 6, 9, "not closed");
    refused(TABLE "source = s\ncolumn = a\nrow.x = 1\n", 5, 1,
            "unknown key of a table 'column'; did you mean 'columns'?");
    refused(TABLE "source = s\ncolumns = a\nrow.x = 1\n[table t]\n", 7, 8, "[table t] is given twice; first on line 3");
    refused("[programs]\na\n[table]\n", 3, 7, "expected the table's name: [table NAME]");
}

static void the_same_value_is_one(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[programs]\nbfs\nagain = bfs\n[schedulers]\nswl 4 = swl:limit=4\nswl = swl:limit=1..8\n");
    assert_int_equal(x.point_count, 8);
    assert_int_equal(x.axes[AXIS_PROGRAM].entry_count, 2);
    assert_int_equal(x.axes[AXIS_PROGRAM].value_count, 1);
}

static void exclusions(void **state)
{
    (void)state;
    struct experiment x =
        parsed("[programs]\nbfs\nbig bfs = bfs --n 2\nc\n[schedulers]\nlrr\nrr\nswl = swl:limit=1..4\n[exclude]\n"
               "no big on rr = program=\"big bfs\" scheduler=rr\nnot enough warps = scheduler=\"swl 1\"|\"swl 2\", "
               "program=bfs|c\n");
    assert_int_equal(x.point_count, 3 * 6 - 1 - 4);
    assert_null(point(&x, "big bfs", "rr"));
    assert_null(point(&x, "c", "swl 2"));
    assert_non_null(point(&x, "big bfs", "swl 2"));
    assert_non_null(point(&x, "c", "swl 3"));
    x = parsed(
        "[programs]\na\nb\n[schedulers]\nlrr\nswl = swl:limit=1..4\n[exclude]\nnone = scheduler=swl program=a\n");
    assert_int_equal(x.point_count, 6);
}

static void figures(void **state)
{
    (void)state;
    struct experiment x = parsed("[figure first one]\nkind = bars\nx = program\ny = ipc\nseries = scheduler\nnormalise "
                                 "= scheduler=lrr\nmean = geometric\nsource = Figure 7\n"
                                 "published.bfs = lrr 1, gto 1.2\npublished.big bfs = gto 2e0\npublished.mean = gto "
                                 "1.5\nexpect = gto > lrr, lrr < 1.2 * gto\n"
                                 "[figure parts]\nkind = stacked\nx=program\ny = memory: stalls.memory, \"a, b\": "
                                 "(stalls.fetch + 1)\nshares = yes\nwhere = scheduler=gto\n"
                                 "[figure s]\nkind = scatter\nx = l2.misses / l2.accesses\ny = lanes.32\n"
                                 "[programs]\nbfs\nbig bfs = bfs --n 2\n[schedulers]\nlrr\ngto\n");
    assert_int_equal(x.figure_count, 3);
    const struct lab_figure *f = &x.figures[0];
    assert_string_equal(f->name, "first one");
    assert_string_equal(f->title, "first one");
    assert_string_equal(f->x_title, "program");
    assert_string_equal(f->y_title, "ipc, relative to lrr");
    assert_int_equal(f->mean, MEAN_GEOMETRIC);
    assert_int_equal(f->published_count, 4);
    assert_string_equal(f->published[2].x, "big bfs");
    assert_string_equal(f->published[2].series, "gto");
    assert_true(f->published[2].value == 2);
    assert_int_equal(f->expected_count, 2);
    assert_string_equal(f->expected[1], "lrr < 1.2 * gto");
    assert_string_equal(f->normalise.labels[AXIS_SCHEDULER], "lrr");
    f = &x.figures[1];
    assert_int_equal(f->y_count, 2);
    assert_string_equal(f->y_labels[1], "a, b");
    assert_string_equal(f->y[0], "(stalls.memory) / ((stalls.memory) + ((stalls.fetch + 1)))");
    assert_null(x.figures[2].series);
    assert_int_equal(x.figures[2].kind, FIGURE_SCATTER);
}

static void counters_of_foreign_policies(void **state)
{
    (void)state;
    parsed("[programs]\na\n[schedulers]\nmine = ./mine.so:limit=4\n[figure f]\nx=program\ny=mine.switches\n");
    refused("[programs]\na\n[schedulers]\nmine = ./mine.so:limit=4\n[figure f]\nx=program\ny=l1d.switches\n", 7, 3,
            "unknown metric 'l1d.switches'");
    refused("[programs]\na\n[figure f]\nx=program\ny=mine.switches\n", 5, 3, "unknown metric 'mine.switches'");
}

static void mistakes_of_lines(void **state)
{
    (void)state;
    struct experiment x;
    struct error e = {0};
    refused("", 1, 1, "an empty experiment");
    refused("[programs]\n\n[machines]\ngtx480\n", 1, 2, "an empty experiment");
    refused("bfs\n", 1, 1, "expected a [section]");
    refused("[programs]\nbfs\n[schedulrs]\n", 3, 2, "did you mean 'schedulers'?");
    refused("[programs\nbfs\n", 1, 10, "expected ']'");
    refused("[programs all]\nbfs\n", 1, 11, "expected ']' after programs");
    refused("[figure]\n", 1, 8, "expected the figure's name");
    refused("[programs]\na\n[programs]\nb\n", 3, 2, "given twice; first on line 1");
    refused("[figure a]\nx=program\n[figure a]\n", 3, 9, "[figure a] is given twice; first on line 1");
    refused("[experiment]\ntitle\n", 2, 1, "expected name = value");
    refused("[experiment]\n = x\n", 2, 2, "expected a name before '='");
    refused("[experiment]\ntitel = x\n[programs]\na\n", 2, 1,
            "unknown key of [experiment] 'titel'; did you mean 'title'?");
    refused("[experiment]\ntitle = x\ntitle = y\n[programs]\na\n", 3, 1, "title is given twice; first on line 2");
    refused("[experiment]\nsize = tets\n[programs]\na\n", 2, 8, "did you mean 'test'?");
    refused("[experiment]\ntime_limit = 60\n[programs]\na\n", 2, 14, "expected a time with its unit");
    refused("[experiment]\ntime_limit = -1s\n[programs]\na\n", 2, 14, "expected a time with its unit");
    refused("[experiment]\nmemory_limit = 2X\n[programs]\na\n", 2, 16, "expected bytes");
    refused("[experiment]\nbest_by = ipcs\n[programs]\na\n", 2, 11, "unknown metric 'ipcs'; did you mean 'ipc'?");
    assert_false(experiment_parse(&x, &arena, "test", "[programs]\nb\0s\n", 15, NULL, &e));
    assert_non_null(strstr(e.text, "test:2:2: error: a NUL byte"));
}

static void mistakes_of_axes(void **state)
{
    (void)state;
    refused("[experiment]\npcs = true\n[programs]\na\n", 2, 7, "expected yes or no");
    refused("[experiment]\nreplay = lru, beladi\n[programs]\na\n", 2, 15,
            "unknown policy of a replay 'beladi'; did you mean 'belady'?");
    refused("[experiment]\nreplay = lru,\n[programs]\na\n", 2, 14, "expected policies");
    refused("[experiment]\nreplay =\n[programs]\na\n", 2, 9, "expected policies");
    refused(
        "[experiment]\nreplay = lru\n[programs]\na\n[figure f]\nx=program\ny = l1d.misses - l1d.replay.belady.misses\n",
        7, 18, "expected replay = belady in [experiment]");
    refused("[experiment]\nlaunches = 3-1\n[programs]\na\n", 2, 12, "expected the launches that are timed");
    refused("[experiment]\nlaunches = all\n[programs]\na\n", 2, 12, "expected the launches that are timed");
    refused("[experiment]\nlaunches =\n[programs]\na\n", 2, 11, "expected the launches that are timed");
    refused("[experiment]\ninterval = 10k\n[programs]\na\n", 2, 12, "expected a whole number of cycles from 1");
    refused("[experiment]\ninterval = 0\n[programs]\na\n", 2, 12, "expected a whole number of cycles from 1");
    refused("[experiment]\ninterval = 1.5\n[programs]\na\n", 2, 12, "expected a whole number of cycles from 1");
    refused("[experiment]\ninterval = 1e16\n[programs]\na\n", 2, 12, "expected a whole number of cycles from 1");
    refused("[experiment]\ninterval =\n[programs]\na\n", 2, 11, "expected a whole number of cycles from 1");
    refused("[programs]\na\nb\na = c\n", 4, 1, "the label 'a' is given twice; first on line 2");
    refused("[programs]\na = \n", 2, 4, "expected a program");
    refused("[programs]\na = bfs \"x y\n", 2, 9, "this quote is not closed");
    refused("[programs]\nx|y = bfs\n", 2, 2, "cannot hold '|'");
    refused("[programs]\na\n[machines]\nm =\n", 4, 4, "expected a machine");
    refused("[programs]\na\n[schedulers]\ngto=gto\n", 4, 4, "'=' needs a blank");
    refused("[programs]\na\n[schedulers]\nbest swl = swl 4\n", 4, 15, "expected NAME[:key=value,...]");
    refused("[programs]\na\n[schedulers]\nswl = :limit=4\n", 4, 7, "expected the name of a policy");
    refused("[programs]\na\n[schedulers]\nswl = swl:=4\n", 4, 11, "expected key=value");
    refused("[programs]\na\n[schedulers]\nswl = swl:limit=1,\n", 4, 19, "expected key=value");
    refused("[programs]\na\n[variants]\nv = l1d=4\n", 4, 5, "expected section.key=value");
    refused("[programs]\na\n[variants]\nv = l1d.sets=\n", 4, 14, "expected a value of l1d.sets");
    refused("[programs]\na\n[variants]\n8MB=l1d.sets=16384\n", 4, 1,
            "expected section.key=value"); /* the '=' behind a label has a blank beside it */
    refused("[programs]\na\n[schedulers]\nswl 4 = gto\nswl = swl:limit=1..8\n", 5, 7,
            "the label 'swl 4' of one of its values is another line's");
}

static void mistakes_of_ranges(void **state)
{
    (void)state;
    refused("[programs]\na\n[l1]\nx = y:k=8..1\n", 4, 9, "a range with no values");
    refused("[programs]\na\n[l1]\nx = y:k={}\n", 4, 9, "a range with no values");
    refused("[programs]\na\n[l1]\nx = y:k={1,,2}\n", 4, 12, "expected a value");
    refused("[programs]\na\n[l1]\nx = y:k=1..1x\n", 4, 12, "expected a number");
    refused("[programs]\na\n[l1]\nx = y:k=1..8..0\n", 4, 15, "expected a step greater than 0");
    refused("[programs]\na\n[l1]\nx = y:k=1..10001\n", 4, 9, "more than 10000 values");
    refused("[programs]\na\n[l1]\nx = y:k={1..9000,1..9000}\n", 4, 18, "more than 10000 values");
    refused("[programs]\na\n[l1]\nx = y:k=1..4,l=1..2\n", 4, 16, "a second range");
    refused("[programs]\na\n[l1]\nx = best(y:k=4)\n", 4, 10, "best(...) of no range");
    refused("[programs]\na\n[l1]\nx = best(y:k=1..4\n", 4, 9, "this '(' is not closed");
    refused("[programs]\na\n[l1]\nx = best(y:k={1,2)\n", 4, 18, "this ')' closes nothing");
    refused("[programs]\na\n[l1]\nx = y:k={1,2\n", 4, 9, "this '{' is not closed");
    refused("[programs]\na\n[l1]\nx = best(y:k=1..4) z\n", 4, 21, "expected ')'");
    parsed("[programs]\na\n[l1]\nx = y:k=1..10000\n");
}

static void too_many_points(void **state)
{
    (void)state;
    refused("[programs]\na\n[schedulers]\nx = y:k=1..1000\n[l1]\nz = w:k=1..1001\n", 1, 2, "more than 1000000 points");
    char text[4000] = "[programs]\na\n[l1]\n";
    for (int i = 0; i < 11; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "r%d = y:k=1..10000,m=%d\n", i, i);
    refused(text, 14, 7, "more than 100000 values of one axis");
    assert_int_equal(parsed("[programs]\na\n[schedulers]\nx = y:k=1..1000\n[l1]\nz = w:k=1..1000\n").point_count,
                     1000000);
}

static void mistakes_of_filters(void **state)
{
    (void)state;
#define AXES "[programs]\nbfs\nbig bfs = bfs -n\n[schedulers]\nlrr\ngto\n"
    refused(AXES "[exclude]\nwhy = program\n", 8, 7, "expected axis=label");
    refused(AXES "[exclude]\nwhy =\n", 8, 6, "expected axis=label");
    refused(AXES "[exclude]\nwhy = programs=bfs\n", 8, 7, "unknown axis 'programs'; did you mean 'program'?");
    refused(AXES "[exclude]\nwhy = program=bfs scheduler=gtoo\n", 8, 29,
            "unknown scheduler 'gtoo'; did you mean 'gto'?");
    refused(AXES "[exclude]\nwhy = program=big bfs\n", 8, 15, "unknown program 'big'");
    refused(AXES "[exclude]\nwhy = program=bfs bfs\n", 8, 19, "a label with blanks needs quotes");
    refused(AXES "[exclude]\nwhy = program=\"big bfs\n", 8, 15, "this quote is not closed");
    refused(AXES "[exclude]\nwhy = program=bfs|\n", 8, 19, "expected a label");
    refused(AXES "[exclude]\nwhy = program=bfs program=bfs\n", 8, 19, "given twice");
    refused(AXES "[exclude]\nwhy = program=bfs|\"big bfs\"\n", 7, 2, "every point is excluded");
}

static void mistakes_of_figures(void **state)
{
    (void)state;
#define FIGURE AXES "[figure f]\n" /* its lines begin with 8 */
    refused(FIGURE "kinds = bars\n", 8, 1, "unknown key of a figure 'kinds'; did you mean 'kind'?");
    refused(FIGURE "kind = bar\nx=program\ny=ipc\n", 8, 8, "unknown kind 'bar'; did you mean 'bars'?");
    refused(FIGURE "mean = geometrical\nx=program\ny=ipc\n", 8, 8, "did you mean 'geometric'?");
    refused(FIGURE "y = ipc\n", 7, 9, "expected x =");
    refused(FIGURE "x = program\n", 7, 9, "expected y =");
    refused(FIGURE "x = programm\ny=ipc\nseries=scheduler\n", 8, 5, "unknown axis 'programm'; did you mean 'program'?");
    refused(FIGURE "x = program\ny=ipc\nseries=schedule\n", 10, 8,
            "unknown axis 'schedule'; did you mean 'scheduler'?");
    refused(FIGURE "x = program\ny=ipc\nseries=program\n", 10, 8, "x is program already");
    refused(FIGURE "x = program\ny = 1000 * l1d.mises / cycles\nseries=scheduler\n", 9, 12,
            "unknown metric 'l1d.mises'; did you mean 'l1d.misses'?");
    refused(FIGURE "x = program\ny = ipc + (1\nseries=scheduler\n", 9, 11, "this '(' is not closed");
    refused(FIGURE "x = program\ny = kernels.name\nseries=scheduler\n", 9, 5, "unknown metric");
    refused(FIGURE "x = program\ny = lanes.33\nseries=scheduler\n", 9, 5, "unknown metric 'lanes.33'");
    refused(FIGURE "kind=lines\nx = program\ny = ipc, cycles\nseries=scheduler\n", 10, 10,
            "only bars and stacked figures");
    refused(FIGURE "x = program\ny = ipc, cycles\nwhere=scheduler=gto\nnormalise=scheduler=gto\n", 9, 5,
            "are not normalised");
    refused(FIGURE "x = program\ny = ipc, cycles\nseries=scheduler\nnormalise=scheduler=gto\n", 9, 5,
            "are not normalised");
    parsed(FIGURE "x = program\ny = one: ipc, two: cycles\nseries=scheduler\nexpect = lrr one > 2 * gto two\n");
    refused(FIGURE "x = program\ny = ipc\n", 7, 9,
            "scheduler has 2 entries and the figure shows one: add where = scheduler=lrr");
    refused(FIGURE "x = program\ny = ipc\nwhere = scheduler=lrr|gto\n", 10, 9, "scheduler has 2 entries");
    refused(FIGURE "x = program\ny = ipc\nwhere = scheduler=lr\n", 10, 19,
            "unknown scheduler 'lr'; did you mean 'lrr'?");
    refused(FIGURE "x = program\ny = ipc\nseries=scheduler\nnormalise = scheduler=ltr\n", 11, 23,
            "unknown scheduler 'ltr'");
    refused(FIGURE "x = program\ny = ipc\nseries=scheduler\nnormalise = scheduler=lrr|gto\n", 11, 13,
            "expected one scheduler to divide by");
    refused(FIGURE "x = program\ny = ipc\nseries=scheduler\nwhere=program=bfs\nnormalise = scheduler=lrr\n[exclude]\na "
                   "= program=bfs scheduler=lrr\n",
            12, 13, "matches none");
    refused(FIGURE "kind=scatter\nx = ipc\ny = cycles\nmean=geometric\n", 11, 1, "a scatter has no mean");
    refused(FIGURE "kind=heat\nx = program\ny = ipc\nwhere=scheduler=gto\n", 7, 9, "the rows of the heat map");
    refused(FIGURE "kind=stacked\nx = program\ny = a: ipc, a: cycles\nseries=scheduler\n", 10, 13,
            "the label 'a' is given twice");
    refused(FIGURE "kind=stacked\nx = program\ny = ipc, cycles\nseries=scheduler\nmean = geometric\n", 12, 8,
            "expected arithmetic");
    refused(FIGURE "x = program\ny = ipc\nseries=scheduler\nshares = yes\n", 11, 1, "of a stacked figure");
    refused(FIGURE "x = scheduler.limit\ny = ipc\nseries=program\n", 8, 5, "unknown axis 'scheduler.limit'");
}

static void mistakes_of_figures_over_time(void **state)
{
    (void)state;
#define OVER "[experiment]\ninterval = 1000\n" FIGURE /* its lines begin with 10 */
    struct experiment x = parsed(OVER "kind=lines\nx = cycle\ny = stalls.memory / "
                                      "resident_warps\nseries=scheduler\nwhere=program=bfs\nlaunch = some_kernel\n");
    assert_string_equal(x.figures[0].launch, "some_kernel");
    assert_string_equal(
        parsed(OVER "kind=lines\nx = cycle\ny = ipc\nwhere=program=bfs scheduler=lrr\n").figures[0].launch, "0");
    assert_null(parsed(FIGURE "kind=lines\nx = program\ny = ipc\nseries=scheduler\n").figures[0].launch);
    refused(FIGURE "kind=lines\nx = cycle\ny = ipc\nseries=scheduler\n", 9, 5,
            "expected interval = CYCLES in [experiment]");
    refused(OVER "x = cycle\ny = ipc\nseries=scheduler\n", 10, 5, "expected kind = lines");
    refused(OVER "kind=lines\nx = cycle\ny = energy.total_nj\nseries=scheduler\n", 12, 5,
            "unknown sample over time 'energy.total_nj'");
    refused(OVER "kind=lines\nx = cycle\ny = l1d.mises\nseries=scheduler\n", 12, 5, "did you mean 'l1d.misses'?");
    refused(OVER "kind=lines\nx = program\ny = resident_warps\nseries=scheduler\n", 12, 5,
            "unknown metric 'resident_warps'");
    refused(OVER "kind=lines\nx = cycle\ny = ipc\nseries=scheduler\n", 9, 9, "program has 2 entries");
    refused(OVER "kind=lines\nx = cycle\ny = ipc\nseries=scheduler\nnormalise=scheduler=lrr\n", 14, 1,
            "a figure over time has no normalise");
    refused(OVER
            "kind=lines\nx = cycle\ny = ipc\nseries=scheduler\nwhere=program=bfs\nsource=x\npublished.100 = lrr 1\n",
            16, 1, "have no place in it");
    refused(OVER "kind=lines\nx = cycle\ny = ipc\nlaunch =\n", 13, 9, "expected the number of a launch");
    refused(OVER "kind=lines\nx = program\ny = ipc\nlaunch = 1\n", 13, 1, "launch is for figures over time");
}

/* Dividing by the sum must not make an expression that cannot be read again. */
static void shares_of_long_parts(void **state)
{
    (void)state;
    char text[9000] = "[programs]\nbfs\n[figure f]\nkind = stacked\nshares = yes\nx = program\ny = a: cycles, b: ";
    for (int i = 0; i < 2400; i++)
        strcat(text, "1+");
    strcat(text, "cycles\n");
    refused(text, 5, 1, "the parts are too long");
}

static void mistakes_of_claims(void **state)
{
    (void)state;
#define SHOWN FIGURE "x = program\ny = ipc\nseries=scheduler\nsource = a paper\n" /* the next line is 12 */
    refused(SHOWN "published.bsf = lrr 1\n", 12, 11, "unknown x 'bsf'; did you mean 'bfs'?");
    refused(SHOWN "published.bfs = lrt 1\n", 12, 17, "unknown series 'lrt'; did you mean 'lrr'?");
    refused(SHOWN "published.bfs = lrr one\n", 12, 21, "expected a number");
    refused(SHOWN "published.bfs = lrr 1, lrr 2\n", 12, 24, "given twice");
    refused(SHOWN "published.mean = lrr 1\n", 12, 11, "unknown x 'mean'");
    refused(SHOWN "published = bfs 1\n", 12, 1, "expected published.X");
    refused(SHOWN "expect = gto > lrx\n", 12, 16, "unknown series 'lrx'; did you mean 'lrr'?");
    refused(SHOWN "expect = gto\n", 12, 10, "expected LABEL > LABEL");
    refused(SHOWN "expect = gto >\n", 12, 15, "expected a label or a number");
    refused(SHOWN "expect = at least 3: gto > lrr\n", 12, 10, "the figure has only 2 x");
    refused(SHOWN "expect = at least 0: gto > lrr\n", 12, 10, "a whole number from 1");
    refused(SHOWN "expect = at least 1.5: gto > lrr\n", 12, 10, "a whole number from 1");
    refused(SHOWN "expect = at least 1: gto > lrx\n", 12, 28, "unknown series 'lrx'");
    refused(FIGURE "x = program\ny = ipc\nwhere=scheduler=gto\nexpect = at least 1: bfs > big bfs\n", 11, 10,
            "of one series");
    refused(SHOWN "expect = gto > lrr, x * gto > lrr\n", 12, 21, "expected NUMBER * LABEL");
    refused(FIGURE "x = program\ny = ipc\nwhere=scheduler=gto\npublished.bfs = 1\n", 11, 1, "expected source =");
    parsed(SHOWN "published.big bfs = lrr 1, gto 1.5\nexpect = gto >= 1.1 * lrr, gto > lrr > 0\n");
    parsed(FIGURE "x = program\ny = ipc\nwhere=scheduler=gto\nsource = x\npublished = bfs 1, big bfs 2\nexpect = bfs < "
                  "big bfs\n");
}

/* What a person sees. */
static void message(void **state)
{
    (void)state;
    struct experiment x;
    struct error e = {0};
    const char text[] = AXES "[exclude]\nwhy = program=bfs scheduler=gtoo\n";
    assert_false(experiment_parse(&x, &arena, "mine", text, strlen(text), NULL, &e));
    assert_string_equal(e.text, "mine:8:29: error: unknown scheduler 'gtoo'; did you mean 'gto'?\n  why = program=bfs "
                                "scheduler=gtoo\n                              ^");
}

static void files(void **state)
{
    (void)state;
    struct experiment x;
    struct error e = {0};
    assert_false(experiment_load(&x, &arena, "/nowhere/at_all.ini", NULL, &e));
    assert_non_null(strstr(e.text, "/nowhere/at_all.ini"));
    e = (struct error){0};
    assert_false(experiment_load(&x, &arena, "/", NULL, &e));
    assert_non_null(strstr(e.text, "directory"));
}

/* The example of docs/experiments.md is one. */
static void the_example_of_the_docs(void **state)
{
    (void)state;
    static char page[100000];
    FILE *f = fopen("docs/experiments.md", "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    fclose(f);
    char *text = strstr(page, "```ini\n"), *close = text ? strstr(text + 7, "```") : NULL;
    assert_non_null(close);
    *close = '\0';
    struct experiment x = parsed(text + 7);
    assert_int_equal(x.point_count, 4 * 2 * 13 * 3 - 8 * 2 * 3 - 2 * 13 * 3);
    assert_int_equal(x.figure_count, 9);
    assert_int_equal(x.probe_count, 4);
    assert_int_equal(x.input_count, 1);
    assert_int_equal(x.table_count, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(smallest),
        TEST(head),
        TEST(programs),
        TEST(product),
        TEST(ranges),
        TEST(ranges_of_variants),
        TEST(best_shares_its_runs),
        TEST(choices_among_lines),
        TEST(the_same_value_is_one),
        TEST(exclusions),
        TEST(figures),
        TEST(counters_of_foreign_policies),
        TEST(mistakes_of_lines),
        TEST(mistakes_of_axes),
        TEST(mistakes_of_ranges),
        TEST(too_many_points),
        TEST(mistakes_of_filters),
        TEST(mistakes_of_figures),
        TEST(mistakes_of_figures_over_time),
        TEST(shares_of_long_parts),
        TEST(mistakes_of_claims),
        TEST(mistakes_of_choices),
        TEST(tables),
        TEST(mistakes_of_tables),
        TEST(message),
        TEST(files),
        TEST(the_example_of_the_docs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Is it read right which figures and tables of a paper an experiment shows, and which it does not? */
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

/* "CCWS: F7 F8 T1" */
static const char *cited_text(const struct lab_cited *c)
{
    const char *text = arena_printf(&arena, "%s:", c->paper);
    for (uint32_t i = 0; i < c->count; i++)
        text = arena_printf(&arena, "%s %c%u", text, c->items[i].table ? 'T' : 'F', c->items[i].number);
    return text;
}

static void sources(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"CCWS, Figure 7", "CCWS: F7"},
        {"DAWS, Figures 8 and 10", "DAWS: F8 F10"},
        {"DAWS, Figures 4, 6 to 8, and 12", "DAWS: F4 F6 F7 F8 F12"},
        {"DAWS, Figures 4-6", "DAWS: F4 F5 F6"},
        {"CAWA, Table 1", "CAWA: T1"},
        {"CAWA, Tables 1 and 2, Figure 3", "CAWA: T1 T2 F3"},
        {"CAWA, Figure 2 (a) and (c), no values in the text but 20%", "CAWA: F2"},
        {"CAWA, Figures 2 (a) and (c), 5 (b) and 6", "CAWA: F2 F5 F6"},
        {"CAWA, Figure 2b", "CAWA: F2"},
        {"CAWA, Figure 1, 20 values", "CAWA: F1"},
        {"CCWS, Figure 8 (LRU)", "CCWS: F8"},
        {"CCWS, Figure 7 and text", "CCWS: F7"},
        {"SLP, section 6.1: of Figure 11 the text gives the means", "SLP: F11"},
        {"SLP, section 6.1", "SLP:"},
        {"SLP, Figure 6.1", "SLP:"},
        {"SLP, Figures 3, 20%", "SLP: F3"},
        {"SLP, the Figures", "SLP:"},
        {"SLP, Figure 0", "SLP:"},
        {"SLP, Figure 99999", "SLP:"},
        {"SLP, Figure 1 (", "SLP: F1"},
        {"SLP, subFigure 1", "SLP:"},
        {"PAWS report, Figure 3", "PAWS: F3"},
        {"DAWS, Figures 8 and 8", "DAWS: F8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct experiment x = parsed(
            arena_printf(&arena, "[programs]\nbfs\n[figure f]\nx = program\ny = ipc\nsource = %s\n", cases[i][0]));
        assert_string_equal(cited_text(&x.figures[0].cited), cases[i][1]);
    }
    struct experiment x = parsed("[programs]\nbfs\n[figure f]\nx = program\ny = ipc\n[table t]\nsource = SLP, Table 2\n"
                                 "columns = a\nrow.b = 1\nclaim = Less is more.\n");
    assert_string_equal(cited_text(&x.figures[0].cited), ":");
    assert_string_equal(cited_text(&x.tables[0].cited), "SLP: T2");
    assert_string_equal(x.tables[0].claim, "Less is more.");
    assert_null(x.figures[0].claim);
    assert_null(x.paper);
}

#define HEAD   "[programs]\nbfs\n[paper]\nname = P\nfigures = 9\ntables = 2\n" /* lines after it begin with 7 */
#define FIGURE "[figure f]\nx = program\ny = ipc\n"

static void papers(void **state)
{
    (void)state;
    struct experiment x = parsed(
        HEAD FIGURE "source = P, Figure 1\nclaim = \"More; and more\"\n[shown elsewhere]\n"
                    "Figure 6 = tests/a.c: the example\nTables 1 and 2 = docs/b.md: the machine\n"
                    "[left out]\nFigure 4 = It has no numbers: = or any ; comment\nFigure 1 (b), (c) = No text.\n");
    const struct lab_paper *p = x.paper;
    assert_string_equal(p->name, "P");
    assert_string_equal(p->title, "");
    assert_int_equal(p->figures, 9);
    assert_int_equal(p->tables, 2);
    assert_string_equal(x.figures[0].claim, "More; and more");
    assert_int_equal(p->elsewhere_count, 2);
    assert_string_equal(p->elsewhere[0].file, "tests/a.c");
    assert_string_equal(p->elsewhere[0].text, "the example");
    assert_string_equal(cited_text(&p->elsewhere[0].cited), ": F6");
    assert_true(lab_cites(&p->elsewhere[1].cited, true, 2));
    assert_false(lab_cites(&p->elsewhere[1].cited, false, 2));
    assert_int_equal(p->left_out_count, 2);
    assert_string_equal(p->left_out[0].text, "It has no numbers: = or any");
    assert_string_equal(p->left_out[0].part, "");
    assert_string_equal(p->left_out[1].part, "(b), (c)");
    assert_null(p->left_out[0].file);
    assert_int_equal(parsed("[programs]\nbfs\n[paper]\nname = P\nfigures = 1\ntitle = The paper\n").paper->tables, 0);
}

static void mistakes(void **state)
{
    (void)state;
    refused("[programs]\na\n[left out]\nFigure 1 = x\n", 3, 2, "expected a section [paper]");
    refused("[programs]\na\n[shown elsewhere]\n", 3, 2, "expected a section [paper]");
    refused("[programs]\na\n[paper]\nfigures = 1\n", 3, 2, "expected name = one word");
    refused("[programs]\na\n[paper]\nname = a b\nfigures = 1\n", 3, 2, "expected name = one word");
    refused("[programs]\na\n[paper]\nname = a\n", 3, 2, "expected figures =");
    refused("[programs]\na\n[paper]\nname = a\nfigures = -1\n", 5, 11, "expected how many figures");
    refused("[programs]\na\n[paper]\nname = a\nfigures = 1\ntables = 1.5\n", 6, 10, "expected how many tables");
    refused("[programs]\na\n[paper]\nfigure = 1\n", 4, 1, "unknown key of [paper] 'figure'; did you mean 'figures'?");
    refused("[programs]\na\n[paper x]\n", 3, 8, "expected ']' after paper");
    refused("[programs]\na\n[left over]\n", 3, 2, "unknown section 'left'; known: ");
    refused(HEAD "[left out]\nFigures = x\n", 8, 1, "expected Figure NUMBER");
    refused(HEAD "[left out]\nthe Figure 3 = x\n", 8, 1, "expected Figure NUMBER");
    refused(HEAD "[left out]\nFigure 3 =\n", 8, 11, "expected a text");
    refused(HEAD "[left out]\nFigure 10 = x\n", 8, 1, "Figure 10 is named, and [paper] says that P has 9");
    refused(HEAD "[left out]\nTables 2 to 3 = x\n", 8, 1, "Table 3 is named, and [paper] says that P has 2");
    refused(HEAD FIGURE "source = P, Figure 10\n", 10, 10, "Figure 10 is named");
    refused(HEAD "[table t]\ncolumns = a\nrow.b = 1\nsource = P, Table 3\n", 10, 10, "Table 3 is named");
    refused(HEAD "[shown elsewhere]\nFigure 3 = tests/a.c\n", 8, 12, "expected FILE: what it shows");
    refused(HEAD "[shown elsewhere]\nFigure 3 = a test: b\n", 8, 12, "expected FILE: what it shows");
    refused(HEAD "[shown elsewhere]\nFigure 3 = tests/a.c:\n", 8, 22, "expected what the file shows");
    refused(HEAD FIGURE "source = P, Figure 3\n[left out]\nFigures 2 and 3 = x\n", 12, 1,
            "Figure 3 is left out, and [figure f] shows it; a part is left out as Figure 3 (a)");
    refused(HEAD "[table t]\ncolumns = a\nrow.b = 1\nsource = P, Table 1\n[left out]\nTable 1 = x\n", 12, 1,
            "Table 1 is left out, and [table t] shows it");
    refused(HEAD "[shown elsewhere]\nFigure 3 = tests/a.c: b\n[left out]\nFigure 3 = x\n", 10, 1,
            "Figure 3 is left out, and tests/a.c shows it");
    /* Of another paper, or of none: nothing is known about its numbers. */
    parsed(HEAD FIGURE "source = Q, Figure 10\n[left out]\nFigure 9 = x\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {TEST(sources), TEST(papers), TEST(mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

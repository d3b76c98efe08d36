/* Source lines: are instructions of one line added up, whichever kernel they are in, are those without a source lines
 * of their own, is what follows from counters right, and are source files found where a person would look? */
#include "lines/lines.h"
#include "program/source_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char results[] =
    "{'functional': false, 'kernels': ["
    "{'name': 'first', 'pcs': ["
    "{'pc': 0, 'line': 5, 'source': 'a/b.cu:2', 'text': 'ld.global.u32 %r1, [%rd1]', 'executions': 10,"
    " 'thread_executions': 40, 'load_requests': 10, 'load_accesses': 25, 'l1d_misses': 7, 'stalled': 3,"
    " 'cycles': {'issued': 10, 'memory': 3}, 'loads': {'misses': 7}, 'trips': {'this_trip': 1}},"
    "{'pc': 1, 'line': 6, 'source': 'a/b.cu:2', 'text': 'st.global.u32 [%rd1], %r1', 'executions': 4,"
    " 'thread_executions': 5, 'store_requests': 4, 'store_accesses': 4, 'l1d_misses': 4, 'stalled': 100,"
    " 'cycles': {'issued': 4, 'memory': 90, 'fetch': 10}},"
    "{'pc': 2, 'line': 7, 'text': 'ret', 'executions': 10, 'thread_executions': 320, 'stalled': 200}]},"
    "{'name': 'second', 'pcs': ["
    "{'pc': 9, 'line': 50, 'source': 'a/b.cu:2', 'text': 'add.u32 %r1, %r1, 1', 'executions': 1,"
    " 'thread_executions': 33, 'stalled': 1},"
    "{'pc': 10, 'line': 7, 'text': 'ret', 'executions': 1, 'thread_executions': 32, 'stalled': 50}]}]}";

static void open_lines(struct code_lines *l)
{
    json_error_t e;
    char text[sizeof results];
    for (size_t i = 0; i < sizeof results; i++)
        text[i] = results[i] == '\'' ? '"' : results[i];
    json_t *root = json_loads(text, 0, &e);
    assert_non_null(root);
    *l = (struct code_lines){.count = 0};
    code_lines_of_results(l, root);
    json_decref(root);
}

static void adding_up(void **state)
{
    (void)state;
    struct code_lines l;
    open_lines(&l);
    assert_int_equal(l.count, 3); /* b.cu:2 of both kernels; the PTX line 7 of each */
    const struct code_line *line = &l.list[0];
    assert_string_equal(line->file, "a/b.cu");
    assert_int_equal(line->number, 2);
    assert_true(code_line_value(&l, line, "executions") == 15);
    assert_true(code_line_value(&l, line, "stalled") == 104);
    assert_true(code_line_value(&l, line, "cycles.memory") == 93);
    assert_true(code_line_value(&l, line, "cycles.fetch") == 10);
    assert_true(code_line_value(&l, line, "cycles.issued") == 14);
    assert_true(code_line_value(&l, line, "load_misses") == 7);
    assert_true(code_line_value(&l, line, "store_misses") == 4);
    assert_true(code_line_value(&l, line, "l1d_misses") == 11);
    assert_true(code_line_value(&l, line, "loads.misses") == 7);
    assert_true(code_line_value(&l, line, "full_issues") == 2 + 1 + 2); /* each instruction by itself */
    assert_true(fabs(code_line_value(&l, line, "lanes") - 78 / 15.0) < 1e-12);
    assert_true(fabs(code_line_value(&l, line, "per_request") - 29 / 14.0) < 1e-12);
    assert_null(l.list[1].file);
    assert_string_equal(l.list[1].kernel, "first");
    assert_string_equal(l.list[2].kernel, "second");
    assert_true(isnan(code_line_value(&l, &l.list[1], "per_request")));
    assert_true(code_lines_have(&l, "loads.misses"));
    assert_false(code_lines_have(&l, "pc"));
    assert_false(code_lines_have(&l, "loads.hits"));
    code_lines_free(&l);
}

static void sorting(void **state)
{
    (void)state;
    struct code_lines l;
    open_lines(&l);
    code_lines_sort(&l, "stalled");
    assert_string_equal(l.list[0].text, "ret");
    assert_string_equal(l.list[0].kernel, "first");
    assert_int_equal(l.list[1].number, 2);
    code_lines_sort(&l, "per_request"); /* two have none: they come last, as they were */
    assert_int_equal(l.list[0].number, 2);
    assert_string_equal(l.list[1].kernel, "first");
    assert_string_equal(l.list[2].kernel, "second");
    code_lines_free(&l);
}

static void maxima(void **state)
{
    (void)state;
    struct code_lines l = {.count = 0};
    assert_false(code_column_is_maximum("loads.misses"));
    assert_false(code_column_is_maximum("cycles.memory"));
    for (uint64_t n = 3; n < 6; n++) {
        struct code_counter counters[] = {{"executions", n}, {"mine.most", n}};
        code_lines_add(&l, &(struct code_instruction){
                               .kernel = "k", .text = "ret", .line = 1, .counters = counters, .counter_count = 2});
        l.columns[1].maximum = true;
    }
    assert_int_equal(l.count, 1);
    assert_true(code_line_value(&l, &l.list[0], "executions") == 12);
    assert_true(code_line_value(&l, &l.list[0], "mine.most") == 5);
    code_lines_free(&l);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void files(void **state)
{
    (void)state;
    char folder[] = "/tmp/heddle-lines-XXXXXX", here[4096], command[64];
    assert_non_null(getcwd(here, sizeof here));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("src", 0777) | mkdir("build", 0777) | mkdir("build/bin", 0777), 0);
    write_text("src/above.cu", "one\n\n\t three  \r\nlast");
    write_text("build/bin/program", "");
    write_text("build/bin/beside.cu", "beside\n");
    assert_int_equal(chdir("/"), 0);
    char program[64];
    snprintf(program, sizeof program, "%s/build/bin/program", folder);
    struct source_files s = {.program = program};
    assert_string_equal(source_files_line(&s, "src/above.cu", 1), "one"); /* from a folder above the program */
    assert_string_equal(source_files_line(&s, "./src/above.cu", 3), "three");
    assert_string_equal(source_files_line(&s, "src/above.cu", 2), "");
    assert_string_equal(source_files_line(&s, "src/above.cu", 4), "last");
    assert_null(source_files_line(&s, "src/above.cu", 5));
    assert_null(source_files_line(&s, "src/above.cu", 0));
    assert_string_equal(source_files_line(&s, "/where/it/was/beside.cu", 1), "beside");
    assert_null(source_files_line(&s, "above.cu", 1));
    assert_null(source_files_line(&s, "src", 1)); /* a folder */
    source_files_free(&s);
    assert_int_equal(chdir(folder), 0);
    s = (struct source_files){.program = NULL};
    assert_string_equal(source_files_line(&s, "src/above.cu", 1), "one");
    assert_null(source_files_line(&s, "/elsewhere/above.cu", 1));
    assert_int_equal(chdir("src"), 0);
    assert_string_equal(source_files_line(&s, "/elsewhere/once/above.cu", 1), "one");
    source_files_free(&s);
    assert_int_equal(chdir(here), 0);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adding_up), cmocka_unit_test(sorting), cmocka_unit_test(maxima),
                                       cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

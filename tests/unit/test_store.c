/* Does the store give back what was put in, keep what it has said to keep, and stay quick when it is large?
 *
 * With arguments it is a tool for tests/cli/store.sh: `make FILE RUNS [FIRST]` adds synthetic runs, `check FILE` reads
 * all of them, `csv FILE FOLDER`, `rescue FILE NEW`. */
#include "store_test.h"

#include "experiment/stored.h"

#include <math.h>
#include <sys/stat.h>
#include <time.h>

static void roundtrip(void **state)
{
    (void)state;
    const char *path = file_named("round.db");
    struct store *s = open_store(path, STORE_WRITE);
    static const char *const names[] = {"cycles", "l1d.misses", "no.such", "ipc"};
    char keys[3][KEY_BYTES] = {"", "", ""};
    double values[3][4];
    struct error e = {0};
    assert_true(put(s, record_of(1,
                                 "{\"cycles\": 100, \"ipc\": 1.5, \"l1d\": {\"misses\": 12, \"reasons\": {\"ways\": "
                                 "2}}, \"lanes\": [4, 0, 6], \"held\": null}",
                                 "{\"sets\": [\"core.cores=1\", \"l1d.ways=8\"]}")));
    assert_true(put(s, record_of(2, "{\"cycles\": 200}", NULL)));
    store_close(s);

    s = open_store(path, STORE_READ);
    strcpy(keys[0], key_of(2));
    strcpy(keys[2], key_of(1));
    assert_true(store_metrics(s, (const char(*)[KEY_BYTES])keys, 3, names, 4, values[0], &e));
    assert_true(values[0][0] == 200 && isnan(values[0][1]) && isnan(values[0][2]) && isnan(values[0][3]));
    for (int i = 0; i < 4; i++)
        assert_true(isnan(values[1][i]));
    assert_true(values[2][0] == 100 && values[2][1] == 12 && isnan(values[2][2]) && values[2][3] == 1.5);
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE name = 'l1d.reasons.ways'"), "integer 2");
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE name = 'lanes.2'"), "integer 6");
    assert_string_equal(ask(s, "SELECT unit FROM metrics WHERE name = 'lanes.2'"), "text counts");
    assert_string_equal(ask(s, "SELECT unit FROM metrics WHERE name = 'cycles'"), "text cycles");
    assert_string_equal(ask(s, "SELECT count(*) FROM metric_name WHERE name = 'held'"), "integer 0");
    assert_string_equal(ask(s, "SELECT name || grid_x || grid_y || block_x || partial || cycles FROM kernel LIMIT 1"),
                        "text k8251207");
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE kernel = 0 AND name = 'l1d.misses'"), "integer 3");
    assert_string_equal(ask(s, "SELECT count(*) FROM metrics WHERE name LIKE 'grid%' OR name LIKE 'block%'"),
                        "integer 0");
    assert_string_equal(ask(s, "SELECT count(*) FROM machine"), "integer 1");

    struct arena a = {0};
    struct store_run *runs;
    uint32_t count;
    assert_true(store_runs(s, &a, &runs, &count, &e));
    assert_int_equal(count, 2);
    assert_string_equal(runs[0].key, key_of(2)); /* no sets before some */
    const struct store_run *r = &runs[1];
    assert_string_equal(r->key, key_of(1));
    assert_string_equal(r->arguments, "--size test");
    assert_string_equal(r->sets, "core.cores=1 l1d.ways=8");
    assert_string_equal(r->scheduler, "gto");
    assert_string_equal(r->l1, "lru"); /* not given: the machine's */
    assert_string_equal(r->when, "2026-01-31T12:00:00Z");
    assert_null(r->failure);
    assert_true(r->epoch == 3 && r->exit == 0 && r->wall_seconds == 0.5 && r->launch_seconds == 0.25 &&
                r->kwips == 1500.5);
    assert_true(r->cycles == 100 && r->ipc == 1.5 && r->l1d_misses == 12 && isnan(r->warp_instructions) &&
                isnan(r->l1d_accesses));
    struct store_machine *machines;
    assert_true(store_machines(s, &a, &machines, &count, &e));
    assert_int_equal(count, 2);
    assert_string_equal(machines[1].sets, "core.cores=1 l1d.ways=8");
    assert_string_equal(machines[1].text, "[core]\n");
    arena_free(&a);
    store_close(s);
}

static void integers_stay_exact(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("exact.db"), STORE_WRITE);
    put(s,
        record_of(1, "{\"a\": 9007199254740993, \"b\": 9223372036854775807, \"c\": -1, \"d\": 3.0, \"e\": 0.1}", NULL));
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE name = 'a'"), "integer 9007199254740993");
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE name = 'b'"), "integer 9223372036854775807");
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE name = 'c'"), "integer -1");
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE name = 'd'"), "real 3.0");
    assert_string_equal(ask(s, "SELECT value = 0.1 FROM metrics WHERE name = 'e'"), "integer 1");
    store_close(s);
}

static void failed_is_replaced_good_is_kept(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("replace.db"), STORE_WRITE);
    static const char *const cycles[] = {"cycles"};
    char key[1][KEY_BYTES];
    double value;
    struct error e = {0};
    strcpy(key[0], key_of(1));
    assert_true(put(s, record_of(1, "{\"cycles\": 1, \"only_then\": 5}",
                                 "{\"failure\": \"not finished after 60 s\", \"log\": \"...\", \"exit\": 137}")));
    assert_false(store_has(s, key[0]));
    assert_true(store_metrics(s, (const char(*)[KEY_BYTES])key, 1, cycles, 1, &value, &e));
    assert_true(isnan(value)); /* what a run had before it failed is no result */
    assert_string_equal(ask(s, "SELECT value FROM metric WHERE kernel = -1 LIMIT 1"),
                        "integer 1"); /* but it is there to look at */
    assert_string_equal(ask(s, "SELECT failure FROM run"), "text not finished after 60 s");
    assert_true(put(s, record_of(1, "{\"cycles\": 2}", "{\"failure\": \"again\"}")));
    assert_string_equal(ask(s, "SELECT failure FROM run"), "text again");

    assert_true(put(s, record_of(1, "{\"cycles\": 3}", NULL)));
    assert_true(store_has(s, key[0]));
    assert_string_equal(ask(s, "SELECT count(*) FROM run"), "integer 1");
    assert_string_equal(ask(s, "SELECT count(*) FROM metric WHERE kernel = -1"),
                        "integer 1"); /* the other rows are gone */
    assert_string_equal(ask(s, "SELECT count(*) FROM kernel"), "integer 1");

    assert_false(put(s, record_of(1, "{\"cycles\": 4}", NULL)));
    assert_false(put(s, record_of(1, "{\"cycles\": 4}", "{\"failure\": \"late\"}")));
    assert_true(store_metrics(s, (const char(*)[KEY_BYTES])key, 1, cycles, 1, &value, &e));
    assert_true(value == 3);
    store_close(s);
}

static void keys_are_sorted(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("keys.db"), STORE_WRITE);
    char(*keys)[KEY_BYTES];
    struct arena a = {0};
    uint32_t count;
    struct error e = {0};
    assert_true(store_keys(s, &a, &keys, &count, &e));
    assert_int_equal(count, 0);
    for (uint32_t i = 0; i < 20; i++)
        put(s, record_of(i, "{}", i == 7 ? "{\"failure\": \"x\"}" : NULL));
    assert_true(store_keys(s, &a, &keys, &count, &e));
    assert_int_equal(count, 19);
    for (uint32_t i = 1; i < count; i++)
        assert_true(strcmp(keys[i - 1], keys[i]) < 0);
    arena_free(&a);
    store_close(s);
}

static void expected_seconds_are_of_recent_good_runs(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("expected.db"), STORE_WRITE);
    assert_true(store_expected_seconds(s, "bfs", "--size test") == 0);
    put(s, record_of(1, "{}", "{\"wall_seconds\": 1}"));
    put(s, record_of(2, "{}", "{\"wall_seconds\": 2, \"machine\": \"other\"}"));
    put(s, record_of(3, "{}", "{\"wall_seconds\": 100, \"failure\": \"x\"}"));
    put(s, record_of(4, "{}", "{\"wall_seconds\": 50, \"arguments\": [\"--size\", \"paper\"]}"));
    assert_true(store_expected_seconds(s, "bfs", "--size test") == 1.5);
    assert_true(store_expected_seconds(s, "bfs", "--size paper") == 50);
    assert_true(store_expected_seconds(s, "spmv", "--size paper") == 0);
    store_close(s);
}

static void instructions_and_samples(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("pcs.db"), STORE_WRITE);
    json_t *record = record_of(1, "{}", NULL);
    json_t *kernel = json_array_get(json_object_get(json_object_get(record, "stats"), "kernels"), 0);
    json_object_set_new(
        kernel, "pcs",
        record_from("[{\"pc\": 0, \"line\": 12, \"text\": \"ld.global.u32 %r1, [%rd1]\", \"executions\": 5, \"l1d\": "
                    "{\"misses\": 2}}, {\"pc\": 1, \"line\": 13, "
                    "\"text\": \"ret\", \"function\": null, \"source\": \"bfs.cu:4\", \"executions\": 6}]"));
    json_object_set_new(kernel, "series",
                        record_from("{\"interval\": 100, \"cycles\": [100, 200, 250], \"values\": {\"ipc\": [1.5, "
                                    "null, 2.5], \"l1d.misses\": [1, 2, 3]}}"));
    json_t *other = json_deep_copy(record);
    json_object_set_new(other, "key", json_string(key_of(2)));
    put(s, record);
    put(s, other);
    char sql[200];
    snprintf(sql, sizeof sql,
             "SELECT group_concat(pc || ':' || line || ':' || text || ':' || source || ':' || name || ':' || value, "
             "';') FROM pcs WHERE key = '%s' AND name = 'executions'",
             key_of(1));
    assert_string_equal(ask(s, sql),
                        "text 0:12:ld.global.u32 %r1, [%rd1]::executions:5;1:13:ret:bfs.cu:4:executions:6");
    assert_string_equal(ask(s, "SELECT value FROM pcs WHERE name = 'l1d.misses'"), "integer 2");
    assert_string_equal(ask(s, "SELECT count(*) FROM instruction"),
                        "integer 2"); /* each text once, however many runs */
    snprintf(sql, sizeof sql,
             "SELECT group_concat(name || ':' || cycle || ':' || value) FROM samples WHERE key = '%s' AND kernel = 0",
             key_of(2));
    assert_string_equal(ask(s, sql), "text l1d.misses:100:1,l1d.misses:200:2,l1d.misses:250:3,ipc:100:1.5,ipc:250:2.5");
    assert_string_equal(ask(s, "SELECT count(*) FROM metrics WHERE name LIKE 'pcs%' OR name LIKE 'series%'"),
                        "integer 0");
    store_close(s);
}

static void what_probes_count(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("probes.db"), STORE_WRITE);
    json_t *record = record_of(1, "{\"trips\": {\"this_trip\": 12, \"distance\": [0, 4, 7]}}",
                               "{\"probes\": [\"loads\", \"trips\"]}");
    json_t *stats = json_object_get(record, "stats"), *kernel = json_array_get(json_object_get(stats, "kernels"), 0);
    json_object_set_new(stats, "probes", record_from("[\"loads\", \"trips:line=128\"]"));
    json_object_set_new(
        kernel, "pcs",
        record_from("[{\"pc\": 3, \"line\": 12, \"text\": \"ld\", \"loads\": {\"intra_hits\": 5, \"misses\": 2}}]"));
    json_object_set_new(kernel, "trips", record_from("{\"distance\": [0, 4, 7]}"));
    put(s, record);
    assert_string_equal(ask(s, "SELECT probes FROM run"), "text loads trips");
    assert_string_equal(ask(s, "SELECT group_concat(name || ' ' || value) FROM (SELECT * FROM totals WHERE name LIKE "
                               "'trips.%' ORDER BY name)"),
                        "text trips.distance.0 0,trips.distance.1 4,trips.distance.2 7,trips.this_trip 12");
    assert_string_equal(
        ask(s, "SELECT group_concat(pc || ' ' || name || ' ' || value) FROM (SELECT * FROM pcs ORDER BY name)"),
        "text 3 loads.intra_hits 5,3 loads.misses 2");
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE kernel = 0 AND name = 'trips.distance.2'"),
                        "integer 7");
    store_close(s);
}

static void bad_records_change_nothing(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("bad.db"), STORE_WRITE);
    static const char *const wrong[] = {"{\"key\": \"12\"}", "{\"key\": \"zz345678901234567890123456789012\"}",
                                        "{\"key\": 5}", "{\"program\": \"\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *record = record_of(1, "{}", wrong[i]);
        struct error e = {0};
        bool added = true;
        assert_false(store_put(s, record, &added, &e));
        assert_false(added);
        assert_int_equal(e.kind, ERROR_INVALID);
        json_decref(record);
    }
    /* Two instructions of one number break off in the middle: nothing of the run may be there, and the next one must
     * not be disturbed. */
    json_t *record = record_of(2, "{\"new_name\": 1}", NULL);
    json_object_set_new(json_array_get(json_object_get(json_object_get(record, "stats"), "kernels"), 0), "pcs",
                        record_from("[{\"pc\": 1, \"text\": \"a\"}, {\"pc\": 1, \"text\": \"b\"}]"));
    struct error e = {0};
    bool added;
    assert_false(store_put(s, record, &added, &e));
    assert_int_equal(e.kind, ERROR_IO);
    json_decref(record);
    assert_string_equal(ask(s, "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM metric) + (SELECT count(*) "
                               "FROM metric_name) + (SELECT count(*) FROM machine)"),
                        "integer 0");
    assert_true(put(s, record_of(3, "{\"new_name\": 1}", NULL)));
    assert_string_equal(ask(s, "SELECT value FROM metrics WHERE name = 'new_name'"), "integer 1");
    store_close(s);
}

/* ---- experiments ---- */

/* Programs times schedulers, one value on the other axes. */
struct grid {
    struct lab_value values[AXIS_COUNT][4];
    struct lab_point points[16];
    struct experiment x;
};

static void make_grid(struct grid *g, const char *name, const char *const *programs, const char *const *schedulers)
{
    memset(g, 0, sizeof *g);
    g->x = (struct experiment){
        .name = name, .size = "test", .text = "[experiment]\n", .text_bytes = 13, .points = g->points};
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        const char *const *labels = axis == AXIS_PROGRAM     ? programs
                                    : axis == AXIS_SCHEDULER ? schedulers
                                                             : (const char *const[]){"one", NULL};
        for (int i = 0; labels[i]; i++)
            g->values[axis][g->x.axes[axis].value_count++].label = labels[i];
        g->x.axes[axis].values = g->values[axis];
    }
    for (uint32_t p = 0; programs[p]; p++)
        for (uint32_t s = 0; schedulers[s]; s++) {
            struct lab_point *point = &g->points[g->x.point_count++];
            point->value[AXIS_PROGRAM] = p;
            point->value[AXIS_SCHEDULER] = s;
        }
}

static void points_are_found_by_their_labels(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("points.db"), STORE_WRITE);
    struct grid before, after;
    char keys[16][KEY_BYTES], found[16][KEY_BYTES];
    struct error e = {0};
    make_grid(&before, "quick", (const char *const[]){"bfs", "spmv", NULL}, (const char *const[]){"lrr", "gto", NULL});
    make_grid(&after, "quick", (const char *const[]){"spmv", "new", "bfs", NULL},
              (const char *const[]){"gto", "lrr", NULL});
    for (uint32_t i = 0; i < before.x.point_count; i++)
        strcpy(keys[i], key_of(i));
    assert_true(experiment_keys(s, &before.x, found, &e));
    assert_string_equal(found[0], "");
    assert_true(experiment_put(s, &before.x, (const char(*)[KEY_BYTES])keys, &e));
    memset(found, 'x', sizeof found);
    assert_true(experiment_keys(s, &after.x, found, &e));
    /* spmv gto, spmv lrr, new gto, new lrr, bfs gto, bfs lrr */
    static const int expected[] = {3, 2, -1, -1, 1, 0};
    for (int i = 0; i < 6; i++)
        assert_string_equal(found[i], expected[i] < 0 ? "" : key_of((uint32_t)expected[i]));
    after.x.size = "small";
    assert_true(experiment_keys(s, &after.x, found, &e));
    assert_string_equal(found[0], "");

    after.x.size = "test";
    after.x.text = "[experiment]\ntitle = é\n";
    after.x.text_bytes = strlen(after.x.text);
    for (uint32_t i = 0; i < after.x.point_count; i++)
        strcpy(keys[i], key_of(100 + i));
    assert_true(experiment_put(s, &after.x, (const char(*)[KEY_BYTES])keys, &e));
    assert_true(experiment_keys(s, &before.x, found, &e));
    assert_string_equal(found[0], key_of(105));
    assert_string_equal(ask(s, "SELECT count(*) FROM point"), "integer 6");
    make_grid(&before, "another", (const char *const[]){"bfs", NULL}, (const char *const[]){"lrr", NULL});
    before.x.size = NULL;
    assert_true(experiment_put(s, &before.x, (const char(*)[KEY_BYTES])keys, &e));
    struct store_experiment *list;
    struct arena a = {0};
    uint32_t count;
    assert_true(store_experiments(s, &a, &list, &count, &e));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].name, "another");
    assert_string_equal(list[0].size, "");
    assert_string_equal(list[1].text, after.x.text);
    assert_int_equal(list[1].text_bytes, after.x.text_bytes);
    assert_int_equal(strlen(list[1].when), 20);
    arena_free(&a);
    store_close(s);
}

/* ---- CSV ---- */

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 65536);
    assert_non_null(text);
    if (f) {
        assert_true(fread(text, 1, 65535, f) < 65535);
        fclose(f);
    } else {
        strcpy(text, "no file");
    }
    return text;
}

static void csv_has(const char *name, const char *expected)
{
    char path[256];
    snprintf(path, sizeof path, "%s/tables/csv/%s", folder, name);
    char *text = read_text(path);
    if (!strstr(text, expected))
        fail_msg("%s has no '%s':\n%s", name, expected, text);
    free(text);
}

static void csv_reads_back(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("csv.db"), STORE_WRITE);
    struct error e = {0};
    char to[200], line[400];
    json_t *record =
        record_of(1, "{\"cycles\": 9007199254740993, \"ipc\": 0.1}", "{\"arguments\": [\"say\", \"\\\"a,b\\\"\"]}");
    json_t *kernel = json_array_get(json_object_get(json_object_get(record, "stats"), "kernels"), 0);
    json_object_set_new(
        kernel, "pcs",
        record_from("[{\"pc\": 0, \"line\": 12, \"text\": \"ld [%rd1], %r1\", \"executions\": 5, \"misses\": 2}, "
                    "{\"pc\": 1, \"line\": 13, \"text\": \"ret\", \"executions\": 6}]"));
    put(s, record);
    put(s, record_of(2, "{\"cycles\": 1}", "{\"failure\": \"first line\\nsecond\"}"));
    snprintf(to, sizeof to, "%s/tables/csv", folder);
    assert_true(store_write_csv(s, to, &e));
    csv_has("runs.csv", "key,program,arguments,machine,");
    csv_has("runs.csv", ",bfs,\"say \"\"a,b\"\"\",gtx480,");
    csv_has("runs.csv", ",0,\"first line\nsecond\",0.5,");
    csv_has("kernels.csv", "key,kernel,name,grid_x,");
    csv_has("kernels.csv", ",0,k,8,2,1,512,1,1,0,7,,\n");
    csv_has("metrics.csv", "key,kernel,metric,unit,value\n");
    snprintf(line, sizeof line,
             "\n%s,,cycles,cycles,9007199254740993\n%s,,ipc,instructions/cycle,0.1\n%s,0,cycles,cycles,7\n", key_of(1),
             key_of(1), key_of(1));
    csv_has("metrics.csv", line);
    csv_has("pcs.csv", "key,kernel,pc,line,text,function,source,executions,misses\n");
    csv_has("pcs.csv", ",0,0,12,\"ld [%rd1], %r1\",,,5,2\n");
    csv_has("pcs.csv", ",0,1,13,ret,,,6,\n");
    csv_has("series.csv", "no file");
    csv_has("points.csv", "no file");

    /* Of an earlier store: it must not be taken for this one's. */
    snprintf(line, sizeof line, "%s/points.csv", to);
    FILE *old = fopen(line, "w");
    fputs("old", old);
    fclose(old);
    assert_true(store_write_csv(s, to, &e));
    csv_has("points.csv", "experiment,size,program,machine,scheduler,l1,divergence,variant,key\n");
    snprintf(to, sizeof to, "%s/csv.db/folder", folder);
    assert_false(store_write_csv(s, to, &e));
    assert_non_null(strstr(e.text, "cannot make the folder"));
    store_close(s);
}

/* ---- size ---- */

/* Of this process' own work: on a machine that others use as well it is not their time that is measured. */
static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Some hundred metrics, as a run with time has; every thirteenth program and tenth scheduler the same. */
static json_t *synthetic(uint32_t number)
{
    static const char *const schedulers[] = {"lrr",         "gto",         "two-level", "ccws", "daws",
                                             "swl:limit=4", "swl:limit=8", "paws",      "cawa", "oldest"};
    json_t *total = json_object(), *lanes = json_array();
    char name[40], extra[300];
    json_object_set_new(total, "cycles", json_integer(100000 + number));
    json_object_set_new(total, "warp_instructions", json_integer(54321));
    json_object_set_new(total, "ipc", json_real(1.0 + number % 97 / 7.0));
    for (int i = 0; i <= 32; i++)
        json_array_append_new(lanes, json_integer(i * (int)(number % 50)));
    json_object_set_new(total, "lanes", lanes);
    for (int group = 0; group < 6; group++) {
        static const char *const groups[] = {"l1d", "l2", "stalls", "dram", "icnt", "energy"};
        json_t *inner = json_object();
        for (int i = 0; i < 12; i++) {
            snprintf(name, sizeof name, i ? "counter_%d" : "misses", i);
            json_object_set_new(inner, name,
                                group == 5 ? json_real(number * 0.37 + i) : json_integer(number * 31 + (uint32_t)i));
        }
        json_object_set_new(inner, "accesses", json_integer(number));
        json_object_set_new(total, groups[group], inner);
    }
    snprintf(extra, sizeof extra,
             "{\"program\": \"program%u\", \"scheduler\": \"%s\", \"machine\": \"machine%u\", \"machine_text\": \"text "
             "%u\", \"sets\": [\"l1d.ways=%u\"], \"wall_seconds\": %u.5}",
             number % 13, schedulers[number % 10], number % 3, number % 3, number / 130, number % 13);
    json_t *record = record_of(number, "{}", extra);
    json_object_set_new(json_object_get(record, "stats"), "total", total);
    return record;
}

static bool add_synthetic(const char *path, uint32_t first, uint32_t count, struct error *e)
{
    struct store *s = store_open(path, STORE_WRITE, e);
    bool ok = s, added;
    if (ok) /* thousands of runs in a row, which nobody would miss */
        sqlite3_exec(s->db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    for (uint32_t i = first; ok && i < first + count; i++) {
        json_t *record = synthetic(i);
        ok = store_put(s, record, &added, e);
        json_decref(record);
    }
    store_close(s);
    return ok;
}

static double took(double *since)
{
    double now = seconds_now(), seconds = now - *since;
    *since = now;
    return seconds;
}

/* What a sweep or a report asks of a large store stays well below a second, or `heddle sweep` could not say at once
 * that there is nothing to do. */
static void large_store_is_quick(void **state)
{
    (void)state;
    const bool is_short = getenv("TEST_SHORT");
    const uint32_t runs = is_short ? 1000 : 10000;
    static const char *const names[] = {"cycles", "ipc", "l1d.misses", "l1d.accesses", "energy.counter_3"};
    const char *path = file_named("large.db");
    struct error e = {0};
    struct arena a = {0};
    char(*keys)[KEY_BYTES];
    struct store_run *list;
    struct store_machine *machines;
    uint32_t count;
    double since = seconds_now(), seconds[7];
    assert_true(add_synthetic(path, 0, runs, &e));
    seconds[0] = took(&since);
    struct store *s = open_store(path, STORE_READ);
    seconds[1] = took(&since);
    assert_true(store_keys(s, &a, &keys, &count, &e));
    seconds[2] = took(&since);
    assert_int_equal(count, runs);
    double *values = arena_array(&a, double, 5 * runs);
    since = seconds_now();
    assert_true(store_metrics(s, (const char(*)[KEY_BYTES])keys, count, names, 5, values, &e));
    seconds[3] = took(&since);
    for (uint32_t i = 0; i < 5 * runs; i++)
        assert_false(isnan(values[i]));
    since = seconds_now();
    assert_true(store_runs(s, &a, &list, &count, &e));
    seconds[4] = took(&since);
    assert_int_equal(count, runs);
    for (uint32_t i = 0; i < runs; i++)
        assert_true(store_expected_seconds(s, list[i].program, list[i].arguments) > 0);
    seconds[5] = took(&since);
    assert_true(store_machines(s, &a, &machines, &count, &e));
    seconds[6] = took(&since);
    struct stat st;
    stat(path, &st);
    print_message("%u runs, %.1f MB: made in %.2f s; open %.4f s, keys %.4f s, 5 metrics of each %.4f s, runs %.4f s, "
                  "expected seconds of each %.4f s, machines %.4f s\n",
                  runs, (double)st.st_size / 1e6, seconds[0], seconds[1], seconds[2], seconds[3], seconds[4],
                  seconds[5], seconds[6]);
    for (int i = 1; i < 7; i++)
        assert_true(seconds[i] < 1.0);
    arena_free(&a);
    store_close(s);
}

static int count_commit(void *count)
{
    ++*(int *)count;
    return 0;
}

/* What waits for the disk is a commit: one for all, while one record that fails and one that is there already change
 * nothing for the others. */
static void a_group_is_one_commit(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("group.db"), STORE_WRITE), *reader = NULL;
    struct error e = {0};
    int commits = 0;
    bool added;
    json_t *bad = record_of(50, "{\"a.b\": 1, \"a\": {\"b\": 2}}",
                            NULL); /* one name twice: half of its rows are in when it fails */
    assert_true(put(s, synthetic(3)));
    sqlite3_commit_hook(s->db, count_commit, &commits);
    assert_true(store_group_begin(s, &e));
    for (uint32_t i = 0; i < 20; i++) {
        json_t *record = synthetic(i);
        assert_true(store_put(s, record, &added, &e));
        assert_int_equal(added, i != 3);
        json_decref(record);
        if (i == 10)
            assert_false(store_put(s, bad, &added, NULL));
    }
    reader = open_store(file_named("group.db"), STORE_READ);
    assert_string_equal(ask(reader, "SELECT count(*) FROM run"), "integer 1");
    store_close(reader);
    assert_int_equal(commits, 0);
    assert_true(store_group_end(s, &e));
    assert_int_equal(commits, 1);
    assert_string_equal(ask(s, "SELECT count(*) FROM run"), "integer 20");
    assert_true(put(s, synthetic(20))); /* by itself again */
    assert_int_equal(commits, 2);
    json_decref(bad);
    store_close(s);
}

static int refuse_commit(void *unused)
{
    (void)unused;
    return 1;
}

/* A group that cannot be committed leaves nothing, and says so; what comes after it can. */
static void a_group_that_fails_leaves_nothing(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("no-group.db"), STORE_WRITE);
    struct error e = {0};
    assert_true(store_group_begin(s, &e));
    assert_true(put(s, synthetic(1)));
    sqlite3_commit_hook(s->db, refuse_commit, NULL);
    assert_false(store_group_end(s, &e));
    assert_true(e.kind != ERROR_NONE);
    sqlite3_commit_hook(s->db, NULL, NULL);
    assert_string_equal(ask(s, "SELECT count(*) FROM run"), "integer 0");
    assert_true(put(s, synthetic(2)));
    assert_string_equal(ask(s, "SELECT count(*) FROM run"), "integer 1");
    /* rolled back under its feet, as a full disk does */
    e = (struct error){0};
    assert_true(store_group_begin(s, &e));
    assert_true(put(s, synthetic(4)));
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    assert_false(store_group_end(s, &e));
    assert_string_equal(ask(s, "SELECT count(*) FROM run"), "integer 1");
    store_close(s);
}

static void thousands_of_launches_are_quick(void **state)
{
    (void)state;
    struct store *s = open_store(file_named("launches.db"), STORE_WRITE);
    json_t *record = synthetic(1), *stats = json_object_get(record, "stats"),
           *kernels = json_object_get(stats, "kernels");
    for (int i = 0; i < 3000; i++) {
        json_t *kernel = json_deep_copy(json_object_get(stats, "total"));
        json_object_set_new(kernel, "name", json_string("k"));
        json_array_append_new(kernels, kernel);
    }
    double since = seconds_now();
    assert_true(put(s, record));
    double seconds = took(&since);
    print_message("3001 launches of one run, %s rows: %.2f s\n", ask(s, "SELECT count(*) FROM metric"), seconds);
    assert_true(seconds < 20); /* a statement prepared for each row would be ten times that */
    store_close(s);
}

static int tool(int argc, char **argv)
{
    struct error e = {0};
    uint32_t runs = 0;
    struct store *s = NULL;
    bool ok = false;
    if (argc >= 4 && !strcmp(argv[1], "make")) {
        ok = add_synthetic(argv[2], argc > 4 ? (uint32_t)atoi(argv[4]) : 0, (uint32_t)atoi(argv[3]), &e);
    } else if (argc == 3 && !strcmp(argv[1], "check")) {
        ok = (s = store_open(argv[2], STORE_READ, &e)) && read_everything(s, &runs, &e);
        if (ok)
            printf("%u runs\n", runs);
    } else if (argc == 4 && !strcmp(argv[1], "csv")) {
        ok = (s = store_open(argv[2], STORE_READ, &e)) && store_write_csv(s, argv[3], &e);
    } else if (argc == 4 && !strcmp(argv[1], "rescue")) {
        struct store_rescued saved;
        if ((ok = store_rescue(argv[2], argv[3], &saved, &e)))
            printf("%u runs saved, %u lost, %u experiments\n", saved.runs, saved.lost, saved.experiments);
    } else {
        error_set(&e, ERROR_INVALID,
                  "usage: test_store make FILE RUNS [FIRST] | check FILE | csv FILE FOLDER | rescue FILE NEW");
    }
    store_close(s);
    if (!ok)
        fprintf(stderr, "%s\n", e.text);
    return !ok;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roundtrip),
        cmocka_unit_test(integers_stay_exact),
        cmocka_unit_test(failed_is_replaced_good_is_kept),
        cmocka_unit_test(keys_are_sorted),
        cmocka_unit_test(expected_seconds_are_of_recent_good_runs),
        cmocka_unit_test(instructions_and_samples),
        cmocka_unit_test(what_probes_count),
        cmocka_unit_test(bad_records_change_nothing),
        cmocka_unit_test(points_are_found_by_their_labels),
        cmocka_unit_test(csv_reads_back),
        cmocka_unit_test(large_store_is_quick),
        cmocka_unit_test(a_group_is_one_commit),
        cmocka_unit_test(a_group_that_fails_leaves_nothing),
        cmocka_unit_test(thousands_of_launches_are_quick),
    };
    return argc > 1 ? tool(argc, argv) : cmocka_run_group_tests(tests, make_folder, remove_folder);
}

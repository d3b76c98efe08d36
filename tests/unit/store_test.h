/* Shared by the tests of the store: a folder of their own, records, stores made of them, and questions in SQL. */
#ifndef HEDDLE_TESTS_STORE_TEST_H
#define HEDDLE_TESTS_STORE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-store-XXXXXX";

static inline const char *file_named(const char *name)
{
    static char path[4][128];
    static int next;
    char *to = path[next++ % 4];
    snprintf(to, sizeof *path, "%s/%s", folder, name);
    return to;
}

static inline const char *key_of(uint32_t number)
{
    static char key[KEY_BYTES];
    snprintf(key, sizeof key, "%08x%024x", number * 2654435761u, number); /* scattered, as hashes are */
    return key;
}

static inline json_t *record_from(const char *text)
{
    json_error_t at;
    json_t *record = json_loads(text, 0, &at);
    if (!record)
        fprintf(stderr, "%s at %d\n", at.text, at.position);
    assert_non_null(record);
    return record;
}

/* A run with the metrics `total` and one launch; more: an object whose members replace those of the record. */
static inline json_t *record_of(uint32_t number, const char *total, const char *more)
{
    char *text;
    assert_true(asprintf(&text,
                         "{\"key\": \"%s\", \"program\": \"bfs\", \"arguments\": [\"--size\", \"test\"], \"command\": "
                         "\"heddle run bfs\", \"machine\": \"gtx480\", \"machine_text\": \"[core]\\n\","
                         " \"sets\": [], \"scheduler\": \"gto\", \"l1\": \"\", \"divergence\": \"\", \"version\": "
                         "\"0.1.0\", \"epoch\": 3, \"host\": \"loom\", \"when\": \"2026-01-31T12:00:00Z\","
                         " \"wall_seconds\": 0.5, \"exit\": 0, \"failure\": null, \"log\": null, \"stats\": "
                         "{\"scheduler\": \"gto\", \"l1\": \"lru\", \"divergence\": \"pdom\","
                         " \"host\": {\"launch_seconds\": 0.25, \"kwips\": 1500.5, \"peak_bytes\": 4096}, \"total\": "
                         "%s, \"kernels\": [{\"name\": \"k\", \"grid\": [8, 2, 1], \"block\": [512, 1, 1],"
                         " \"partial\": false, \"cycles\": 7, \"l1d\": {\"misses\": 3}}]}}",
                         key_of(number), total) > 0);
    json_t *record = record_from(text), *added = more ? record_from(more) : NULL;
    if (added)
        json_object_update(record, added);
    json_decref(added);
    free(text);
    return record;
}

static inline bool put(struct store *s, json_t *record)
{
    struct error e = {0};
    bool added;
    if (!store_put(s, record, &added, &e))
        fail_msg("%s", e.text);
    json_decref(record);
    return added;
}

static inline struct store *open_store(const char *path, enum store_mode mode)
{
    struct error e = {0};
    struct store *s = store_open(path, mode, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

/* One value as text, with its type: "integer 5". */
static inline const char *ask(struct store *s, const char *sql)
{
    static char answer[4][200];
    static int next;
    char *to = answer[next++ % 4];
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(s->db));
    static const char *const types[] = {"", "integer", "real", "text", "blob", "null"};
    if (sqlite3_step(q) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(q, 0);
        snprintf(to, sizeof *answer, "%s%s%s", types[sqlite3_column_type(q, 0)], text ? " " : "", text ? text : "");
    } else {
        strcpy(to, "nothing");
    }
    sqlite3_finalize(q);
    return to;
}

/* Everything that can be asked; false with the first error. */
static inline bool read_everything(struct store *s, uint32_t *runs, struct error *e)
{
    static const char *const names[] = {"cycles", "lanes.3"};
    struct arena a = {0};
    struct store_run *list;
    struct store_machine *machines;
    struct store_experiment *experiments;
    char(*keys)[KEY_BYTES];
    uint32_t count;
    bool ok = store_keys(s, &a, &keys, &count, e) &&
              store_metrics(s, (const char(*)[KEY_BYTES])keys, count, names, 2,
                            arena_array(&a, double, 2 * (count + 1)), e) &&
              store_runs(s, &a, &list, runs, e) && store_machines(s, &a, &machines, &count, e) &&
              store_experiments(s, &a, &experiments, &count, e);
    arena_free(&a);
    return ok;
}

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif

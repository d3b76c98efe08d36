/* Experiments in the store: the text as it was swept, and the key of each point under the labels of its six axes. */
#include "store/sql.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void bind_experiment(sqlite3_stmt *q, const struct store_experiment *x)
{
    store_bind_text(q, 1, x->name);
    store_bind_text(q, 2, x->size);
}

static bool delete_experiment(struct store *s, const struct store_experiment *x, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s, "DELETE FROM experiment WHERE name = ? AND size = ?", e);
    if (!q)
        return false;
    bind_experiment(q, x);
    bool ok = store_run_once(s, q, e);
    sqlite3_finalize(q);
    return ok;
}

static bool insert_experiment(struct store *s, const struct store_experiment *x, sqlite3_int64 *id, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s, "INSERT INTO experiment (name, size, text, swept) VALUES (?, ?, ?, ?)", e);
    char when[32];
    time_t now = time(NULL);
    struct tm utc;
    if (!q)
        return false;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    bind_experiment(q, x);
    sqlite3_bind_text64(q, 3, x->text ? x->text : "", x->text ? x->text_bytes : 0, SQLITE_STATIC, SQLITE_UTF8);
    store_bind_text(q, 4, when);
    bool ok = store_run_once(s, q, e);
    sqlite3_finalize(q);
    *id = sqlite3_last_insert_rowid(s->db);
    return ok;
}

static bool insert_points(struct store *s, const struct store_point *points, uint32_t count, sqlite3_int64 id,
                          struct error *e)
{
    sqlite3_stmt *q = store_prepare(s, "INSERT INTO point VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", e);
    bool ok = q;
    for (uint32_t i = 0; ok && i < count; i++) {
        sqlite3_bind_int64(q, 1, id);
        sqlite3_bind_int64(q, 2, i);
        for (int n = 0; n < STORE_LABELS; n++)
            store_bind_text(q, 3 + n, points[i].labels[n]);
        store_bind_text(q, 3 + STORE_LABELS, points[i].key);
        ok = store_run_once(s, q, e);
    }
    sqlite3_finalize(q);
    return ok;
}

bool store_put_experiment(struct store *s, const struct store_experiment *x, const struct store_point *points,
                          uint32_t point_count, struct error *e)
{
    sqlite3_int64 id;
    if (!store_begin(s, e))
        return false;
    return store_end(s,
                     delete_experiment(s, x, e) && insert_experiment(s, x, &id, e) &&
                         insert_points(s, points, point_count, id, e),
                     e);
}

bool store_experiments(struct store *s, struct arena *a, struct store_experiment **list, uint32_t *count,
                       struct error *e)
{
    /* The number of rows before the rows, in one statement: both of the same moment. */
    sqlite3_stmt *q = store_prepare(
        s, "SELECT name, size, text, swept, (SELECT count(*) FROM experiment) FROM experiment ORDER BY name, size", e);
    int got;
    *list = NULL;
    *count = 0;
    if (!q)
        return false;
    while ((got = store_step(s, q, e)) > 0) {
        if (!*list)
            *list = arena_array(a, struct store_experiment, sqlite3_column_int64(q, 4));
        struct store_experiment *x = &(*list)[(*count)++];
        x->name = store_column_text(a, q, 0);
        x->size = store_column_text(a, q, 1);
        x->text = store_column_text(a, q, 2);
        x->text_bytes = (size_t)sqlite3_column_bytes(q, 2);
        x->when = store_column_text(a, q, 3);
    }
    sqlite3_finalize(q);
    return got == 0;
}

/* One string for the labels of a point; no label has a line end. */
static const char *labels_of(struct arena *a, const char *const labels[STORE_LABELS])
{
    return arena_printf(a, "%s\n%s\n%s\n%s\n%s\n%s", labels[0], labels[1], labels[2], labels[3], labels[4], labels[5]);
}

static bool read_points(struct store *s, struct arena *a, const struct store_experiment *x, struct strmap *points,
                        struct error *e)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT p.program, p.machine, p.scheduler, p.l1, p.divergence, p.variant, p.key "
                                    "FROM experiment x JOIN point p ON p.experiment = x.id"
                                    " WHERE x.name = ? AND x.size = ?",
                                    e);
    int got;
    if (!q)
        return false;
    bind_experiment(q, x);
    while ((got = store_step(s, q, e)) > 0) {
        const char *labels[STORE_LABELS];
        for (int n = 0; n < STORE_LABELS; n++)
            labels[n] = (const char *)sqlite3_column_text(q, n);
        const char *name = labels_of(a, labels);
        strmap_put(points, name, strlen(name), (void *)store_column_text(a, q, STORE_LABELS));
    }
    sqlite3_finalize(q);
    return got == 0;
}

bool store_point_keys(struct store *s, const struct store_experiment *x, struct store_point *points,
                      uint32_t point_count, struct error *e)
{
    struct strmap known = {0};
    struct arena a = {0};
    bool ok = read_points(s, &a, x, &known, e);
    for (uint32_t i = 0; ok && i < point_count; i++) {
        const char *name = labels_of(&a, points[i].labels);
        const char *key = strmap_get(&known, name, strlen(name));
        snprintf(points[i].key, KEY_BYTES, "%s", key ? key : "");
    }
    strmap_free(&known);
    arena_free(&a);
    return ok;
}

/* Experiments in the store: the text as it was swept, and the key of each point under the labels of its six axes. */
#include "store/sql.h"

#include <string.h>
#include <time.h>

static const char *size_of(const struct experiment *x) { return x->size ? x->size : ""; }

static void bind_experiment(sqlite3_stmt *q, const struct experiment *x)
{
    store_bind_text(q, 1, x->name);
    store_bind_text(q, 2, size_of(x));
}

static bool delete_experiment(struct store *s, const struct experiment *x, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s, "DELETE FROM experiment WHERE name = ? AND size = ?", e);
    if (!q)
        return false;
    bind_experiment(q, x);
    bool ok = store_run_once(s, q, e);
    sqlite3_finalize(q);
    return ok;
}

static bool insert_experiment(struct store *s, const struct experiment *x, sqlite3_int64 *id, struct error *e)
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

static bool insert_points(struct store *s, const struct experiment *x, const char (*keys)[KEY_BYTES], sqlite3_int64 id,
                          struct error *e)
{
    sqlite3_stmt *q = store_prepare(s, "INSERT INTO point VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", e);
    bool ok = q;
    for (uint32_t i = 0; ok && i < x->point_count; i++) {
        sqlite3_bind_int64(q, 1, id);
        sqlite3_bind_int64(q, 2, i);
        for (int axis = 0; axis < AXIS_COUNT; axis++)
            store_bind_text(q, 3 + axis, experiment_label(x, &x->points[i], (enum lab_axis)axis));
        store_bind_text(q, 3 + AXIS_COUNT, keys[i]);
        ok = store_run_once(s, q, e);
    }
    sqlite3_finalize(q);
    return ok;
}

bool store_put_experiment(struct store *s, const struct experiment *x, const char (*keys)[KEY_BYTES], struct error *e)
{
    sqlite3_int64 id;
    if (!store_begin(s, e))
        return false;
    return store_end(
        s, delete_experiment(s, x, e) && insert_experiment(s, x, &id, e) && insert_points(s, x, keys, id, e), e);
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
static const char *labels_of(struct arena *a, const char *const labels[AXIS_COUNT])
{
    return arena_printf(a, "%s\n%s\n%s\n%s\n%s\n%s", labels[0], labels[1], labels[2], labels[3], labels[4], labels[5]);
}

static bool read_points(struct store *s, struct arena *a, const struct experiment *x, struct strmap *points,
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
        const char *labels[AXIS_COUNT];
        for (int axis = 0; axis < AXIS_COUNT; axis++)
            labels[axis] = (const char *)sqlite3_column_text(q, axis);
        const char *name = labels_of(a, labels);
        strmap_put(points, name, strlen(name), (void *)store_column_text(a, q, AXIS_COUNT));
    }
    sqlite3_finalize(q);
    return got == 0;
}

bool store_point_keys(struct store *s, const struct experiment *x, char (*keys)[KEY_BYTES], struct error *e)
{
    struct strmap points = {0};
    struct arena a = {0};
    bool ok = read_points(s, &a, x, &points, e);
    for (uint32_t i = 0; ok && i < x->point_count; i++) {
        const char *labels[AXIS_COUNT];
        for (int axis = 0; axis < AXIS_COUNT; axis++)
            labels[axis] = experiment_label(x, &x->points[i], (enum lab_axis)axis);
        const char *name = labels_of(&a, labels);
        const char *key = strmap_get(&points, name, strlen(name));
        strncpy(keys[i], key ? key : "", KEY_BYTES - 1);
        keys[i][KEY_BYTES - 1] = '\0';
    }
    strmap_free(&points);
    arena_free(&a);
    return ok;
}

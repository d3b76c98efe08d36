/* What sweeps, figures and reports ask a store: which runs there are, and their metrics. */
#include "store/sql.h"

#include <math.h>
#include <string.h>

bool store_has(struct store *s, const char key[KEY_BYTES])
{
    struct error e = {0};
    sqlite3_stmt *q = store_statement(s, HAS_RUN, &e);
    if (!q)
        return false;
    store_bind_text(q, 1, key);
    bool has = store_step(s, q, &e) > 0;
    sqlite3_reset(q);
    return has;
}

bool store_keys(struct store *s, struct arena *a, char (**keys)[KEY_BYTES], uint32_t *count, struct error *e)
{
    sqlite3_stmt *q =
        store_prepare(s, "SELECT key, (SELECT count(*) FROM run) FROM run WHERE failure IS NULL ORDER BY key", e);
    int got;
    *keys = NULL;
    *count = 0;
    if (!q)
        return false;
    while ((got = store_step(s, q, e)) > 0) {
        if (!*keys)
            *keys = arena_alloc(a, KEY_BYTES * (size_t)sqlite3_column_int64(q, 1));
        strncpy((*keys)[(*count)++], (const char *)sqlite3_column_text(q, 0), KEY_BYTES - 1);
    }
    sqlite3_finalize(q);
    return got == 0;
}

static double number_of(sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_NULL ? NAN : sqlite3_column_double(q, column);
}

/* The ids of names, 0 for one that no run has. */
static bool find_names(struct store *s, const char *const *names, uint32_t count, sqlite3_int64 *ids, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s, "SELECT id FROM metric_name WHERE name = ?", e);
    int got = q ? 0 : -1;
    for (uint32_t i = 0; got >= 0 && i < count; i++) {
        store_bind_text(q, 1, names[i]);
        got = store_step(s, q, e);
        ids[i] = got > 0 ? sqlite3_column_int64(q, 0) : 0;
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    return got >= 0;
}

struct metric_reader {
    struct store *s;
    sqlite3_stmt *run, *metric;
    const sqlite3_int64 *names;
    uint32_t name_count;
    struct error *e;
};

/* One row of store_metrics. */
static bool read_row(struct metric_reader *r, const char *key, double *values)
{
    for (uint32_t i = 0; i < r->name_count; i++)
        values[i] = NAN;
    if (!*key)
        return true;
    store_bind_text(r->run, 1, key);
    int got = store_step(r->s, r->run, r->e);
    sqlite3_int64 run = got > 0 ? sqlite3_column_int64(r->run, 0) : 0;
    sqlite3_reset(r->run);
    for (uint32_t i = 0; run && got >= 0 && i < r->name_count; i++) {
        sqlite3_bind_int64(r->metric, 1, run);
        sqlite3_bind_int64(r->metric, 2, r->names[i]);
        got = store_step(r->s, r->metric, r->e);
        if (got > 0)
            values[i] = number_of(r->metric, 0);
        sqlite3_reset(r->metric);
    }
    return got >= 0;
}

static bool read_rows(struct metric_reader *r, const char (*keys)[KEY_BYTES], uint32_t key_count, double *values)
{
    for (uint32_t i = 0; i < key_count; i++)
        if (!read_row(r, keys[i], values + (size_t)i * r->name_count))
            return false;
    return true;
}

bool store_metrics(struct store *s, const char (*keys)[KEY_BYTES], uint32_t key_count, const char *const *names,
                   uint32_t name_count, double *values, struct error *e)
{
    struct arena a = {0};
    sqlite3_int64 *ids = arena_array(&a, sqlite3_int64, name_count);
    struct metric_reader r = {.s = s, .names = ids, .name_count = name_count, .e = e};
    /* One transaction, so that all rows are of the same moment and the file is locked once. */
    bool ok = store_exec(s, "BEGIN", e);
    if (ok) {
        ok = find_names(s, names, name_count, ids, e) &&
             (r.run = store_prepare(s, "SELECT id FROM run WHERE key = ? AND failure IS NULL", e)) &&
             (r.metric = store_prepare(s, "SELECT value FROM metric WHERE run = ? AND kernel = -1 AND name = ?", e)) &&
             read_rows(&r, keys, key_count, values);
        sqlite3_finalize(r.run);
        sqlite3_finalize(r.metric);
        ok = store_end(s, ok, e);
    }
    arena_free(&a);
    return ok;
}

/* The metrics of store_run, in its order, joined by the ids of their names. %s: the column with the probes. */
static const char runs_sql[] =
    "SELECT r.key, r.program, r.arguments, r.machine, r.scheduler, r.l1, r.divergence, r.sets, r.version, r.host, "
    "r.started, r.failure, r.command, %s, r.epoch, r.exit, r.wall_seconds,"
    " r.launch_seconds, r.kwips, a.value, b.value, c.value, d.value, f.value, (SELECT count(*) FROM run) FROM run r"
    " LEFT JOIN metric a ON a.run = r.id AND a.kernel = -1 AND a.name = (SELECT id FROM metric_name WHERE name = "
    "'cycles')"
    " LEFT JOIN metric b ON b.run = r.id AND b.kernel = -1 AND b.name = (SELECT id FROM metric_name WHERE name = "
    "'warp_instructions')"
    " LEFT JOIN metric c ON c.run = r.id AND c.kernel = -1 AND c.name = (SELECT id FROM metric_name WHERE name = 'ipc')"
    " LEFT JOIN metric d ON d.run = r.id AND d.kernel = -1 AND d.name = (SELECT id FROM metric_name WHERE name = "
    "'l1d.accesses')"
    " LEFT JOIN metric f ON f.run = r.id AND f.kernel = -1 AND f.name = (SELECT id FROM metric_name WHERE name = "
    "'l1d.misses')"
    " ORDER BY r.program, r.machine, r.scheduler, r.l1, r.divergence, r.sets, r.arguments, r.key";

static void read_run(struct store_run *r, struct arena *a, sqlite3_stmt *q)
{
    const char **texts[] = {&r->key,  &r->program,    &r->arguments, &r->machine, &r->scheduler,
                            &r->l1,   &r->divergence, &r->sets,      &r->version, &r->host,
                            &r->when, &r->failure,    &r->command,   &r->probes};
    double *numbers[] = {&r->wall_seconds, &r->launch_seconds, &r->kwips,     &r->cycles, &r->warp_instructions,
                         &r->ipc,          &r->l1d_accesses,   &r->l1d_misses};
    int column = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = store_column_text(a, q, column++);
    r->epoch = sqlite3_column_int64(q, column++);
    r->exit = sqlite3_column_int(q, column++);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = number_of(q, column++);
}

bool store_runs(struct store *s, struct arena *a, struct store_run **runs, uint32_t *count, struct error *e)
{
    char *sql = sqlite3_mprintf(runs_sql, store_probes_column(s));
    sqlite3_stmt *q = sql ? store_prepare(s, sql, e) : NULL;
    int got;
    *runs = NULL;
    *count = 0;
    sqlite3_free(sql);
    if (!q)
        return false;
    while ((got = store_step(s, q, e)) > 0) {
        if (!*runs)
            *runs = arena_array(a, struct store_run, sqlite3_column_int64(q, sqlite3_column_count(q) - 1));
        read_run(&(*runs)[(*count)++], a, q);
    }
    sqlite3_finalize(q);
    return got == 0;
}

double store_expected_seconds(struct store *s, const char *program, const char *arguments)
{
    struct error e = {0};
    sqlite3_stmt *q = store_statement(s, EXPECTED_SECONDS, &e);
    if (!q)
        return 0;
    store_bind_text(q, 1, program);
    store_bind_text(q, 2, arguments);
    double seconds = store_step(s, q, &e) > 0 ? sqlite3_column_double(q, 0) : 0;
    sqlite3_reset(q);
    return seconds;
}

bool store_machines(struct store *s, struct arena *a, struct store_machine **machines, uint32_t *count, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "WITH used AS (SELECT DISTINCT machine, sets, machine_id FROM run)"
                                    " SELECT u.machine, u.sets, m.text, (SELECT count(*) FROM used) FROM used u JOIN "
                                    "machine m ON m.id = u.machine_id ORDER BY u.machine, u.sets, m.id",
                                    e);
    int got;
    *machines = NULL;
    *count = 0;
    if (!q)
        return false;
    while ((got = store_step(s, q, e)) > 0) {
        if (!*machines)
            *machines = arena_array(a, struct store_machine, sqlite3_column_int64(q, 3));
        struct store_machine *m = &(*machines)[(*count)++];
        m->name = store_column_text(a, q, 0);
        m->sets = store_column_text(a, q, 1);
        m->text = store_column_text(a, q, 2);
    }
    sqlite3_finalize(q);
    return got == 0;
}

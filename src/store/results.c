/* One run read back as an object like that of --stats, for whoever looks at a run as a whole. Counters keep the flat
 * names of the tables. */
#include "store/sql.h"

#include <string.h>

enum { SHOWN = 8 };

static json_t *number_of(sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_INTEGER ? json_integer(sqlite3_column_int64(q, column))
                                                            : json_real(sqlite3_column_double(q, column));
}

static json_t *text_of(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    return text ? json_string(text) : json_null();
}

/* Words with a space between them, as a list. */
static json_t *words_of(sqlite3_stmt *q, int column)
{
    const char *at = (const char *)sqlite3_column_text(q, column);
    json_t *list = json_array();
    while (at && *at) {
        size_t bytes = strcspn(at, " ");
        if (bytes)
            json_array_append_new(list, json_stringn(at, bytes));
        at += bytes + (at[bytes] == ' ');
    }
    return list;
}

static json_t *triple_of(sqlite3_stmt *q, int column)
{
    return json_pack("[o, o, o]", number_of(q, column), number_of(q, column + 1), number_of(q, column + 2));
}

/* ------------------------------------------------------------- which run */

static bool no_run(struct store *s, const char *key, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT key, program, machine, scheduler, l1, divergence FROM run "
                                    "WHERE substr(key, 1, length(?1)) = ?1 OR NOT EXISTS (SELECT 1 FROM run WHERE "
                                    "substr(key, 1, length(?1)) = ?1) ORDER BY key LIMIT ?2",
                                    e);
    int got;
    bool some = false;
    if (!q)
        return false;
    store_bind_text(q, 1, key);
    sqlite3_bind_int(q, 2, SHOWN + 1);
    error_set(e, ERROR_NOT_FOUND, "%s has no run, or several, whose key begins with '%s'", s->path, key);
    for (int i = 0; (got = store_step(s, q, e)) > 0; i++, some = true)
        if (i < SHOWN)
            error_note(e, "%s%.12s %s %s %s %s %s", some ? "        " : "it has  ", sqlite3_column_text(q, 0),
                       sqlite3_column_text(q, 1), sqlite3_column_text(q, 2), sqlite3_column_text(q, 3),
                       sqlite3_column_text(q, 4), sqlite3_column_text(q, 5));
        else
            error_note(e, "        and more");
    if (!some)
        error_note(e, "it has no run at all");
    sqlite3_finalize(q);
    return false;
}

static json_t *run_of(struct store *s, const char *key, sqlite3_int64 *run, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT id, key, program, arguments, machine, sets, scheduler, l1, divergence, "
                                    "epoch, failure FROM run WHERE substr(key, 1, length(?1)) = ?1 LIMIT 2",
                                    e);
    if (!q)
        return NULL;
    store_bind_text(q, 1, key);
    json_t *results = json_object(), *machine = json_object();
    int got = store_step(s, q, e);
    bool found = *key && got > 0, failed = found && sqlite3_column_type(q, 10) != SQLITE_NULL;
    *run = found ? sqlite3_column_int64(q, 0) : 0;
    if (failed)
        error_set(e, ERROR_NOT_FOUND, "run %.12s of %s failed: %s", sqlite3_column_text(q, 1), s->path,
                  sqlite3_column_text(q, 10));
    json_object_set_new(machine, "name", text_of(q, 4));
    json_object_set_new(results, "program", text_of(q, 2));
    json_object_set_new(results, "arguments", words_of(q, 3));
    json_object_set_new(results, "machine", machine);
    json_object_set_new(results, "sets", words_of(q, 5));
    json_object_set_new(results, "scheduler", text_of(q, 6));
    json_object_set_new(results, "l1", text_of(q, 7));
    json_object_set_new(results, "divergence", text_of(q, 8));
    json_object_set_new(results, "timing_epoch", number_of(q, 9));
    bool only = got <= 0 || store_step(s, q, e) == 0;
    sqlite3_finalize(q);
    if (found && only && !failed)
        return results;
    json_decref(results);
    if (got >= 0 && !(failed && only))
        no_run(s, key, e);
    return NULL;
}

/* ------------------------------------------------------------- its counters */

static bool read_kernels(struct store *s, sqlite3_int64 run, json_t *kernels, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT name, partial, grid_x, grid_y, grid_z, block_x, block_y, "
                                    "block_z FROM kernel WHERE run = ? ORDER BY number",
                                    e);
    int got;
    if (!q)
        return false;
    sqlite3_bind_int64(q, 1, run);
    while ((got = store_step(s, q, e)) > 0) {
        json_t *kernel = json_object();
        json_object_set_new(kernel, "name", text_of(q, 0));
        json_object_set_new(kernel, "partial", json_boolean(sqlite3_column_int(q, 1)));
        json_object_set_new(kernel, "grid", triple_of(q, 2));
        json_object_set_new(kernel, "block", triple_of(q, 5));
        json_array_append_new(kernels, kernel);
    }
    sqlite3_finalize(q);
    return got == 0;
}

static bool read_metrics(struct store *s, sqlite3_int64 run, json_t *total, json_t *kernels, struct error *e)
{
    sqlite3_stmt *q = store_prepare(
        s, "SELECT m.kernel, n.name, m.value FROM metric m JOIN metric_name n ON n.id = m.name WHERE m.run = ?", e);
    int got;
    if (!q)
        return false;
    sqlite3_bind_int64(q, 1, run);
    while ((got = store_step(s, q, e)) > 0) {
        sqlite3_int64 kernel = sqlite3_column_int64(q, 0);
        json_t *to = kernel == WHOLE_RUN ? total : json_array_get(kernels, (size_t)kernel);
        if (to)
            json_object_set_new(to, (const char *)sqlite3_column_text(q, 1), number_of(q, 2));
    }
    sqlite3_finalize(q);
    return got == 0;
}

/* The list of a launch, and in it the instruction that the row is of: rows of one follow each other. */
static json_t *pc_of(json_t *kernels, sqlite3_stmt *q)
{
    json_t *kernel = json_array_get(kernels, (size_t)sqlite3_column_int64(q, 0)), *pcs = json_object_get(kernel, "pcs");
    if (!kernel)
        return NULL;
    if (!pcs)
        json_object_set_new(kernel, "pcs", pcs = json_array());
    json_t *last = json_array_get(pcs, json_array_size(pcs) - 1);
    if (last && json_integer_value(json_object_get(last, "pc")) == sqlite3_column_int64(q, 1))
        return last;
    json_t *pc = json_object();
    json_object_set_new(pc, "pc", number_of(q, 1));
    json_object_set_new(pc, "line", number_of(q, 2));
    json_object_set_new(pc, "text", text_of(q, 3));
    if (sqlite3_column_bytes(q, 4))
        json_object_set_new(pc, "source", text_of(q, 4));
    json_array_append_new(pcs, pc);
    return pc;
}

static bool read_instructions(struct store *s, sqlite3_int64 run, json_t *kernels, struct error *e)
{
    sqlite3_stmt *q =
        store_prepare(s,
                      "SELECT p.kernel, p.pc, i.line, i.text, i.source, n.name, c.value FROM pc p JOIN instruction i "
                      "ON i.id = p.instruction LEFT JOIN pc_counter c ON c.run = p.run AND c.kernel = p.kernel AND "
                      "c.pc = p.pc LEFT JOIN metric_name n ON n.id = c.name WHERE p.run = ? ORDER BY p.kernel, p.pc",
                      e);
    int got;
    if (!q)
        return false;
    sqlite3_bind_int64(q, 1, run);
    while ((got = store_step(s, q, e)) > 0) {
        json_t *pc = pc_of(kernels, q);
        const char *name = (const char *)sqlite3_column_text(q, 5);
        if (pc && name)
            json_object_set_new(pc, name, number_of(q, 6));
    }
    sqlite3_finalize(q);
    return got == 0;
}

json_t *store_results(struct store *s, const char *key, struct error *e)
{
    sqlite3_int64 run;
    json_t *results = run_of(s, key, &run, e), *total = json_object(), *kernels = json_array();
    if (results && read_kernels(s, run, kernels, e) && read_metrics(s, run, total, kernels, e) &&
        read_instructions(s, run, kernels, e)) {
        json_object_set_new(results, "total", total);
        json_object_set_new(results, "kernels", kernels);
        return results;
    }
    json_decref(results);
    json_decref(total);
    json_decref(kernels);
    return NULL;
}

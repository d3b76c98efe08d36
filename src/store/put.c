/* Taking a record in (record.h): one transaction that leaves all of it or nothing. Launches, metrics, instructions and
 * samples become rows of their own tables; the objects of --stats are flattened, null is no row. */
#include "store/sql.h"

#include <string.h>

/* One record on its way in. */
struct taking {
    struct store *s;
    sqlite3_int64 run;
    int kernel; /* number of the launch, or WHOLE_RUN */
    sqlite3_int64 pc;
    struct error *e;
};

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* The words of an array with a space between them. */
static const char *join_words(struct arena *a, const json_t *array)
{
    size_t bytes = 1;
    for (size_t i = 0; i < json_array_size(array); i++)
        bytes += json_string_length(json_array_get(array, i)) + 1;
    char *out = arena_alloc(a, bytes), *to = out;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *word = json_string_value(json_array_get(array, i));
        to = stpcpy(i ? stpcpy(to, " ") : to, word ? word : "");
    }
    return out;
}

/* A policy that was not asked for is the machine's: what --stats calls it. */
static const char *policy_of(const json_t *record, const char *name)
{
    const char *given = text_of(record, name);
    return *given ? given : text_of(json_object_get(record, "stats"), name);
}

static bool check_record(const json_t *record, struct error *e)
{
    const char *key = text_of(record, "key");
    if (!json_is_object(record))
        return error_set(e, ERROR_INVALID, "a record of a run is not a JSON object");
    if (strlen(key) != KEY_BYTES - 1 || strspn(key, "0123456789abcdef") != KEY_BYTES - 1)
        return error_set(e, ERROR_INVALID, "a record of a run has the key '%.40s', which is not 32 hexadecimal digits",
                         key);
    if (!*text_of(record, "program"))
        return error_set(e, ERROR_INVALID, "the record of run %s names no program", key);
    return true;
}

/* What is there under its key: kept if it ended well, else it goes, with all its rows. */
static bool make_room(struct store *s, const char *key, bool *kept, struct error *e)
{
    sqlite3_stmt *q = store_statement(s, FIND_RUN, e);
    if (!q)
        return false;
    store_bind_text(q, 1, key);
    int got = store_step(s, q, e);
    sqlite3_int64 run = got > 0 ? sqlite3_column_int64(q, 0) : 0;
    *kept = got > 0 && sqlite3_column_int(q, 1);
    sqlite3_reset(q);
    if (got <= 0 || *kept)
        return got >= 0;
    q = store_statement(s, DELETE_RUN, e);
    if (!q)
        return false;
    sqlite3_bind_int64(q, 1, run);
    return store_run_once(s, q, e);
}

/* The id of a row in a table where each row stands once. */
static bool intern(struct store *s, enum store_statement find, enum store_statement insert,
                   void (*bind)(sqlite3_stmt *q, const json_t *from), const json_t *from, sqlite3_int64 *id,
                   struct error *e)
{
    sqlite3_stmt *q = store_statement(s, find, e);
    if (!q)
        return false;
    bind(q, from);
    int got = store_step(s, q, e);
    *id = got > 0 ? sqlite3_column_int64(q, 0) : 0;
    sqlite3_reset(q);
    if (got)
        return got > 0;
    q = store_statement(s, insert, e);
    if (!q)
        return false;
    bind(q, from);
    if (!store_run_once(s, q, e))
        return false;
    *id = sqlite3_last_insert_rowid(s->db);
    return true;
}

static void bind_machine(sqlite3_stmt *q, const json_t *record)
{
    store_bind_text(q, 1, text_of(record, "machine_text"));
}

static void bind_instruction(sqlite3_stmt *q, const json_t *pc)
{
    store_bind_text(q, 1, text_of(pc, "text"));
    sqlite3_bind_int64(q, 2, json_integer_value(json_object_get(pc, "line")));
    store_bind_text(q, 3, text_of(pc, "function"));
    store_bind_text(q, 4, text_of(pc, "source"));
}

static bool put_run(struct taking *t, const json_t *record)
{
    const json_t *host = json_object_get(json_object_get(record, "stats"), "host"),
                 *failure = json_object_get(record, "failure"), *log = json_object_get(record, "log");
    struct arena a = {0};
    sqlite3_int64 machine;
    sqlite3_stmt *q;
    if (!intern(t->s, FIND_MACHINE, INSERT_MACHINE, bind_machine, record, &machine, t->e) ||
        !(q = store_statement(t->s, INSERT_RUN, t->e)))
        return false;
    store_bind_text(q, 1, text_of(record, "key"));
    store_bind_text(q, 2, text_of(record, "program"));
    store_bind_text(q, 3, join_words(&a, json_object_get(record, "arguments")));
    store_bind_text(q, 4, text_of(record, "machine"));
    store_bind_text(q, 5, join_words(&a, json_object_get(record, "sets")));
    store_bind_text(q, 6, policy_of(record, "scheduler"));
    store_bind_text(q, 7, policy_of(record, "l1"));
    store_bind_text(q, 8, policy_of(record, "divergence"));
    store_bind_text(q, 9, text_of(record, "version"));
    store_bind_number(q, 10, json_object_get(record, "epoch"));
    store_bind_text(q, 11, text_of(record, "host"));
    store_bind_text(q, 12, text_of(record, "when"));
    store_bind_number(q, 13, json_object_get(record, "exit"));
    store_bind_text(q, 14, json_string_value(failure));
    store_bind_number(q, 15, json_object_get(record, "wall_seconds"));
    store_bind_number(q, 16, json_object_get(host, "launch_seconds"));
    store_bind_number(q, 17, json_object_get(host, "kwips"));
    store_bind_number(q, 18, json_object_get(host, "peak_bytes"));
    sqlite3_bind_int64(q, 19, machine);
    store_bind_text(q, 20, text_of(record, "command"));
    store_bind_text(q, 21, json_string_value(log));
    store_bind_text(q, 22, join_words(&a, json_object_get(record, "probes")));
    bool ok = store_run_once(t->s, q, t->e);
    t->run = sqlite3_last_insert_rowid(t->s->db);
    arena_free(&a);
    return ok;
}

static bool put_metric(void *context, const char *name, size_t length, const json_t *value)
{
    struct taking *t = context;
    sqlite3_int64 id;
    sqlite3_stmt *q;
    if (!store_metric_id(t->s, name, length, &id, t->e) || !(q = store_statement(t->s, INSERT_METRIC, t->e)))
        return false;
    sqlite3_bind_int64(q, 1, t->run);
    sqlite3_bind_int(q, 2, t->kernel);
    sqlite3_bind_int64(q, 3, id);
    store_bind_number(q, 4, value);
    return store_run_once(t->s, q, t->e);
}

static bool put_pc_counter(void *context, const char *name, size_t length, const json_t *value)
{
    struct taking *t = context;
    sqlite3_int64 id;
    sqlite3_stmt *q;
    if (!store_metric_id(t->s, name, length, &id, t->e) || !(q = store_statement(t->s, INSERT_PC_COUNTER, t->e)))
        return false;
    sqlite3_bind_int64(q, 1, t->run);
    sqlite3_bind_int(q, 2, t->kernel);
    sqlite3_bind_int64(q, 3, t->pc);
    sqlite3_bind_int64(q, 4, id);
    store_bind_number(q, 5, value);
    return store_run_once(t->s, q, t->e);
}

static bool put_pc(struct taking *t, const json_t *pc)
{
    static const char *const not_counters[] = {"pc", "line", "text", NULL};
    sqlite3_int64 instruction;
    sqlite3_stmt *q;
    if (!intern(t->s, FIND_INSTRUCTION, INSERT_INSTRUCTION, bind_instruction, pc, &instruction, t->e) ||
        !(q = store_statement(t->s, INSERT_PC, t->e)))
        return false;
    t->pc = json_integer_value(json_object_get(pc, "pc"));
    sqlite3_bind_int64(q, 1, t->run);
    sqlite3_bind_int(q, 2, t->kernel);
    sqlite3_bind_int64(q, 3, t->pc);
    sqlite3_bind_int64(q, 4, instruction);
    return store_run_once(t->s, q, t->e) && store_flatten(pc, not_counters, put_pc_counter, t);
}

static bool put_samples(struct taking *t, const char *name, const json_t *cycles, const json_t *values)
{
    sqlite3_int64 id;
    if (!store_metric_id(t->s, name, strlen(name), &id, t->e))
        return false;
    for (size_t i = 0; i < json_array_size(values) && i < json_array_size(cycles); i++) {
        const json_t *value = json_array_get(values, i);
        sqlite3_stmt *q = store_statement(t->s, INSERT_SERIES, t->e);
        if (!q)
            return false;
        if (!json_is_number(value))
            continue;
        sqlite3_bind_int64(q, 1, t->run);
        sqlite3_bind_int(q, 2, t->kernel);
        sqlite3_bind_int64(q, 3, id);
        store_bind_number(q, 4, json_array_get(cycles, i));
        store_bind_number(q, 5, value);
        if (!store_run_once(t->s, q, t->e))
            return false;
    }
    return true;
}

static bool put_series(struct taking *t, const json_t *series)
{
    const char *name;
    json_t *values;
    json_object_foreach(json_object_get(series, "values"), name,
                        values) if (!put_samples(t, name, json_object_get(series, "cycles"), values)) return false;
    return true;
}

static bool put_kernel(struct taking *t, const json_t *kernel)
{
    static const char *const columns[] = {"cycles", "warp_instructions", "thread_instructions"};
    static const char *const not_metrics[] = {"name",  "grid", "block",    "launch", "partial",
                                              "start", "pcs",  "estimate", "series", NULL};
    const json_t *grid = json_object_get(kernel, "grid"), *block = json_object_get(kernel, "block"),
                 *pcs = json_object_get(kernel, "pcs");
    sqlite3_stmt *q = store_statement(t->s, INSERT_KERNEL, t->e);
    if (!q)
        return false;
    sqlite3_bind_int64(q, 1, t->run);
    sqlite3_bind_int(q, 2, t->kernel);
    store_bind_text(q, 3, text_of(kernel, "name"));
    for (int i = 0; i < 3; i++) {
        store_bind_number(q, 4 + i, json_array_get(grid, (size_t)i));
        store_bind_number(q, 7 + i, json_array_get(block, (size_t)i));
        store_bind_number(q, 11 + i, json_object_get(kernel, columns[i]));
    }
    sqlite3_bind_int(q, 10, json_is_true(json_object_get(kernel, "partial")));
    if (!store_run_once(t->s, q, t->e) || !store_flatten(kernel, not_metrics, put_metric, t))
        return false;
    for (size_t i = 0; i < json_array_size(pcs); i++)
        if (!put_pc(t, json_array_get(pcs, i)))
            return false;
    return put_series(t, json_object_get(kernel, "series"));
}

static bool put_stats(struct taking *t, const json_t *stats)
{
    const json_t *kernels = json_object_get(stats, "kernels");
    t->kernel = WHOLE_RUN;
    if (!store_flatten(json_object_get(stats, "total"), NULL, put_metric, t))
        return false;
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        t->kernel = (int)i;
        if (!put_kernel(t, json_array_get(kernels, i)))
            return false;
    }
    return true;
}

bool store_put(struct store *s, const json_t *record, bool *added, struct error *e)
{
    struct taking t = {.s = s, .e = e};
    bool kept = false;
    *added = false;
    if (!check_record(record, e) || !store_begin(s, e))
        return false;
    bool ok = make_room(s, text_of(record, "key"), &kept, e) &&
              (kept || (put_run(&t, record) && put_stats(&t, json_object_get(record, "stats"))));
    ok = store_end(s, ok, e);
    *added = ok && !kept;
    return ok;
}

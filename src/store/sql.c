/* SQLite as the store uses it: statements, transactions, and result codes turned into messages that say what to do. */
#include "store/sql.h"

#include <errno.h>
#include <string.h>

static const char *const statement_texts[STATEMENT_COUNT] = {
    [FIND_RUN] = "SELECT id, failure IS NULL FROM run WHERE key = ?",
    [DELETE_RUN] = "DELETE FROM run WHERE id = ?",
    [INSERT_RUN] = ("INSERT INTO run (key, program, arguments, machine, sets, scheduler, l1, divergence, version, "
                    "epoch, host, started, exit, failure, wall_seconds, launch_seconds, kwips, "
                    "peak_bytes, machine_id, command, log, probes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                    "?, ?, ?, ?, ?, ?, ?, ?)"),
    [INSERT_MACHINE] = "INSERT INTO machine (text) VALUES (?)",
    [FIND_MACHINE] = "SELECT id FROM machine WHERE text = ?",
    [INSERT_KERNEL] = "INSERT INTO kernel VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_METRIC] = "INSERT INTO metric VALUES (?, ?, ?, ?)",
    [INSERT_NAME] = "INSERT INTO metric_name (name, unit) VALUES (?, ?)",
    [INSERT_INSTRUCTION] = "INSERT INTO instruction (text, line, function, source) VALUES (?, ?, ?, ?)",
    [FIND_INSTRUCTION] = "SELECT id FROM instruction WHERE text = ? AND line = ? AND function = ? AND source = ?",
    [INSERT_PC] = "INSERT INTO pc VALUES (?, ?, ?, ?)",
    [INSERT_PC_COUNTER] = "INSERT INTO pc_counter VALUES (?, ?, ?, ?, ?)",
    [INSERT_SERIES] = "INSERT INTO series VALUES (?, ?, ?, ?, ?)",
    [HAS_RUN] = "SELECT 1 FROM run WHERE key = ? AND failure IS NULL",
    /* The last few: an older one may be of a slower version. */
    [EXPECTED_SECONDS] = "SELECT avg(wall_seconds) FROM (SELECT wall_seconds FROM run WHERE program = ? AND arguments "
                         "= ? AND failure IS NULL ORDER BY id DESC LIMIT 8)",
};

static bool fail_damaged(struct store *s, struct error *e)
{
    error_set(e, ERROR_IO, "%s is damaged: %s", s->path, sqlite3_errmsg(s->db));
    error_note(e, "save what can still be read: heddle report '%s' --rescue rescued.db", s->path);
    error_note(e, "a sweep into rescued.db then runs only what is missing there");
    return false;
}

static bool fail_full(struct store *s, struct error *e)
{
    error_set(e, ERROR_IO, "cannot write %s: no space left on its disk", s->path);
    error_note(e, "what was in it is still there; make room and do it again, or use another file (-o)");
    return false;
}

static bool fail_read_only(struct store *s, struct error *e)
{
    error_set(e, ERROR_IO, "cannot write %s: it is read-only; mend its permissions, or use another file (-o)", s->path);
    return false;
}

bool store_fail(struct store *s, int code, struct error *e)
{
    int system = sqlite3_system_errno(s->db);
    s->failure = code;
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return fail_damaged(s, e);
    case SQLITE_FULL: return fail_full(s, e);
    case SQLITE_READONLY: return fail_read_only(s, e);
    case SQLITE_NOMEM: return error_set(e, ERROR_NO_MEMORY, "no memory left for %s", s->path);
    case SQLITE_BUSY:
        return error_set(e, ERROR_IO,
                         "%s is kept locked by another program; end that program, or try again when it is done",
                         s->path);
    case SQLITE_IOERR:
        if (system == ENOSPC || system == EDQUOT)
            return fail_full(s, e);
        if (system == EROFS)
            return fail_read_only(s, e);
        return error_set(e, ERROR_IO, "cannot read or write %s: %s", s->path,
                         system ? strerror(system) : sqlite3_errmsg(s->db));
    case SQLITE_CANTOPEN:
        return error_set(e, ERROR_IO, "cannot open %s, or the files beside it (-wal, -shm): %s", s->path,
                         system ? strerror(system) : sqlite3_errmsg(s->db));
    default: return error_set(e, ERROR_IO, "%s: %s", s->path, sqlite3_errmsg(s->db));
    }
}

bool store_exec(struct store *s, const char *sql, struct error *e)
{
    int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || store_fail(s, code, e);
}

sqlite3_stmt *store_prepare(struct store *s, const char *sql, struct error *e)
{
    sqlite3_stmt *q = NULL;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    if (code != SQLITE_OK)
        store_fail(s, code, e);
    return q;
}

sqlite3_stmt *store_statement(struct store *s, enum store_statement which, struct error *e)
{
    sqlite3_stmt **q = &s->statements[which];
    if (!*q) {
        int code = sqlite3_prepare_v3(s->db, statement_texts[which], -1, SQLITE_PREPARE_PERSISTENT, q, NULL);
        if (code != SQLITE_OK)
            store_fail(s, code, e);
        return *q;
    }
    sqlite3_reset(*q);
    sqlite3_clear_bindings(*q);
    return *q;
}

int store_step(struct store *s, sqlite3_stmt *q, struct error *e)
{
    int code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE)
        return 0;
    store_fail(s, code, e);
    return -1;
}

bool store_run_once(struct store *s, sqlite3_stmt *q, struct error *e)
{
    int got = store_step(s, q, e);
    sqlite3_reset(q);
    return got >= 0;
}

/* One that still stands on a row would hold the transaction open. */
static void reset_statements(struct store *s)
{
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_reset(s->statements[i]);
}

bool store_begin(struct store *s, struct error *e)
{
    return store_exec(s, s->in_group ? "SAVEPOINT record" : "BEGIN IMMEDIATE", e);
}

bool store_end(struct store *s, bool ok, struct error *e)
{
    reset_statements(s);
    if (ok && store_exec(s, s->in_group ? "RELEASE record" : "COMMIT", e))
        return true;
    if (!sqlite3_get_autocommit(s->db)) /* some failures have rolled back already, a group with it */
        sqlite3_exec(s->db, s->in_group ? "ROLLBACK TO record; RELEASE record" : "ROLLBACK", NULL, NULL, NULL);
    store_forget_names(s);
    return false;
}

bool store_group_begin(struct store *s, struct error *e) { return s->in_group = store_exec(s, "BEGIN IMMEDIATE", e); }

bool store_group_end(struct store *s, struct error *e)
{
    s->in_group = false;
    if (sqlite3_get_autocommit(s->db)) /* what failed has said why already */
        return error_set(e, ERROR_IO, "%s: what was written has been taken back", s->path);
    return store_end(s, true, e);
}

void store_bind_text(sqlite3_stmt *q, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(q, at);
}

const char *store_column_text(struct arena *a, sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    return text ? arena_strndup(a, text, (size_t)sqlite3_column_bytes(q, column)) : NULL;
}

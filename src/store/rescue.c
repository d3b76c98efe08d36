/* What can still be read of a damaged store, into a new one: runs whose rows are all there. A run of which a part is
 * lost is left out as a whole, so that the next sweep makes it again; tools that copy row after row would leave it in
 * the store with metrics missing.
 *
 * Two connections: what goes wrong in the damaged file is a loss, what goes wrong in the new one is an error. Left out:
 * a file whose first page is gone, which has the tables' definitions. */
#include "store/sql.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNIT_TABLES = 6 };

/* Something that is taken as a whole or not at all: the rows of these tables whose column has its id. */
struct rescue_unit {
    struct {
        const char *table, *column;
    } parts[UNIT_TABLES];
    const char *upper; /* asks for the last id elsewhere: the end of the first table may be lost */
    const char *check; /* a number that must be 0 in the new store, or NULL. ?1: the id */
};

static const struct rescue_unit machines = {{{"machine", "id"}}, "SELECT max(machine_id) FROM run", NULL};
static const struct rescue_unit names = {{{"metric_name", "id"}}, "SELECT max(id) FROM metric_name", NULL};
static const struct rescue_unit instructions = {{{"instruction", "id"}}, "SELECT max(id) FROM instruction", NULL};
static const struct rescue_unit runs = {
    {{"run", "id"}, {"kernel", "run"}, {"metric", "run"}, {"pc", "run"}, {"pc_counter", "run"}, {"series", "run"}},
    "SELECT max(run) FROM metric",
    "SELECT count(*) FROM (SELECT name FROM metric WHERE run = ?1 UNION ALL SELECT name FROM pc_counter WHERE run = ?1 "
    "UNION ALL SELECT name FROM series WHERE run = ?1)"
    " WHERE name NOT IN (SELECT id FROM metric_name)",
};
static const struct rescue_unit experiments = {
    {{"experiment", "id"}, {"point", "experiment"}}, "SELECT max(experiment) FROM point", NULL};

enum taken { TAKEN, NOT_THERE, LOST, BROKEN };

struct rescue {
    sqlite3 *old;
    struct store *s;
    struct error *e;
    sqlite3_stmt *read[UNIT_TABLES], *write[UNIT_TABLES], *check;
};

static sqlite3_stmt *prepare(sqlite3 *db, const char *format, const char *table, const char *column)
{
    sqlite3_stmt *q = NULL;
    char *sql = sqlite3_mprintf(format, table, column);
    if (sql)
        sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    sqlite3_free(sql);
    return q;
}

/* INSERT INTO TABLE (...) VALUES (?, ...) with a place for each column that the old one has: it may be of an earlier
 * version, which has fewer. */
static sqlite3_stmt *prepare_insert(struct rescue *r, const char *table, sqlite3_stmt *from)
{
    sqlite3_str *sql = sqlite3_str_new(r->s->db);
    int columns = sqlite3_column_count(from);
    sqlite3_str_appendf(sql, "INSERT INTO %s (", table);
    for (int i = 0; i < columns; i++)
        sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", sqlite3_column_name(from, i));
    sqlite3_str_appendall(sql, ") VALUES (?");
    for (int i = 1; i < columns; i++)
        sqlite3_str_appendall(sql, ", ?");
    sqlite3_str_appendall(sql, ")");
    char *text = sqlite3_str_finish(sql);
    sqlite3_stmt *q = text ? store_prepare(r->s, text, r->e) : NULL;
    sqlite3_free(text);
    return q;
}

static bool prepare_unit(struct rescue *r, const struct rescue_unit *u)
{
    for (int i = 0; i < UNIT_TABLES && u->parts[i].table; i++) {
        r->read[i] = prepare(r->old, "SELECT * FROM %s WHERE %s = ?", u->parts[i].table, u->parts[i].column);
        if (!r->read[i])
            return error_set(r->e, ERROR_IO, "the definition of table %s is damaged: nothing can be saved",
                             u->parts[i].table);
        r->write[i] = prepare_insert(r, u->parts[i].table, r->read[i]);
        if (!r->write[i])
            return false;
    }
    return !u->check || (r->check = store_prepare(r->s, u->check, r->e));
}

static void finalize_unit(struct rescue *r)
{
    for (int i = 0; i < UNIT_TABLES; i++) {
        sqlite3_finalize(r->read[i]);
        sqlite3_finalize(r->write[i]);
        r->read[i] = r->write[i] = NULL;
    }
    sqlite3_finalize(r->check);
    r->check = NULL;
}

/* A row that contradicts others (a key twice, a machine that is not there) comes of the damage; the rest is the new
 * file's own trouble. */
static enum taken write_row(struct rescue *r, sqlite3_stmt *from, sqlite3_stmt *to)
{
    for (int i = 0; i < sqlite3_column_count(from); i++)
        sqlite3_bind_value(to, 1 + i, sqlite3_column_value(from, i));
    int code = sqlite3_step(to);
    sqlite3_reset(to);
    if (code == SQLITE_DONE)
        return TAKEN;
    if ((code & 0xff) == SQLITE_CONSTRAINT || (code & 0xff) == SQLITE_MISMATCH)
        return LOST;
    store_fail(r->s, code, r->e);
    return BROKEN;
}

static enum taken copy_table(struct rescue *r, int part, sqlite3_int64 id)
{
    sqlite3_stmt *from = r->read[part];
    enum taken got = NOT_THERE;
    int code;
    sqlite3_bind_int64(from, 1, id);
    while ((code = sqlite3_step(from)) == SQLITE_ROW && got <= NOT_THERE)
        got = write_row(r, from, r->write[part]);
    sqlite3_reset(from);
    return code == SQLITE_DONE || code == SQLITE_ROW ? got : LOST;
}

static enum taken copy_rows(struct rescue *r, sqlite3_int64 id)
{
    for (int i = 0; i < UNIT_TABLES && r->read[i]; i++) {
        enum taken got = copy_table(r, i, id);
        if (got > NOT_THERE || (i == 0 && got == NOT_THERE))
            return got;
    }
    if (!r->check)
        return TAKEN;
    sqlite3_bind_int64(r->check, 1, id);
    int got = store_step(r->s, r->check, r->e);
    bool complete = got > 0 && sqlite3_column_int64(r->check, 0) == 0;
    sqlite3_reset(r->check);
    return got < 0 ? BROKEN : complete ? TAKEN : LOST;
}

static sqlite3_int64 greatest(sqlite3 *db, const char *format, const char *table)
{
    sqlite3_stmt *q = prepare(db, format, table, NULL);
    sqlite3_int64 last = 0;
    while (q && sqlite3_step(q) == SQLITE_ROW)
        last = sqlite3_column_int64(q, 0) > last ? sqlite3_column_int64(q, 0) : last;
    sqlite3_finalize(q);
    return last;
}

static sqlite3_int64 last_id(struct rescue *r, const struct rescue_unit *u)
{
    sqlite3_int64 said = greatest(r->old, "SELECT max(id) FROM %s", u->parts[0].table),
                  known = greatest(r->old, u->upper, NULL);
    sqlite3_int64 seen =
        said || known ? 0 : greatest(r->old, "SELECT id FROM %s", u->parts[0].table); /* up to the damage */
    return said > known ? said : known > seen ? known : seen;
}

static bool rescue_unit(struct rescue *r, const struct rescue_unit *u, uint32_t *taken, uint32_t *lost)
{
    bool ok = prepare_unit(r, u);
    sqlite3_int64 last = ok ? last_id(r, u) : 0;
    for (sqlite3_int64 id = 1; ok && id <= last; id++) {
        if (!(ok = store_exec(r->s, "SAVEPOINT one", r->e)))
            break;
        enum taken got = copy_rows(r, id);
        *taken += got == TAKEN;
        *lost += got == LOST;
        ok = got != BROKEN && store_exec(r->s, got == TAKEN ? "RELEASE one" : "ROLLBACK TO one; RELEASE one", r->e);
    }
    finalize_unit(r);
    return ok;
}

static bool copy_all(struct rescue *r, struct store_rescued *out)
{
    uint32_t taken = 0, lost = 0; /* of what runs refer to: the runs that are lost with it tell */
    if (!store_begin(r->s, r->e))
        return false;
    bool ok = rescue_unit(r, &machines, &taken, &lost) && rescue_unit(r, &names, &taken, &lost) &&
              rescue_unit(r, &instructions, &taken, &lost) && rescue_unit(r, &runs, &out->runs, &out->lost) &&
              rescue_unit(r, &experiments, &out->experiments, &lost);
    return store_end(r->s, ok, r->e);
}

/* Nothing is written to the damaged file, unless runs are still in its WAL. */
static bool open_damaged(struct rescue *r, const char *damaged)
{
    char file[PATH_MAX];
    struct arena a = {0};
    if (!realpath(damaged, file))
        return error_set(r->e, ERROR_NOT_FOUND, "cannot read %s: %s", damaged, strerror(errno));
    bool has_wal = access(arena_printf(&a, "%s-wal", file), F_OK) == 0;
    int code = sqlite3_open_v2(store_uri(&a, file, has_wal ? "" : "?immutable=1"), &r->old,
                               (has_wal ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_URI, NULL);
    arena_free(&a);
    sqlite3_stmt *q = code == SQLITE_OK ? prepare(r->old, "SELECT 1 FROM %s, %s", "run", "metric") : NULL;
    bool ok = q;
    sqlite3_finalize(q);
    return ok ||
           error_set(r->e, ERROR_IO,
                     "nothing can be read of %s any more: its first page is damaged, or it never was a results store",
                     damaged);
}

/* ------------------------------------------------------------- what is damaged */

/* The page that a line of integrity_check is about: "Tree 5 page 12 cell 3: ...", or in earlier versions of SQLite
 * "On tree page 12 cell 3: ...", "Page 12: ...". 0: none, or one that is only not used. */
static uint32_t page_of(const char *line, size_t length)
{
    char head[80];
    unsigned page = 0;
    size_t end = strcspn(line, ":\n");
    snprintf(head, sizeof head, "%.*s", (int)(end < length ? end : length), line);
    if (strstr(head, "never used"))
        return 0;
    for (const char *at = head; (at = strpbrk(at, "pP")); at++)
        if (sscanf(at + 1, "age %u", &page) == 1)
            return page;
    return 0;
}

static void note_page(struct store_rescued *out, uint32_t page)
{
    uint32_t kept = out->page_count < STORE_PAGES_NAMED ? out->page_count : STORE_PAGES_NAMED, at = 0;
    while (at < kept && out->pages[at] < page)
        at++;
    if (!page || (at < kept && out->pages[at] == page))
        return;
    out->page_count++;
    for (uint32_t i = kept < STORE_PAGES_NAMED ? kept : STORE_PAGES_NAMED - 1; i > at; i--)
        out->pages[i] = out->pages[i - 1];
    if (at < STORE_PAGES_NAMED)
        out->pages[at] = page;
}

static void find_pages(struct rescue *r, struct store_rescued *out)
{
    sqlite3_stmt *q = prepare(r->old, "PRAGMA page_size", NULL, NULL);
    if (q && sqlite3_step(q) == SQLITE_ROW)
        out->page_bytes = (uint32_t)sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    q = prepare(r->old, "PRAGMA integrity_check(1000)", NULL, NULL);
    while (q && sqlite3_step(q) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(q, 0);
        for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
            note_page(out, page_of(line, strcspn(line, "\n")));
    }
    sqlite3_finalize(q);
}

bool store_rescue(const char *damaged, const char *path, struct store_rescued *out, struct error *e)
{
    struct rescue r = {.e = e};
    memset(out, 0, sizeof *out);
    if (access(path, F_OK) == 0)
        return error_set(e, ERROR_INVALID, "%s is there already; name a new file for what can be saved", path);
    bool ok = open_damaged(&r, damaged) && (r.s = store_open(path, STORE_WRITE, e)) && copy_all(&r, out);
    if (ok)
        find_pages(&r, out);
    sqlite3_close(r.old);
    store_close(r.s);
    if (r.s && !ok)
        unlink(path);
    return ok;
}

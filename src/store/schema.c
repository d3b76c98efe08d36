/* The tables (docs/results.md explains them), and how a store is told from other files: application_id and
 * user_version, which SQLite keeps in the file's first bytes. */
#include "store/sql.h"

enum { APPLICATION_ID = 0x4845444c /* "HEDL" */, SCHEMA_VERSION = 2, FIRST_VERSION = 1 };

static const char schema[] =
    "CREATE TABLE machine (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE run (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, program TEXT NOT NULL, arguments TEXT NOT "
    "NULL, machine TEXT NOT NULL, sets TEXT NOT NULL,"
    " scheduler TEXT NOT NULL, l1 TEXT NOT NULL, divergence TEXT NOT NULL, version TEXT NOT NULL, epoch INTEGER, host "
    "TEXT NOT NULL, started TEXT NOT NULL, exit INTEGER, failure TEXT,"
    " wall_seconds REAL, launch_seconds REAL, kwips REAL, peak_bytes INTEGER, machine_id INTEGER NOT NULL REFERENCES "
    "machine (id), command TEXT NOT NULL, log TEXT,"
    " probes TEXT NOT NULL DEFAULT '');"
    "CREATE INDEX run_program ON run (program, arguments) WHERE failure IS NULL;"
    "CREATE TABLE kernel (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, number INTEGER NOT NULL, name "
    "TEXT NOT NULL, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,"
    " block_x INTEGER, block_y INTEGER, block_z INTEGER, partial INTEGER NOT NULL, cycles INTEGER, warp_instructions "
    "INTEGER, thread_instructions INTEGER,"
    " PRIMARY KEY (run, number)) WITHOUT ROWID;"
    "CREATE TABLE metric_name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL);"
    /* value has no type on purpose: integers stay integers of 64 bits, the rest is real. */
    "CREATE TABLE metric (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, kernel INTEGER NOT NULL, name "
    "INTEGER NOT NULL, value NOT NULL,"
    " PRIMARY KEY (run, kernel, name)) WITHOUT ROWID;"
    "CREATE TABLE instruction (id INTEGER PRIMARY KEY, line INTEGER NOT NULL, text TEXT NOT NULL, function TEXT NOT "
    "NULL, source TEXT NOT NULL, UNIQUE (text, line, function, source));"
    "CREATE TABLE pc (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, kernel INTEGER NOT NULL, pc INTEGER "
    "NOT NULL, instruction INTEGER NOT NULL REFERENCES instruction (id),"
    " PRIMARY KEY (run, kernel, pc)) WITHOUT ROWID;"
    "CREATE TABLE pc_counter (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, kernel INTEGER NOT NULL, pc "
    "INTEGER NOT NULL, name INTEGER NOT NULL, value NOT NULL,"
    " PRIMARY KEY (run, kernel, pc, name)) WITHOUT ROWID;"
    "CREATE TABLE series (run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, kernel INTEGER NOT NULL, name "
    "INTEGER NOT NULL, cycle INTEGER NOT NULL, value NOT NULL,"
    " PRIMARY KEY (run, kernel, name, cycle)) WITHOUT ROWID;"
    "CREATE TABLE experiment (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size TEXT NOT NULL, text TEXT NOT NULL, "
    "swept TEXT NOT NULL, UNIQUE (name, size));"
    "CREATE TABLE point (experiment INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE, number INTEGER NOT "
    "NULL, program TEXT NOT NULL, machine TEXT NOT NULL,"
    " scheduler TEXT NOT NULL, l1 TEXT NOT NULL, divergence TEXT NOT NULL, variant TEXT NOT NULL, key TEXT NOT NULL, "
    "PRIMARY KEY (experiment, number)) WITHOUT ROWID;"
    /* For people: names instead of numbers, and only runs that ended well. */
    "CREATE VIEW metrics AS SELECT r.key, r.program, r.arguments, r.machine, r.sets, r.scheduler, r.l1, r.divergence, "
    "nullif(m.kernel, -1) AS kernel, n.name, n.unit, m.value"
    " FROM run r JOIN metric m ON m.run = r.id JOIN metric_name n ON n.id = m.name WHERE r.failure IS NULL;"
    "CREATE VIEW totals AS SELECT r.key, r.program, r.arguments, r.machine, r.sets, r.scheduler, r.l1, r.divergence, "
    "n.name, n.unit, m.value"
    " FROM run r JOIN metric m ON m.run = r.id AND m.kernel = -1 JOIN metric_name n ON n.id = m.name WHERE r.failure "
    "IS NULL;"
    "CREATE VIEW pcs AS SELECT r.key, r.program, r.machine, r.scheduler, r.l1, r.divergence, p.kernel, p.pc, i.line, "
    "i.text, i.function, i.source, n.name, c.value"
    " FROM run r JOIN pc p ON p.run = r.id JOIN pc_counter c ON c.run = p.run AND c.kernel = p.kernel AND c.pc = p.pc "
    "JOIN metric_name n ON n.id = c.name"
    " JOIN instruction i ON i.id = p.instruction WHERE r.failure IS NULL;"
    "CREATE VIEW samples AS SELECT r.key, r.program, r.machine, r.scheduler, r.l1, r.divergence, s.kernel, n.name, "
    "s.cycle, s.value"
    " FROM run r JOIN series s ON s.run = r.id JOIN metric_name n ON n.id = s.name WHERE r.failure IS NULL;";

/* From version 1: runs had no probes. */
static const char upgrade[] = "ALTER TABLE run ADD COLUMN probes TEXT NOT NULL DEFAULT ''";

bool store_upgrade(struct store *s, struct error *e)
{
    char mark[50];
    if (s->version >= SCHEMA_VERSION)
        return true;
    sqlite3_snprintf(sizeof mark, mark, "PRAGMA user_version = %d", SCHEMA_VERSION);
    if (!store_begin(s, e) || !store_end(s, store_exec(s, upgrade, e) && store_exec(s, mark, e), e))
        return false;
    s->version = SCHEMA_VERSION;
    return true;
}

const char *store_probes_column(const struct store *s) { return s->version < SCHEMA_VERSION ? "''" : "probes"; }

bool store_create(struct store *s, struct error *e)
{
    char marks[100];
    sqlite3_snprintf(sizeof marks, marks, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
                     SCHEMA_VERSION);
    /* Before the journal becomes a WAL: so the marks are in the file itself from the start, and a crash on the way
     * leaves an empty file. */
    if (!store_begin(s, e))
        return false;
    s->version = SCHEMA_VERSION;
    return store_end(s, store_exec(s, schema, e) && store_exec(s, marks, e), e);
}

static bool read_number(struct store *s, const char *sql, int *value, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s, sql, e);
    int got = q ? store_step(s, q, e) : -1;
    *value = got > 0 ? sqlite3_column_int(q, 0) : 0;
    sqlite3_finalize(q);
    return got >= 0;
}

bool store_recognise(struct store *s, bool *empty, struct error *e)
{
    int application, version, objects;
    if (!read_number(s, "SELECT count(*) FROM sqlite_master", &objects, e) ||
        !read_number(s, "PRAGMA application_id", &application, e) ||
        !read_number(s, "PRAGMA user_version", &version, e))
        return false;
    *empty = !objects && !application && !version;
    if (*empty)
        return true;
    if (application != APPLICATION_ID) {
        error_set(e, ERROR_INVALID, "%s is a SQLite file, but of another program, not a results store", s->path);
        error_note(e, "use another file (-o); 'heddle sweep EXPERIMENT.ini -o FILE' makes one");
        return false;
    }
    if (version < FIRST_VERSION)
        return error_set(e, ERROR_INVALID,
                         "%s has tables of version %d, which this Heddle does not know; use another file (-o)", s->path,
                         version);
    s->version = version;
    if (version > SCHEMA_VERSION)
        return error_set(e, ERROR_INVALID,
                         "%s was written by a later Heddle (its tables are of version %d, this one knows %d); use that "
                         "one, or another file (-o)",
                         s->path, version, SCHEMA_VERSION);
    return true;
}

/* A store as tidy CSV: one file a table, a header line, one observation a line, quoted as RFC 4180 says (lines end with
 * a line feed alone). docs/results.md has the columns.
 *
 * All files are of one moment of the store. Each is written beside and renamed, so that a full disk leaves the one
 * before as it was. Left out: what no run has; and of runs that failed, all but their line in runs.csv. */
#include "store/sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct csv_table {
    const char *file, *sql;
};

static const struct csv_table tables[] = {
    /* %s: the column with the probes. */
    {"runs.csv", "SELECT key, program, arguments, machine, sets, scheduler, l1, divergence, version, epoch, host, "
                 "started, exit, failure, wall_seconds, launch_seconds, kwips, peak_bytes, command, %s AS probes"
                 " FROM run ORDER BY program, machine, scheduler, l1, divergence, sets, arguments, key"},
    {"kernels.csv", "SELECT r.key, k.number AS kernel, k.name, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, "
                    "k.block_z, k.partial, k.cycles, k.warp_instructions, k.thread_instructions"
                    " FROM run r JOIN kernel k ON k.run = r.id WHERE r.failure IS NULL ORDER BY r.key, k.number"},
    {"metrics.csv", "SELECT r.key, nullif(m.kernel, -1) AS kernel, n.name AS metric, n.unit, m.value"
                    " FROM run r JOIN metric m ON m.run = r.id JOIN metric_name n ON n.id = m.name WHERE r.failure IS "
                    "NULL ORDER BY r.key, m.kernel, m.name"},
    {"series.csv", "SELECT r.key, s.kernel, n.name AS metric, s.cycle, s.value"
                   " FROM run r JOIN series s ON s.run = r.id JOIN metric_name n ON n.id = s.name WHERE r.failure IS "
                   "NULL ORDER BY r.key, s.kernel, s.name, s.cycle"},
    {"points.csv",
     "SELECT x.name AS experiment, x.size, p.program, p.machine, p.scheduler, p.l1, p.divergence, p.variant, p.key"
     " FROM experiment x JOIN point p ON p.experiment = x.id ORDER BY x.name, x.size, p.number"},
};

/* Instructions have a column for each counter that one of them has. The caller frees it with sqlite3_free. */
static char *pcs_sql(struct store *s, struct error *e)
{
    sqlite3_stmt *q = store_prepare(
        s, "SELECT id, name FROM metric_name WHERE id IN (SELECT DISTINCT name FROM pc_counter) ORDER BY id", e);
    sqlite3_str *sql = sqlite3_str_new(s->db);
    int got = q ? 0 : -1;
    sqlite3_str_appendall(sql, "SELECT r.key, p.kernel, p.pc, i.line, i.text, i.function, i.source");
    while (q && (got = store_step(s, q, e)) > 0)
        sqlite3_str_appendf(sql, ", max(CASE c.name WHEN %lld THEN c.value END) AS \"%w\"", sqlite3_column_int64(q, 0),
                            sqlite3_column_text(q, 1));
    sqlite3_finalize(q);
    sqlite3_str_appendall(sql, " FROM run r JOIN pc p ON p.run = r.id JOIN instruction i ON i.id = p.instruction"
                               " LEFT JOIN pc_counter c ON c.run = p.run AND c.kernel = p.kernel AND c.pc = p.pc WHERE "
                               "r.failure IS NULL GROUP BY r.key, p.kernel, p.pc");
    char *text = sqlite3_str_finish(sql);
    if (got == 0 && text)
        return text;
    if (got == 0)
        error_set(e, ERROR_NO_MEMORY, "no memory left to read %s", s->path);
    sqlite3_free(text);
    return NULL;
}

static void put_text(FILE *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, to);
        return;
    }
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', to);
        putc(*text, to);
    }
    putc('"', to);
}

/* The shortest digits that read back the same. */
static void put_real(FILE *to, double value)
{
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    fputs(digits, to);
}

static void put_value(FILE *to, sqlite3_stmt *q, int column)
{
    switch (sqlite3_column_type(q, column)) {
    case SQLITE_NULL: break;
    case SQLITE_INTEGER: fprintf(to, "%lld", (long long)sqlite3_column_int64(q, column)); break;
    case SQLITE_FLOAT: put_real(to, sqlite3_column_double(q, column)); break;
    default: put_text(to, (const char *)sqlite3_column_text(q, column));
    }
}

static void put_line(FILE *to, sqlite3_stmt *q, bool header)
{
    for (int i = 0; i < sqlite3_column_count(q); i++) {
        if (i)
            putc(',', to);
        if (header)
            put_text(to, sqlite3_column_name(q, i));
        else
            put_value(to, q, i);
    }
    putc('\n', to);
}

/* got: what the first step said. */
static bool write_rows(struct store *s, sqlite3_stmt *q, int got, const char *path, struct error *e)
{
    struct arena a = {0};
    const char *part = arena_printf(&a, "%s.part", path);
    FILE *to = fopen(part, "w");
    if (!to) {
        error_set(e, ERROR_IO, "cannot write %s: %s", part, strerror(errno));
        arena_free(&a);
        return false;
    }
    int reason = 0; /* of a failure: the error number, kept before another call changes it */
    put_line(to, q, true);
    while (got > 0 && !reason) {
        put_line(to, q, false);
        reason = ferror(to) ? errno : 0;
        if (!reason)
            got = store_step(s, q, e);
    }
    if (fclose(to) != 0 && !reason)
        reason = errno;
    if (got == 0 && !reason && rename(part, path) < 0)
        reason = errno;
    if (reason)
        error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(reason));
    bool ok = got == 0 && !reason;
    if (!ok)
        unlink(part);
    arena_free(&a);
    return ok;
}

static bool write_table(struct store *s, const char *folder, const char *file, const char *sql, struct error *e)
{
    struct arena a = {0};
    const char *path = arena_printf(&a, "%s/%s", folder, file);
    sqlite3_stmt *q = store_prepare(s, sql, e);
    int got = q ? store_step(s, q, e) : -1;
    bool ok = got >= 0;
    /* Without rows no file; but one of an earlier time must not be taken for this store's. */
    if (got > 0 || (got == 0 && access(path, F_OK) == 0))
        ok = write_rows(s, q, got, path, e);
    sqlite3_finalize(q);
    arena_free(&a);
    return ok;
}

static bool write_tables(struct store *s, const char *folder, struct error *e)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char *text = sqlite3_mprintf(tables[i].sql, store_probes_column(s));
        bool good = text ? write_table(s, folder, tables[i].file, text, e)
                         : error_set(e, ERROR_NO_MEMORY, "no memory left to read %s", s->path);
        sqlite3_free(text);
        if (!good)
            return false;
    }
    char *sql = pcs_sql(s, e);
    bool ok = sql && write_table(s, folder, "pcs.csv", sql, e);
    sqlite3_free(sql);
    return ok;
}

/* With the folders above it. */
static bool make_folder(const char *folder, struct error *e)
{
    char *path = strdup(folder);
    if (!path)
        return error_set(e, ERROR_NO_MEMORY, "no memory left");
    for (char *slash = strchr(path + (*path == '/'), '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    struct stat st;
    bool ok = mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode));
    if (!ok)
        error_set(e, ERROR_IO, "cannot make the folder %s: %s", folder, strerror(errno));
    free(path);
    return ok;
}

bool store_write_csv(struct store *s, const char *folder, struct error *e)
{
    if (!make_folder(folder, e) || !store_exec(s, "BEGIN", e))
        return false;
    return store_end(s, write_tables(s, folder, e), e);
}

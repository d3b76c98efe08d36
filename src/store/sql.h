/* Inside the store: the open file, its statements, and what SQLite's result codes mean to a person. */
#ifndef HEDDLE_STORE_SQL_H
#define HEDDLE_STORE_SQL_H

#include "base/strmap.h"
#include "store/store.h"

#include <sqlite3.h>

enum { WHOLE_RUN = -1 }; /* metric.kernel of what is not of one launch */

/* Statements that are prepared once: those that run for every row of a record. */
enum store_statement {
    FIND_RUN,
    DELETE_RUN,
    INSERT_RUN,
    INSERT_MACHINE,
    FIND_MACHINE,
    INSERT_KERNEL,
    INSERT_METRIC,
    INSERT_NAME,
    INSERT_INSTRUCTION,
    FIND_INSTRUCTION,
    INSERT_PC,
    INSERT_PC_COUNTER,
    INSERT_SERIES,
    HAS_RUN,
    EXPECTED_SECONDS,
    STATEMENT_COUNT
};

struct store {
    sqlite3 *db;
    const char *path; /* as the user wrote it, for messages */
    const char *file; /* absolute, symbolic links resolved */
    int lock;         /* of the writer; -1 for a reader */
    int failure;      /* the last result code that store_fail saw */
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct strmap names; /* metric_name: name to id */
    struct arena arena, names_arena;
    bool names_known;
    int version;   /* of its tables; a reader may have an older one */
    bool in_group; /* records are taken in within one transaction */
};

/* Sets the error for a result code of SQLite; returns false. */
bool store_fail(struct store *s, int code, struct error *e);
bool store_exec(struct store *s, const char *sql, struct error *e);
/* NULL on failure. To be finalized by the caller. */
sqlite3_stmt *store_prepare(struct store *s, const char *sql, struct error *e);
/* The same for a statement of the list: reset, without values, and the store's to finalize. */
sqlite3_stmt *store_statement(struct store *s, enum store_statement which, struct error *e);
/* 1: a row; 0: no more; -1: failed. */
int store_step(struct store *s, sqlite3_stmt *q, struct error *e);
/* For statements without rows: runs it and resets it. */
bool store_run_once(struct store *s, sqlite3_stmt *q, struct error *e);
/* A transaction, or within a group a part of one: store_end commits where ok, else it leaves the file as it was before
 * store_begin. */
bool store_begin(struct store *s, struct error *e);
bool store_end(struct store *s, bool ok, struct error *e);

void store_bind_text(sqlite3_stmt *q, int at, const char *text);             /* not copied; NULL: null */
const char *store_column_text(struct arena *a, sqlite3_stmt *q, int column); /* a copy; NULL for null */

/* open.c: an absolute path as SQLite's URI, with a query ("?immutable=1") or "" after it. */
const char *store_uri(struct arena *a, const char *file, const char *query);

/* schema.c: the tables of an empty file; whether a file is ours (its error says what it is else); tables of an
 * earlier version made as they are now; what is to be selected for a run's probes. */
bool store_create(struct store *s, struct error *e);
bool store_upgrade(struct store *s, struct error *e);
const char *store_probes_column(const struct store *s);
bool store_recognise(struct store *s, bool *empty, struct error *e);

/* metric.c */
bool store_metric_id(struct store *s, const char *name, size_t length, sqlite3_int64 *id, struct error *e);
void store_forget_names(struct store *s);
/* Calls visit for every number in a JSON object: nested objects and arrays as "a.b" and "a.0"; skip: names left out at
 * the top, NULL after the last. */
typedef bool store_number_visitor(void *context, const char *name, size_t length, const json_t *value);
bool store_flatten(const json_t *object, const char *const *skip, store_number_visitor *visit, void *context);
void store_bind_number(sqlite3_stmt *q, int at, const json_t *value); /* integers stay integers */

/* lock.c: the writer's lock, FILE.lock. -1: refused, or it could not be made. */
int store_lock(const char *file, const char *path, struct error *e);
void store_unlock(const char *file, int lock);

#endif

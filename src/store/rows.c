/* What a run has many of: counters of the instructions of a kernel (pc_counter), and buckets of histograms, which are
 * metrics with a number after their name. */
#include "store/found.h"
#include "store/sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_rows(struct arena *a, struct found_list *list, uint32_t name_count, struct store_rows *out)
{
    bool *has = arena_array(a, bool, name_count);
    uint32_t row = 0;
    out->count = sort_found(list);
    for (size_t i = 0; i < list->count; i++)
        has[list->items[i].column] = true;
    out->numbers = arena_array(a, int64_t, out->count);
    out->texts = arena_array(a, const char *, out->count);
    out->values = arena_array(a, double, (size_t)out->count *name_count);
    for (size_t i = 0; i < (size_t)out->count * name_count; i++)
        out->values[i] = has[i % name_count] ? 0 : NAN;
    for (size_t i = 0; i < list->count; i++) {
        row += i && list->items[i].number != list->items[i - 1].number;
        out->numbers[row] = list->items[i].number;
        out->values[(size_t)row * name_count + list->items[i].column] = list->items[i].value;
    }
}

/* ------------------------------------------------------------- instructions */

#define LAUNCHES_OF_KERNEL                                                                                             \
    " FROM run r JOIN kernel k ON k.run = r.id JOIN %s WHERE r.key = ?1 AND r.failure IS NULL"                         \
    " AND CASE WHEN ?2 IS NULL THEN k.name = (SELECT f.name FROM kernel f WHERE f.run = r.id ORDER BY f.number LIMIT " \
    "1)"                                                                                                               \
    " ELSE k.name = ?2 OR CAST(k.number AS TEXT) = ?2 END"

static sqlite3_stmt *prepare(struct store *s, const char *format, const char *table, struct error *e)
{
    char *sql = sqlite3_mprintf(format, table);
    sqlite3_stmt *q = sql ? store_prepare(s, sql, e) : NULL;
    sqlite3_free(sql);
    return q;
}

static bool find_counters(struct store *s, const char *key, const char *launch, const char *const *names,
                          const bool *maxima, uint32_t name_count, struct found_list *list, struct error *e)
{
    sqlite3_stmt *q = prepare(s,
                              "SELECT c.pc, sum(c.value), max(c.value)" LAUNCHES_OF_KERNEL
                              " AND c.name = (SELECT id FROM metric_name WHERE name = ?3) GROUP BY c.pc",
                              "pc_counter c ON c.run = r.id AND c.kernel = k.number", e);
    int got = q ? 0 : -1;
    for (uint32_t i = 0; got >= 0 && i < name_count; i++) {
        store_bind_text(q, 1, key);
        store_bind_text(q, 2, launch);
        store_bind_text(q, 3, names[i]);
        while ((got = store_step(s, q, e)) > 0)
            add_found(list, (struct found){sqlite3_column_int64(q, 0), i, sqlite3_column_double(q, maxima[i] ? 2 : 1)});
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    return got >= 0;
}

/* "line 52: ld.global.u8 %rs1, [%rd8]" */
static bool find_texts(struct store *s, struct arena *a, const char *key, const char *launch, struct store_rows *out,
                       struct error *e)
{
    sqlite3_stmt *q =
        prepare(s, "SELECT p.pc, i.line, i.text" LAUNCHES_OF_KERNEL " GROUP BY p.pc ORDER BY p.pc",
                "pc p ON p.run = r.id AND p.kernel = k.number JOIN instruction i ON i.id = p.instruction", e);
    int got;
    uint32_t row = 0;
    if (!q)
        return false;
    store_bind_text(q, 1, key);
    store_bind_text(q, 2, launch);
    while ((got = store_step(s, q, e)) > 0) {
        while (row < out->count && out->numbers[row] < sqlite3_column_int64(q, 0))
            row++;
        if (row < out->count && out->numbers[row] == sqlite3_column_int64(q, 0))
            out->texts[row] = arena_printf(a, "line %lld: %s", (long long)sqlite3_column_int64(q, 1),
                                           (const char *)sqlite3_column_text(q, 2));
    }
    sqlite3_finalize(q);
    return got == 0;
}

bool store_instructions(struct store *s, struct arena *a, const char *key, const char *launch, const char *const *names,
                        const bool *maxima, uint32_t name_count, struct store_rows *out, struct error *e)
{
    struct found_list list = {0};
    *out = (struct store_rows){0};
    bool ok = find_counters(s, key, launch, names, maxima, name_count, &list, e);
    if (ok)
        put_rows(a, &list, name_count, out);
    free(list.items);
    return ok && (!out->count || find_texts(s, a, key, launch, out, e));
}

/* ------------------------------------------------------------- buckets */

/* The number after "name."; -1: another metric. */
static sqlite3_int64 bucket_of(const char *metric, const char *name)
{
    const char *digits = metric + strlen(name) + 1;
    return *digits && strlen(digits) < 10 && !digits[strspn(digits, "0123456789")] ? strtoll(digits, NULL, 10) : -1;
}

bool store_buckets(struct store *s, struct arena *a, const char *key, const char *const *names, uint32_t name_count,
                   struct store_rows *out, struct error *e)
{
    sqlite3_stmt *q =
        store_prepare(s,
                      "SELECT n.name, m.value FROM run r JOIN metric m ON m.run = r.id AND m.kernel = -1 JOIN "
                      "metric_name n ON n.id = m.name"
                      " WHERE r.key = ?1 AND r.failure IS NULL AND substr(n.name, 1, length(?2) + 1) = ?2 || '.'",
                      e);
    struct found_list list = {0};
    int got = q ? 0 : -1;
    *out = (struct store_rows){0};
    for (uint32_t i = 0; got >= 0 && i < name_count; i++) {
        store_bind_text(q, 1, key);
        store_bind_text(q, 2, names[i]);
        while ((got = store_step(s, q, e)) > 0) {
            sqlite3_int64 bucket = bucket_of((const char *)sqlite3_column_text(q, 0), names[i]);
            if (bucket >= 0)
                add_found(&list, (struct found){bucket, i, sqlite3_column_double(q, 1)});
        }
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    if (got >= 0)
        put_rows(a, &list, name_count, out);
    free(list.items);
    return got >= 0;
}

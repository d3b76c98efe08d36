/* Samples over time of one launch, out of the table series. Values of one cycle that belong to different metrics come
 * together in a row. */
#include "store/found.h"
#include "store/sql.h"

#include <math.h>
#include <stdlib.h>

/* launch: the name of a kernel, whose first launch it is, or a number from 0. */
static int find_launch(struct store *s, const char *key, const char *launch, sqlite3_int64 *run, sqlite3_int64 *kernel,
                       struct error *e)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT r.id, k.number FROM run r JOIN kernel k ON k.run = r.id WHERE r.key = ?1 "
                                    "AND r.failure IS NULL AND (k.name = ?2 OR CAST(k.number AS TEXT) = ?2)"
                                    " ORDER BY k.number LIMIT 1",
                                    e);
    if (!q)
        return -1;
    store_bind_text(q, 1, key);
    store_bind_text(q, 2, launch);
    int got = store_step(s, q, e);
    *run = got > 0 ? sqlite3_column_int64(q, 0) : 0;
    *kernel = got > 0 ? sqlite3_column_int64(q, 1) : 0;
    sqlite3_finalize(q);
    return got;
}

static bool find_samples(struct store *s, sqlite3_int64 run, sqlite3_int64 kernel, const char *const *names,
                         uint32_t name_count, struct found_list *list, struct error *e)
{
    sqlite3_stmt *q = store_prepare(s,
                                    "SELECT cycle, value FROM series WHERE run = ? AND kernel = ? AND name = (SELECT "
                                    "id FROM metric_name WHERE name = ?) ORDER BY cycle",
                                    e);
    int got = q ? 0 : -1;
    for (uint32_t i = 0; got >= 0 && i < name_count; i++) {
        sqlite3_bind_int64(q, 1, run);
        sqlite3_bind_int64(q, 2, kernel);
        store_bind_text(q, 3, names[i]);
        while ((got = store_step(s, q, e)) > 0)
            add_found(list, (struct found){sqlite3_column_int64(q, 0), i, sqlite3_column_double(q, 1)});
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    return got >= 0;
}

static void put_rows(struct arena *a, struct found_list *list, uint32_t name_count, struct store_samples *out)
{
    out->count = sort_found(list);
    out->cycles = arena_array(a, double, out->count);
    out->values = arena_array(a, double, (size_t)out->count *name_count);
    for (size_t i = 0; i < (size_t)out->count * name_count; i++)
        out->values[i] = NAN;
    uint32_t row = 0;
    for (size_t i = 0; i < list->count; i++) {
        row += i && list->items[i].number != list->items[i - 1].number;
        out->cycles[row] = (double)list->items[i].number;
        out->values[(size_t)row * name_count + list->items[i].column] = list->items[i].value;
    }
}

bool store_samples(struct store *s, struct arena *a, const char *key, const char *launch, const char *const *names,
                   uint32_t name_count, struct store_samples *out, struct error *e)
{
    struct found_list list = {0};
    sqlite3_int64 run, kernel;
    *out = (struct store_samples){0};
    int got = find_launch(s, key, launch, &run, &kernel, e);
    bool ok = got >= 0 && (!got || find_samples(s, run, kernel, names, name_count, &list, e));
    if (ok && list.count)
        put_rows(a, &list, name_count, out);
    free(list.items);
    return ok;
}

/* All counters of all instructions of a run, launch after launch. */
#include "store/sql.h"

#include <string.h>

enum { MOST_COUNTERS = 512 };

bool store_keys_with_pcs(struct store *s, struct arena *a, const char ***keys, uint32_t *count, struct error *e)
{
    sqlite3_stmt *q =
        store_prepare(s,
                      "SELECT key FROM run r WHERE failure IS NULL AND EXISTS (SELECT 1 FROM pc_counter c "
                      "WHERE c.run = r.id AND c.name = (SELECT id FROM metric_name WHERE name = "
                      "'executions')) ORDER BY id",
                      e);
    uint32_t room = 0;
    int got = q ? 0 : -1;
    *count = 0;
    *keys = NULL;
    while (got >= 0 && (got = store_step(s, q, e)) > 0) {
        if (*count == room) {
            const char **grown = arena_array(a, const char *, room = room ? 2 * room : 64);
            if (*count)
                memcpy(grown, *keys, *count * sizeof *grown);
            *keys = grown;
        }
        (*keys)[(*count)++] = arena_printf(a, "%s", (const char *)sqlite3_column_text(q, 0));
    }
    sqlite3_finalize(q);
    return got >= 0;
}

/* The texts of a row live until the next: copied. */
static void begin(struct arena *a, sqlite3_stmt *q, struct store_pc *pc)
{
    pc->kernel = arena_printf(a, "%s", (const char *)sqlite3_column_text(q, 2));
    pc->line = sqlite3_column_int64(q, 3);
    pc->text = arena_printf(a, "%s", (const char *)sqlite3_column_text(q, 4));
    pc->function = arena_printf(a, "%s", (const char *)sqlite3_column_text(q, 5));
    pc->source = arena_printf(a, "%s", (const char *)sqlite3_column_text(q, 6));
    pc->count = 0;
}

bool store_each_pc(struct store *s, const char *key, void (*visit)(void *context, const struct store_pc *pc),
                   void *context, struct error *e)
{
    sqlite3_stmt *q = store_prepare(
        s,
        "SELECT c.kernel, c.pc, k.name, i.line, i.text, i.function, i.source, n.name, c.value FROM run r "
        "JOIN pc_counter c ON c.run = r.id JOIN pc p ON p.run = r.id AND p.kernel = c.kernel AND p.pc = c.pc "
        "JOIN kernel k ON k.run = r.id AND k.number = c.kernel JOIN instruction i ON i.id = p.instruction "
        "JOIN metric_name n ON n.id = c.name WHERE r.key = ?1 AND r.failure IS NULL ORDER BY c.kernel, c.pc, c.name",
        e);
    struct arena a = {0};
    const char *names[MOST_COUNTERS];
    int64_t values[MOST_COUNTERS], kernel = -1, number = -1;
    struct store_pc pc = {.names = names, .values = values};
    int got = q ? 0 : -1;
    store_bind_text(q, 1, key);
    while (got >= 0 && (got = store_step(s, q, e)) > 0) {
        if (sqlite3_column_int64(q, 0) != kernel || sqlite3_column_int64(q, 1) != number) {
            if (pc.count)
                visit(context, &pc);
            arena_free(&a);
            a = (struct arena){0};
            kernel = sqlite3_column_int64(q, 0);
            number = sqlite3_column_int64(q, 1);
            begin(&a, q, &pc);
        }
        if (pc.count < MOST_COUNTERS) {
            names[pc.count] = arena_printf(&a, "%s", (const char *)sqlite3_column_text(q, 7));
            values[pc.count++] = sqlite3_column_int64(q, 8);
        }
    }
    if (got >= 0 && pc.count)
        visit(context, &pc);
    arena_free(&a);
    sqlite3_finalize(q);
    return got >= 0;
}

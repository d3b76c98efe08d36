/* What is said of races when the process ends: one entry for each pair of instructions, the most frequent first. */
#include "cuda/race_report.h"

#include "cuda/internal.h"
#include "results/races.h"

#include <stdlib.h>

enum { MOST_SAID = 20 };

static const char *const kind_words[RACE_KINDS] = {"two writes", "a read after a write", "a write after a read"};

static void say_party(const struct race_pair *p, const struct race_party *who, bool writes)
{
    const struct profile_line *line = race_line(p, who);
    const uint32_t *b = who->block, *t = who->thread;
    driver_say("    %s PTX line %u%s%s%s%s%s: %s; block (%u,%u,%u) thread (%u,%u,%u)", writes ? "write," : "read, ",
               line->line, line->source ? " (" : "", line->source ? line->source : "", line->source ? ")" : "",
               line->function ? " in " : "", line->function ? line->function : "", line->text, b[0], b[1], b[2], t[0],
               t[1], t[2]);
}

static void say_pair(const struct race_pair *p)
{
    driver_say("  kernel %s, %s memory: %s, seen %llu time%s, first at 0x%llx, %s", p->kernel,
               p->shared ? "shared" : "global", kind_words[p->kind], (unsigned long long)p->count,
               p->count == 1 ? "" : "s", (unsigned long long)p->address, p->where);
    say_party(p, &p->earlier, race_earlier_writes(p));
    say_party(p, &p->later, race_later_writes(p));
}

void race_report_say(const struct gpu *g)
{
    if (!g->races)
        return;
    struct race_list list = race_list(g->races);
    uint32_t count = list.count;
    if (!count)
        driver_say("races: none was seen in %llu launch%s", (unsigned long long)races_launches(g->races),
                   races_launches(g->races) == 1 ? "" : "es");
    else
        driver_say("races: %u pair%s of instructions accessed the same memory from different threads, with nothing to "
                   "put them in order (%llu times). What the "
                   "program computes may depend on which comes first: it may differ here, with time, and on a GPU. "
                   "docs/races.md has the rules",
                   count, count == 1 ? "" : "s", (unsigned long long)list.seen);
    for (uint32_t i = 0; i < count && i < MOST_SAID; i++)
        say_pair(list.pairs[i]);
    if (count > MOST_SAID)
        driver_say("  and %u more pairs; --stats FILE has them all", count - MOST_SAID);
    free(list.pairs);
}

/* A module that came about by mutation: without time, with it, on two host threads and under several schedulers all
 * must end alike and leave the same memory. It is run as its plan says where the check for races finds none and no
 * instruction's result hangs on the order of warps; else by a single thread. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_one_of(const char *text, size_t size, const char *const *words)
{
    for (; *words; words++)
        if (memmem(text, size, *words, strlen(*words)))
            return true;
    return false;
}

/* Differs by right, even for one thread. */
static const char *const of_time_and_place[] = {"%clock",   "%globaltimer", "%smid",     "%nsmid",           "%warpid",
                                                "%nwarpid", "%gridid",      "nanosleep", "cudaLaunchDevice", NULL};
/* In order for the check, but not always in the same: accesses that may meet, memory that is handed out, warps that
 * wait for some others, lanes that happen to be together. */
static const char *const of_order[] = {"atom",    "red.",       "volatile", "relaxed", "acquire",
                                       "release", "mmio",       "malloc",   "vprintf", "mbarrier",
                                       "arrive",  "activemask", "cluster",  "elect",   NULL};

/* It ran out of time, or its blocks do not fit. */
static bool is_of_the_machine(const struct error *e)
{
    return e->kind == ERROR_LIMIT || e->kind == ERROR_RESOURCES || e->kind == ERROR_INVALID;
}

static void must_agree(const struct plan_result *a, const struct plan_result *b, const struct plan *p)
{
    if (a->ended == b->ended && a->error.kind == b->error.kind && (!a->ended || a->memory == b->memory))
        return;
    char line[512];
    plan_write(p, line, sizeof line);
    fprintf(stderr, "they differ: first %s, memory %016llx, %s\nthen %s, memory %016llx, %s\n%s\n",
            a->ended ? "ended" : "failed", (unsigned long long)a->memory, a->error.text, b->ended ? "ended" : "failed",
            (unsigned long long)b->memory, b->error.text, line);
    abort();
}

static void run_alone(struct plan *p, const char *text, size_t size, struct plan_result *r)
{
    p->grid = p->block = p->height = 1;
    plan_run(p, text, size, true, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    static struct plan_result functional, other;
    if (has_one_of(text, size, of_time_and_place))
        return 0;
    struct plan p = plan_read(text, size);
    p.cluster = 0;
    p.divergence = 0;
    p.races = 1;
    plan_run(&p, text, size, true, &functional);
    if (functional.loaded && (!functional.ended || functional.raced || has_one_of(text, size, of_order)))
        run_alone(&p, text, size, &functional);
    if (!functional.loaded || is_of_the_machine(&functional.error))
        return 0;
    p.races = 0;
    plan_run(&p, text, size, true, &other);
    must_agree(&functional, &other, &p);
    for (uint32_t n = 0; n < 3; n++) {
        p.scheduler = (p.scheduler + n) % 64;
        p.threads = 1 + n % 2;
        plan_run(&p, text, size, false, &other);
        if (!is_of_the_machine(&other.error))
            must_agree(&functional, &other, &p);
    }
    return 0;
}

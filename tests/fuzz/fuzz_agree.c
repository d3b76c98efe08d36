/* A module that came about by mutation, run by a single thread, where order cannot matter: without time, with it, on two host
 * threads and under several schedulers all must end alike and leave the same memory. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is told of time and place differs by right. */
static int depends_on_time(const char *text, size_t size)
{
    static const char *const words[] = { "%clock", "%globaltimer", "%smid", "%nsmid", "%warpid", "%nwarpid", "%gridid", "nanosleep", "cudaLaunchDevice" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (memmem(text, size, words[i], strlen(words[i])))
            return 1;
    return 0;
}

/* It ran out of time, or its blocks do not fit. */
static int is_of_the_machine(const struct error *e)
{
    return e->kind == ERROR_LIMIT || e->kind == ERROR_RESOURCES || e->kind == ERROR_INVALID;
}

static void must_agree(const struct plan_result *a, const struct plan_result *b, const struct plan *p)
{
    if (a->ended == b->ended && a->error.kind == b->error.kind && (!a->ended || a->memory == b->memory))
        return;
    char line[512];
    plan_write(p, line, sizeof line);
    fprintf(stderr, "they differ: without time %s, memory %016llx, %s\nwith it %s, memory %016llx, %s\n%s\n", a->ended ? "ended" : "failed",
            (unsigned long long)a->memory, a->error.text, b->ended ? "ended" : "failed", (unsigned long long)b->memory, b->error.text, line);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    static struct plan_result functional, timed;
    if (depends_on_time(text, size))
        return 0;
    struct plan p = plan_read(text, size);
    p.grid = p.block = p.height = 1;
    p.cluster = 0;
    p.divergence = 0;
    plan_run(&p, text, size, true, &functional);
    if (!functional.loaded || is_of_the_machine(&functional.error))
        return 0;
    for (uint32_t n = 0; n < 3; n++) {
        p.scheduler = (p.scheduler + n) % 64;
        p.threads = 1 + n % 2;
        plan_run(&p, text, size, false, &timed);
        if (!is_of_the_machine(&timed.error))
            must_agree(&functional, &timed, &p);
    }
    return 0;
}

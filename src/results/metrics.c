/* The rows of heddle/metrics.def, expanded twice: what is said of each metric, and its value. */
#include "results/metrics.h"

#include "gpu/energy.h"

#include <string.h>

#define COUNT(n)                                              "sum"
#define REAL(x)                                               "sum"
#define LIST(array, length)                                   "sum"
#define RATIO(part, whole)                                    "mean"
#define RATE(n)                                               "mean"
#define NOTHING                                               ""
#define METRIC(name, unit, when, sample, value, help, nsight) {name, unit, help, nsight, value, RESULT_##when},
#define PC_COUNT(field, name, unit, present, help, nsight)    {name, unit, help, nsight, "", RESULT_PC},
#define PC_CYCLES(id, name, help, nsight)                     {name, "warp cycles", help, nsight, "", RESULT_PC},
#define PART(name, unit, help, nsight)                        {name, unit, help, nsight, "", RESULT_PART},
const struct result_metric result_metrics[] = {
#include "heddle/metrics.def"
};
const uint32_t result_metric_count = sizeof result_metrics / sizeof *result_metrics;

bool result_is_counter(const struct result_metric *m)
{
    return m->when == RESULT_ALWAYS || m->when == RESULT_TIMED || m->when == RESULT_REPLAYED;
}

const char *result_pc_name(const struct result_metric *m)
{
    return m->when == RESULT_PC ? m->name + strlen("kernels.pcs.") : NULL;
}

static struct result_value counted(uint64_t n) { return (struct result_value){.kind = RESULT_COUNT, .count = n}; }

static struct result_value real(double x) { return (struct result_value){.kind = RESULT_REAL, .real = x}; }

static struct result_value ratio(double part, double whole)
{
    return whole > 0 ? real(part / whole) : (struct result_value){.kind = RESULT_NULL};
}

void result_values(const struct gpu_counters *c, bool timed, struct result_value *values)
{
#define COUNT(n)            counted(n)
#define REAL(x)             real(x)
#define LIST(array, length) ((struct result_value){.kind = RESULT_LIST, .count = length, .list = array})
#define RATIO(part, whole)  ratio((double)(part), (double)(whole))
#define RATE(n)             ratio((double)(n), (double)c->cycles)
#define NOTHING             ((struct result_value){.kind = RESULT_NULL})
#define METRIC(name, unit, when, sample, value, help, nsight) \
    *values++ = RESULT_##when == RESULT_ALWAYS || (RESULT_##when == RESULT_TIMED && timed) ? value : NOTHING;
#define PART(name, unit, help, nsight) *values++ = NOTHING;
#include "heddle/metrics.def"
}

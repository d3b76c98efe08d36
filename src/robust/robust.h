/* An experiment's figure on other machines: which values of which factors, which combinations of them, and the
 * experiment that has all of it as variants. It is swept and judged as any other (figure/robust.h). docs/robust.md. */
#ifndef HEDDLE_ROBUST_ROBUST_H
#define HEDDLE_ROBUST_ROBUST_H

#include "experiment/experiment.h"
#include "gpu/machine.h"

/* factors.c. A factor has a low and a high value, relative to the machine; 0 is the machine's own. */
enum robust_factor {
    FACTOR_L1_SIZE,
    FACTOR_L1_WAYS,
    FACTOR_L1_LATENCY,
    FACTOR_L2_LATENCY,
    FACTOR_DRAM_LATENCY,
    FACTOR_DRAM_BANDWIDTH,
    FACTOR_WARPS,
    FACTOR_ADDRESS_HASH,
    FACTOR_BLOCK_ORDER,
    ROBUST_FACTORS
};
enum { LEVEL_LOW = -1, LEVEL_OWN = 0, LEVEL_HIGH = 1 };
extern const char *const robust_factor_names[ROBUST_FACTORS];
/* The keys in which a machine with these levels differs, as words of --set; NULL after the last. */
const char **robust_sets(struct arena *a, const struct machine *m, const int8_t level[ROBUST_FACTORS]);
/* What the level is on this machine: "16 KB". */
const char *robust_value(struct arena *a, const struct machine *m, enum robust_factor factor, int level);

/* design.c. Plackett and Burman's design of 12 runs for up to 11 factors at two levels: each factor is low in half of
 * the runs and high in the other, and so are, four ways and three times each, any two of them. Rows 12 to 23 are the
 * same with all signs turned, which frees the effect of each factor from those of pairs. */
enum { DESIGN_RUNS = 12, DESIGN_FACTORS = 11 };
int robust_design(uint32_t row, uint32_t factor); /* LEVEL_LOW or LEVEL_HIGH */

/* plan.c */
struct robust_request {
    const char *figure;    /* NULL: the first that can be judged */
    const char *where;     /* axis=label|label ...: instead of what the figure shows; NULL: as it is */
    const char *factors;   /* names, separated by commas; NULL: all */
    const char **sets;     /* of all machines, words of --set; NULL after the last. NULL: none */
    const char **programs; /* "LABEL = COMMAND": other commands for programs; NULL after the last. NULL: none */
    uint32_t sample;       /* machines in which all factors differ at once: 0, 12 or 24 */
};
struct robust_machine {
    const char *label; /* of its variant: "L1 size: 16 KB", "sample 3 +-++-" */
    const char **sets; /* those of the figure's variant among them */
};
struct robust_plan {
    const char *name, *text; /* of the experiment */
    const char *figure;
    struct robust_machine *machines; /* the first is the machine as it is; then one factor each; then the sample */
    uint32_t machine_count, alone, sampled;
    const char **notes; /* what was left out, and why */
    uint32_t note_count;
};
bool robust_plan_make(struct robust_plan *p, struct arena *a, const struct experiment *x,
                      const struct robust_request *request, struct error *e);

#endif

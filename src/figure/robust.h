/* Does what a figure shows hold on other machines? The variants of the experiment are the machines; the figure's own
 * variant is the base. docs/robust.md. */
#ifndef HEDDLE_FIGURE_ROBUST_H
#define HEDDLE_FIGURE_ROBUST_H

#include "figure/figure.h"

/* A label "FACTOR: VALUE" is a machine with one factor changed, one that ends in a blank and as many signs as there are
 * factors ("sample 3 +-++-") has all changed; any other is a machine of its own. */
struct robust_variant {
    const char *label;
    int factor;         /* number of the factor, or -1 */
    const char *value;  /* of the factor; "" */
    const char *levels; /* a '+' or '-' for each factor; NULL: not of a sample */
};

enum robust_outcome { ROBUST_UNKNOWN = -1, ROBUST_TURNED, ROBUST_HOLDS, ROBUST_LEVEL };

/* One order of two series at an x (the mean, where there is one), or one expectation. */
struct robust_judgement {
    bool is_claim, is_close;      /* close: a pair whose two differ by less than 1% on the base machine, or have no
                                     values there: it is not judged */
    const char *text;             /* "CCWS > GTO", with the x where there is no mean: "bfs: CCWS > GTO" */
    const char *greater, *lesser; /* of a pair: the series, and where they are compared; NULL: a claim */
    const char *x;
    double *ratios;                      /* of a pair: greater over lesser, by machine; NAN: no run */
    enum robust_outcome *outcomes;       /* by machine */
    uint32_t known, held, level, turned; /* machines */
    int effect;       /* the factor with the largest effect on the ratio within the sample; -1: none */
    double effect_by; /* the ratio where that factor is high, over the ratio where it is low (geometric means) */
    int least;        /* of a pair: the machine with the least ratio; -1: none */
};

struct robust_data {
    const struct lab_figure *figure;
    struct robust_variant *machines; /* the base first */
    const char **factors;
    uint32_t machine_count, factor_count;
    struct robust_judgement *judgements; /* expectations, then pairs */
    uint32_t judgement_count;
};

bool figure_robust(struct arena *a, struct figure_source *source, const struct lab_figure *f, struct robust_data *out,
                   struct error *e);
/* The machines that turn a judgement, those with one factor changed first: "L1 size: 16 KB (0.97)"; "" for none. */
const char *robust_turned_by(struct arena *a, const struct robust_data *d, const struct robust_judgement *j);
extern const char *const robust_outcome_names[]; /* by outcome + 1 */
/* CSV: one row for each judgement and machine. */
void robust_csv(const struct robust_data *d, FILE *to);

/* robust_json.c, robust_plot.c: for the page, and for one pair gnuplot's script and data; false: it is not judged. */
json_t *robust_json(struct arena *a, const struct robust_data *d);
bool robust_plot_script(FILE *script, FILE *data, const struct robust_data *d, const struct robust_judgement *j,
                        const char *data_name, const char *pdf_name);

/* Inside: a pair of values, as judged; for tests. */
enum robust_outcome robust_outcome_of(double ratio);

#endif

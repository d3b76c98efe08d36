/* [figure NAME] and [table NAME] sections, and the parts of the reader that they share with [experiment]. */
#ifndef HEDDLE_EXPERIMENT_FIGURE_SECTION_H
#define HEDDLE_EXPERIMENT_FIGURE_SECTION_H

#include "experiment/expand.h"
#include "experiment/metrics.h"

/* experiment.c: the text of a key, or what is to be taken where it is not given. */
const char *lab_text_of(const struct lab_reader *r, const struct lab_section *s, const char *key,
                        const char *otherwise);
/* figure_section.c */
bool lab_read_figures(const struct lab_reader *r, const struct lab_metrics *metrics, struct experiment *x);
/* table_section.c */
bool lab_read_tables(const struct lab_reader *r, struct experiment *x);

/* claims.c: published values and expectations of a figure whose labels are known. */
struct figure_layout;
bool lab_read_published(const struct lab_reader *r, const struct lab_section *s, const struct figure_layout *l,
                        struct lab_figure *f);
bool lab_read_expected(const struct lab_reader *r, const struct lab_section *s, const struct figure_layout *l,
                       struct lab_figure *f);

#endif

/* [paper], [shown elsewhere] and [left out], and what the sources of figures and tables name. */
#ifndef HEDDLE_EXPERIMENT_PAPER_SECTION_H
#define HEDDLE_EXPERIMENT_PAPER_SECTION_H

#include "experiment/reader.h"

/* cited.c: what a source names; nothing where it is NULL. */
void lab_read_cited(struct arena *a, const char *source, struct lab_cited *c);
/* cited.c: "Figures 3 and 4" without a paper in front. */
void lab_read_items(struct arena *a, const char *text, struct lab_cited *c);
/* paper_section.c: after the figures and tables of x, whose sources are checked against the paper. */
bool lab_read_paper(const struct lab_reader *r, struct experiment *x);

#endif

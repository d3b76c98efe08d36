/* Every figure and table of the papers that experiments repeat: which sections show it, and how it fares. */
#ifndef HEDDLE_FIGURE_PAPERS_H
#define HEDDLE_FIGURE_PAPERS_H

#include "figure/figure.h"

enum paper_verdict {
    PAPER_HOLDS,
    PAPER_DIRECTION,
    PAPER_FAILS,
    PAPER_SHOWN,
    PAPER_BY_TEST,
    PAPER_BY_FILE,
    PAPER_NOT_RUN,
    PAPER_QUOTED,
    PAPER_LEFT_OUT,
    PAPER_MISSING,
    PAPER_VERDICTS
};
/* A verdict's name, and when it is given. */
extern const char *const paper_verdict_names[PAPER_VERDICTS], *const paper_verdict_rules[PAPER_VERDICTS];
/* Published values that are further off than this share do not hold. */
extern const double paper_near;

/* Ours beside a published value. */
struct paper_value {
    const char *label;
    double ours, published; /* published: NAN where there is none */
};

/* A [figure] or [table] whose source names a figure or table of a paper. */
struct paper_section {
    const char *experiment, *name, *claim; /* claim: NULL where it is not given */
    const struct lab_cited *cited;
    bool is_table;
    bool unknown;          /* its experiment has no results at all */
    uint32_t missing_runs; /* of those that it needs */
    uint32_t expected;     /* expectations */
    const char *unmet;     /* those that are not met, with ", " between; NULL: all are */
    /* The published means, or all published values where none is a mean; or our means alone where nothing is
     * published. Never what is divided by itself. */
    struct paper_value *values;
    uint32_t value_count;
    double deviation;  /* of the mean that is furthest off, or the median of all values; NAN: nothing is published */
    const char *worst; /* the label of that mean; NULL: it is the median */
};

struct paper_row {
    struct lab_cited_item item;
    enum paper_verdict verdict;
    const struct paper_section **sections;
    const struct lab_paper_note **elsewhere, **left_out;
    uint32_t section_count, elsewhere_count, left_out_count;
};

/* One paper: its figures, then its tables. */
struct paper_part {
    const struct lab_paper *paper;
    const char *experiment; /* that has the [paper] section */
    bool other_text;        /* the store's runs were made with another text of the experiment's file */
    struct paper_row *rows;
    uint32_t row_count, counts[PAPER_VERDICTS];
    uint32_t partial; /* rows of which a part is left out */
};

struct papers {
    struct arena *arena;
    struct paper_section *sections;
    struct paper_part *parts;
    uint32_t section_count, section_room, part_count, part_room;
};

/* Adds an experiment, which must stay. store: NULL where nothing has been run. Two experiments with a [paper] section
 * of the same name are an error. */
bool papers_add(struct papers *p, const struct experiment *x, struct store *store, struct error *e);
/* After the last: makes the rows of all papers. */
void papers_judge(struct papers *p);
/* How many of the paper's figures and tables are shown, whatever the verdict on them. */
uint32_t paper_part_shown(const struct paper_part *part);
/* The median of |ours / published - 1|; NAN: nothing is published. */
double paper_median(struct arena *a, const struct paper_value *values, uint32_t count);

#endif

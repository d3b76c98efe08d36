/* `heddle repro all`: every paper's experiment in turn, and one table of all their figures and tables. */
#ifndef HEDDLE_CLI_REPRO_ALL_H
#define HEDDLE_CLI_REPRO_ALL_H

#include "figure/papers.h"

#include <jansson.h>
#include <stdio.h>

struct repro_all_request {
    char **experiments; /* names or paths; none: those of experiments/ with a section [paper] */
    uint32_t experiment_count;
    const char *folder; /* for stores, pages and papers.md */
    const char *size;   /* NULL: the experiments' */
    const char *json;   /* a file for the table; NULL: none */
    uint32_t processes; /* 0: as many as there are cores */
    bool no_run;        /* take what the stores hold */
};

/* The exit code; anything but EXIT_DONE has been said on stderr. */
int repro_all(const struct repro_all_request *r);

/* repro_table.c: the table as Markdown, and as JSON. */
void repro_table_markdown(const struct papers *p, FILE *to);
/* "18 of 21 figures and tables are there: 9 holds, ...; 2 left out". */
const char *repro_table_sum(struct arena *a, const struct paper_part *part);
json_t *repro_table_json(const struct papers *p);

#endif

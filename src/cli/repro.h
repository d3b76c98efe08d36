/* Sweep, page and table of an experiment in one go: `heddle repro`, and the end of `heddle demo`. */
#ifndef HEDDLE_CLI_REPRO_H
#define HEDDLE_CLI_REPRO_H

#include "experiment/experiment.h"
#include "figure/figure.h"

#include <limits.h>

struct repro_request {
    const char *experiment;   /* path */
    const char *figure;       /* only this one; NULL: all */
    const char *size;         /* NULL: the experiment's */
    const char *store, *page; /* paths of what is written */
    uint32_t processes;       /* 0: as many as there are cores */
};

/* Sweeps what is not in the store yet and writes the page. The exit code; anything but EXIT_DONE has been said on
 * stderr. */
int repro_sweep(const struct repro_request *r);
/* Prints, for each figure with published values, those and ours side by side, and whether direction and ranking hold;
 * and the expectations of all figures. */
int repro_print(const struct repro_request *r);
/* One figure as a table: a row an x, a column a series. */
void repro_print_figure(const struct figure_data *d, struct arena *a);

/* Where the results and the page of an experiment are; name: without folder and .ini. */
struct repro_files {
    char name[NAME_MAX + 1], store[2 * PATH_MAX], page[2 * PATH_MAX];
};
void repro_files_of(const char *experiment_path, const char *folder, struct repro_files *out);
/* Makes the folder where it is not there. */
bool repro_make_folder(const char *path, struct error *e);

#endif

/* Inside the importer of GPGPU-Sim's configurations: machine_import.c reads the text, import_options.c knows the
 * options. */
#ifndef HEDDLE_GPU_IMPORT_H
#define HEDDLE_GPU_IMPORT_H

#include "gpu/machine.h"
#include "gpu/machine_key.h"

enum { VALUE_BYTES = 1024, PLACES_MOST = 256 };

struct import {
    struct machine machine;
    struct machine_place places[PLACES_MOST];
    uint32_t order;
    const struct source *source;
    const char *at, *line_text; /* reading: what comes next, and the start of its line */
    int line;
    const char *option; /* the current one, its value and where that stands */
    char value[VALUE_BYTES];
    int value_line, value_column;
    bool quiet;         /* defaults are read: nothing to remark */
    bool seeks_release; /* only what tells it is looked at */
    uint32_t units;     /* kinds of them */
    bool flushes_l1, flushes_l2;
    bool flit_given; /* -icnt_flit_size stands above the network's own file */
    uint32_t clusters, cores_per_cluster;
    FILE *remarks;
    struct error *error;
};

/* One a line in the result's last comment and in the notes. */
void import_remark(struct import *i, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The value of the current option is not what it should be; returns false. */
bool import_wrong(struct import *i, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Carries the current option over. */
bool import_option(struct import *i);
/* The rulebook of the release, where it has been found out (units). */
void import_release(struct import *i);

#endif

/* An experiment: experiments/NAME.ini read into axes, points and figures (docs/experiments.md has the format).
 *
 * Six axes: program, machine, scheduler, l1, divergence, variant (a named list of --set overrides). An entry of an axis
 * is what stands on one line of the file; it may stand for several values (a range: swl:limit=1..32), and it may be a
 * choice among them (best(swl:limit=1..32)) or among other lines (best(lrr | gto)). The points are the product of all
 * values of all axes, less what is excluded, each once. */
#ifndef HEDDLE_EXPERIMENT_EXPERIMENT_H
#define HEDDLE_EXPERIMENT_EXPERIMENT_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum lab_axis { AXIS_PROGRAM, AXIS_MACHINE, AXIS_SCHEDULER, AXIS_L1, AXIS_DIVERGENCE, AXIS_VARIANT, AXIS_COUNT };
extern const char *const lab_axis_names[AXIS_COUNT]; /* "program", ... as figures and exclusions name them */

/* A scheduler's line may be options: policies that go together. A bundle is several (policy/bundle.h). */
enum lab_option { OPTION_BUNDLE, OPTION_SCHEDULER, OPTION_L1, OPTION_DIVERGENCE, LAB_OPTIONS };

/* One value of an axis. */
struct lab_value {
    const char *label; /* "gto"; of a range: "swl 4" */
    const char *text;  /* program: the command's words; machine: name or file; policies: the spec, "" the machine's own;
                          variant: section.key=value words */
    const char *parameter; /* what a range runs over ("limit"), or NULL */
    double number;         /* its value there */
    /* of a line of options: their specs, NULL where one is not given; text is then all of them. NULL: text is a spec */
    const char **options;
};

/* One line of an axis. */
struct lab_entry {
    const char *label;
    uint32_t first,
        count;            /* its values, in lab_axis_values.values; ranges used by several entries share their values */
    const uint32_t *list; /* best(a | b): its values, which are other lines'; `first` is the first of them. NULL:
                             `count` in a row, from `first` on */
    bool best;            /* best(...): of its values the one with the greatest `best_by` for each rest of the point */
    int line;
};
static inline uint32_t lab_entry_value(const struct lab_entry *e, uint32_t n)
{
    return e->list ? e->list[n] : e->first + n;
}

struct lab_axis_values {
    struct lab_value *values;
    uint32_t value_count;
    struct lab_entry *entries; /* in the order of the file */
    uint32_t entry_count;
};

/* One simulation. */
struct lab_point {
    uint32_t value[AXIS_COUNT]; /* index into its axis' values */
    const char **words;         /* the program's command: name or path, its arguments, "--size", the size where it is a
                                   workload; NULL after the last */
    const char **sets;          /* of its variant; NULL after the last */
    const char **probes;        /* specs, those of the whole experiment first; NULL after the last */
};

/* A probe of the experiment, or of a part of its points ([probes]). */
struct lab_probe {
    const char *spec;
    int line;
};

/* [input NAME]: a run that is made before those that name its file, as the value @NAME of a policy's or a probe's
 * parameter. It has their program, machine and variant. */
struct lab_input {
    const char *name;
    const char *policies[3]; /* scheduler, l1, divergence: specs, "" the machine's own */
    const char **arguments;  /* added to the program's; NULL after the last */
    const char *probe;       /* NULL: none. One '@' in `probe` and `options` together is the file that it writes */
    const char **options;    /* of `heddle run`; NULL after the last */
    int line, policy_lines[3], probe_line;
};

/* A published number beside ours. */
struct lab_published {
    const char *x, *series;
    double value;
};

/* The figures and tables of a paper that a source names. */
struct lab_cited_item {
    bool table;
    uint32_t number;
};
struct lab_cited {
    const char *paper; /* "CCWS"; "": none */
    struct lab_cited_item *items;
    uint32_t count;
};

/* name=value[|value...] of axes' entry labels; an axis left out: any. */
struct lab_filter {
    const char *labels[AXIS_COUNT]; /* NULL: any; else labels separated by '|' */
};

enum lab_figure_kind { FIGURE_BARS, FIGURE_STACKED, FIGURE_LINES, FIGURE_SCATTER, FIGURE_HEAT };
enum lab_mean { MEAN_NONE, MEAN_ARITHMETIC, MEAN_GEOMETRIC, MEAN_HARMONIC };

/* What the xs of a figure are: items of an axis (or runs, of a scatter), or what each of its runs has many of. */
enum lab_over { OVER_AXIS, OVER_CYCLES, OVER_PCS, OVER_BUCKETS };

/* [figure NAME] */
struct lab_figure {
    const char *name, *title, *caption, *source; /* source: of the published values; NULL: none */
    const char *claim;                           /* what the paper says with it, one sentence; NULL: not given */
    struct lab_cited cited;                      /* by the source */
    enum lab_figure_kind kind;
    /* What is on the x axis: an axis by name ("program"), a range's parameter ("scheduler.limit"), for scatter an
     * expression over metrics, or "cycle", "pc", "bucket" (over). */
    const char *x;
    enum lab_over over;
    /* OVER_CYCLES: of which launch: its number from 0, or the name of a kernel, whose first launch it is. OVER_PCS: the
     * same, or all launches of the kernel of that name; NULL: of the kernel that is launched first. */
    const char *launch;
    /* Expressions over metrics ("ipc", "1000 * l1d.misses / thread_instructions"); stacked figures have several, with
     * labels: "memory: stalls.memory, barrier: stalls.barrier". Others have one. */
    const char **y, **y_labels;
    uint32_t y_count;
    const char *x_title, *y_title;      /* never NULL */
    const char *series;                 /* an axis by name; NULL: one series. Heat maps: the rows */
    struct lab_filter where, normalise; /* normalise: each value divided by that of the point whose labels these are;
                                           has_normalise says whether */
    bool has_normalise;
    enum lab_mean mean; /* one more x, "mean", over the others */
    struct lab_published *published;
    uint32_t published_count;
    const char **expected; /* "gto > lrr": at the mean (or at every x without one), what the paper says */
    uint32_t expected_count;
    bool robust; /* its order and expectations are judged on every variant (figure/robust.h) */
    int line;
};

/* [table NAME]: numbers of a paper that are shown beside ours and never mixed with them. They are text. */
struct lab_table_row {
    const char *label;
    const char **values; /* as many as there are columns */
};
struct lab_table {
    const char *name, *title, *caption, *source, *claim; /* claim: as of a figure */
    struct lab_cited cited;
    const char **columns;
    struct lab_table_row *rows;
    uint32_t column_count, row_count;
};

/* A line of [shown elsewhere] or [left out]. */
struct lab_paper_note {
    struct lab_cited cited; /* without the paper's name */
    const char *part;       /* "(b)": only this part of the figure; "": all of it */
    const char *file;       /* that shows it, as seen from the repository; NULL: left out */
    const char *text;       /* what the file shows, or why nothing does */
    int line;
};
/* [paper]: whose figures and tables the experiment repeats. */
struct lab_paper {
    const char *name, *title; /* name: the first word of its sources; title: "" where it is not given */
    uint32_t figures, tables; /* how many the paper has */
    struct lab_paper_note *elsewhere, *left_out;
    uint32_t elsewhere_count, left_out_count;
};

struct experiment {
    const char *name;   /* of the file, without folder and .ini */
    const char *folder; /* from which its paths start, ending in a slash: its own, or what its key `folder` says; "":
                           the current one */
    const char *text;   /* of the file */
    size_t text_bytes;
    const char *title, *about, *size, *best_by /* metric, default "ipc" */;
    double time_limit_seconds; /* of a run; 0: none */
    uint64_t memory_limit_bytes;
    bool sample;              /* runs time a part and estimate the rest (docs/sample.md) */
    bool pcs;                 /* runs count each instruction, and */
    uint64_t interval_cycles; /* take samples over time; 0: none. docs/profile.md */
    const char *launches;     /* those that are timed, as --launch has them; NULL: all */
    const char *build; /* of the simulator: runs of another are made again; NULL: any of this timing epoch will do */
    uint32_t replay;   /* policies under which their L1D accesses are replayed (replay.h), a bit each; 0: none */
    struct lab_axis_values axes[AXIS_COUNT];
    struct lab_point *points;
    uint32_t point_count;
    struct lab_figure *figures;
    uint32_t figure_count;
    struct lab_table *tables;
    uint32_t table_count;
    struct lab_probe *probes;
    uint32_t probe_count;
    struct lab_input *inputs;
    uint32_t input_count;
    struct lab_paper *paper; /* NULL: none */
};

/* inputs.c. The next =@NAME of a spec at or after *at: *at is then the '@'. False: there is none. */
bool lab_reference_next(const char **at, size_t *name_length);
const struct lab_input *lab_find_input(const struct experiment *x, const char *name, size_t length);

/* cited.c */
bool lab_cites(const struct lab_cited *c, bool table, uint32_t number);

/* size: of --size; NULL: the file's. All memory is the arena's. */
bool experiment_load(struct experiment *x, struct arena *a, const char *path, const char *size, struct error *e);
/* The same from a text that came out of a store; name: without .ini. */
bool experiment_parse(struct experiment *x, struct arena *a, const char *name, const char *text, size_t text_bytes,
                      const char *size, struct error *e);
/* The labels of a point, by axis. */
static inline const char *experiment_label(const struct experiment *x, const struct lab_point *p, enum lab_axis axis)
{
    return x->axes[axis].values[p->value[axis]].label;
}

#endif

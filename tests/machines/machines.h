/* Random machines: a machine is drawn from a seed (draw.c), runs three small programs in three ways (ways.c), and must
 * count the same in all of them. README.md says more. */
#ifndef HEDDLE_TESTS_MACHINES_H
#define HEDDLE_TESTS_MACHINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SETS_MOST = 64, SET_BYTES = 128, COMMAND_BYTES = 8192, REPORT_BYTES = 6000 };

/* A machine: a file of machines/ and values of its keys, all of which the command accepts. */
struct drawn_machine {
    char base[128];
    char sets[SETS_MOST][SET_BYTES]; /* section.key=value */
    uint32_t set_count;
    bool pcs; /* instructions are counted one by one too */
};

/* What a process that tests a machine leaves to the one that started it: it may crash at any time. */
struct outcome {
    uint32_t refused; /* values that the machine's checks refused */
    uint32_t unfit;   /* programs that the machine refused to run, in all ways */
    bool failed, done;
    uint32_t program;             /* that runs: the number of it */
    char way[32];                 /* in which it runs */
    char report[REPORT_BYTES];    /* what is wrong */
    struct drawn_machine machine; /* as far as it has been drawn */
};

/* Draws the machine of a seed. False: a value was refused without a clear message, which is in o->report. */
bool draw_machine(uint64_t seed, struct outcome *o);

/* Runs the programs on o->machine in all ways, and compares. */
void run_in_all_ways(struct outcome *o);
/* What the programs leave in memory on any machine; once, before anything else. False: they do not run. */
bool expect_results(char *why, size_t size);

/* The command that repeats what o->way was at. folder: of what was built. */
void write_command(const struct outcome *o, const char *folder, char *out, size_t size);

#endif

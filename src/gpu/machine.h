/* A machine: what machines/NAME.ini says, every key resolved. */
#ifndef HEDDLE_GPU_MACHINE_H
#define HEDDLE_GPU_MACHINE_H

#include "base/error.h"
#include "mem/config.h"
#include "sm/config.h"

#include <stdio.h>

struct machine {
    char name[64];
#define MACHINE_KEY(name, type, field, ...) KEY_FIELD_##type(field)
#include "gpu/machine_keys.def"
    bool launches_go_on, last_block_first; /* rules */
    struct sm_config sm;
    struct mem_config mem; /* core_count is the number of clusters; clocks in kHz */
};

/* Loads a machine by its name ("gtx480"), which is searched for (machine_find.c), or by the path of its file
 * ("./mine.ini"). overrides: "section.key=value" of --set, in order. */
bool machine_load(struct machine *m, const char *name, const char *const *overrides, uint32_t override_count,
                  struct error *e);
/* The same; `tell` is called for each value, in the order of machine_visit, with the place that it came from:
 * "default", "rulebook NAME", "FILE:LINE", "base FILE:LINE" or "command line". */
typedef void machine_tracer(void *context, const char *section, const char *key, const char *value, const char *origin);
bool machine_trace(struct machine *m, const char *name, const char *const *overrides, uint32_t override_count,
                   machine_tracer *tell, void *context, struct error *e);
/* Prints the resolved file: every key with its value, unit and one line of help. */
void machine_print(const struct machine *m, FILE *to);
/* Prints every key with its unit, range, default and help, as tables in Markdown: the end of docs/machine-files.md. */
void machine_print_keys(FILE *to);
/* Prints every rule with its value in each rulebook, what it decides and where it was read; markdown: as a table. */
void machine_print_rules(FILE *to, bool markdown);
/* Calls `visit` for all keys and rules in order, with the value as text. is_number: the value is a plain number. */
typedef void machine_visitor(void *context, const char *section, const char *key, const char *value, bool is_number);
void machine_visit(const struct machine *m, machine_visitor *visit, void *context);
/* Writes a machine file from GPGPU-Sim's configuration file. What could not be carried over, and what was assumed, is
 * written as comments at its end and to notes. */
bool machine_import(const char *path, FILE *to, FILE *notes, struct error *e);
uint32_t machine_l2_bytes(const struct machine *m);
uint32_t machine_bus_bits(const struct machine *m);

#endif

/* Every function by name and version; see proc_names.def. */
#ifndef HEDDLE_CUDA_PROC_TABLE_H
#define HEDDLE_CUDA_PROC_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct proc_row {
    const char *base, *symbol;
    int version;
    bool per_thread;
    void (*address)(void);
};

extern const struct proc_row proc_rows[] __attribute__((visibility("hidden")));
extern const size_t proc_row_count __attribute__((visibility("hidden")));

#endif

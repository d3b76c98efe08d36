/* The addresses of all functions. cuda.h is not included here: only the names matter, not the types. */
#include "cuda/proc_table.h"

#define PROC(base, version, symbol)            extern void symbol(void);
#define PROC_PER_THREAD(base, version, symbol) extern void symbol(void);
#include "cuda/proc_names.def"
#undef PROC
#undef PROC_PER_THREAD

const struct proc_row proc_rows[] = {
#define PROC(base, version, symbol)            {#base, #symbol, version, false, symbol},
#define PROC_PER_THREAD(base, version, symbol) {#base, #symbol, version, true, symbol},
#include "cuda/proc_names.def"
#undef PROC
#undef PROC_PER_THREAD
};
const size_t proc_row_count = sizeof proc_rows / sizeof proc_rows[0];

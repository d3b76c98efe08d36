/* Names of kernels as a person calls them. */
#ifndef HEDDLE_CLI_KERNEL_NAME_H
#define HEDDLE_CLI_KERNEL_NAME_H

#include <stddef.h>

/* Demangled, without result and parameters; where that is wider than `width` bytes also without namespaces, and then
 * cut. To be freed. */
char *kernel_name(const char *name, size_t width);

#endif

/* A whole file in memory. */
#ifndef HEDDLE_BASE_READ_FILE_H
#define HEDDLE_BASE_READ_FILE_H

#include "base/error.h"

/* Reads a regular file. The caller frees *data, which has a 0 byte after its end. */
bool read_file(const char *path, char **data, size_t *size, struct error *e);

#endif

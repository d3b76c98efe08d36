/* Names and texts of errors. */
#include "cudart/runtime.h"

static const struct error_row {
    int number;
    const char *name, *text;
} rows[] = {
#define RUNTIME_ERROR(number, name, text) {number, #name, text},
#include "cudart/error.def"
#undef RUNTIME_ERROR
};

static const struct error_row *row_of(int number)
{
    static const struct error_row unknown = {-1, "unrecognized error code", "unrecognized error code"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number)
            return &rows[i];
    return &unknown;
}

RTAPI const char *cudaGetErrorName(cudaError_t error);
RTAPI const char *cudaGetErrorName(cudaError_t error) { return row_of((int)error)->name; }
RTAPI const char *cudaGetErrorString(cudaError_t error);
RTAPI const char *cudaGetErrorString(cudaError_t error) { return row_of((int)error)->text; }

/* Results: their names and texts, how an error of the rooms below becomes one, and what is said on stderr. */
#include "cuda/internal.h"

#include "cuda/unsupported.h"

#include <stdarg.h>
#include <stdio.h>

static const struct result_row {
    CUresult result;
    const char *name, *text;
} rows[] = {
#define RESULT(name, text) {name, #name, text},
#include "cuda/results.def"
#undef RESULT
};

static const struct result_row *row_of(CUresult result)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].result == result)
            return &rows[i];
    return NULL;
}

CUAPI CUresult cuGetErrorName(CUresult error, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    const struct result_row *row = row_of(error);
    *text = row ? row->name : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUAPI CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    const struct result_row *row = row_of(error);
    *text = row ? row->text : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static const struct {
    enum error_kind kind;
    CUresult result;
} kinds[] = {
    {ERROR_NONE, CUDA_SUCCESS},
    {ERROR_SYNTAX, CUDA_ERROR_INVALID_PTX},
    {ERROR_UNSUPPORTED, CUDA_ERROR_NOT_SUPPORTED},
    {ERROR_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
    {ERROR_NOT_FOUND, CUDA_ERROR_NOT_FOUND},
    {ERROR_INVALID, CUDA_ERROR_INVALID_VALUE},
    {ERROR_IO, CUDA_ERROR_FILE_NOT_FOUND},
    {ERROR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY},
    {ERROR_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
    {ERROR_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS},
    {ERROR_MISALIGNED, CUDA_ERROR_MISALIGNED_ADDRESS},
    {ERROR_POINTER, CUDA_ERROR_INVALID_PC},
    {ERROR_TRAP, CUDA_ERROR_LAUNCH_FAILED},
    {ERROR_ASSERT, CUDA_ERROR_ASSERT},
    {ERROR_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION},
    {ERROR_DEADLOCK, CUDA_ERROR_LAUNCH_TIMEOUT},
    {ERROR_LIMIT, CUDA_ERROR_LAUNCH_TIMEOUT},
    {ERROR_LAUNCH_LIMIT, CUDA_ERROR_LAUNCH_TIMEOUT},
    {ERROR_INTERRUPTED, CUDA_ERROR_LAUNCH_TIMEOUT},
};

CUresult result_of(const struct error *e)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].kind == e->kind)
            return kinds[i].result;
    return CUDA_ERROR_UNKNOWN;
}

void driver_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* What a kernel did is not forgotten over a call that failed later; nor is what ended a context over a launch that ran
 * past its own limit, or such a launch over an assertion, which a program may have asked for. */
static int weight_of(enum error_kind kind)
{
    switch (kind) {
    case ERROR_NONE: return 0;
    case ERROR_ASSERT: return 2;
    case ERROR_LAUNCH_LIMIT: return 3;
    default: return kind >= ERROR_ADDRESS ? 4 : 1;
    }
}

void driver_keep(const struct error *e)
{
    struct error *outcome = &driver_get()->outcome;
    if (weight_of(e->kind) >= weight_of(outcome->kind))
        *outcome = *e;
}

void driver_report(const struct error *e)
{
    driver_say("%s", e->text);
    driver_keep(e);
}

int unsupported_call(const char *name, atomic_flag *said)
{
    struct error e = {0};
    if (atomic_flag_test_and_set(said))
        return CUDA_ERROR_NOT_SUPPORTED;
    api_enter(NULL, API_ANY);
    error_set(&e, ERROR_UNSUPPORTED, "%s is not supported", name);
    driver_report(&e);
    return (int)api_leave(CUDA_ERROR_NOT_SUPPORTED);
}

/* For the runtime library, which is built on the public API alone: the same for functions of its own. */
CUAPI int heddle_unsupported(const char *text);
CUAPI int heddle_unsupported(const char *text)
{
    struct error e = {0};
    api_enter(NULL, API_ANY);
    error_set(&e, ERROR_UNSUPPORTED, "%s", text);
    driver_report(&e);
    return (int)api_leave(CUDA_ERROR_NOT_SUPPORTED);
}

/* Likewise: a kernel that it was to launch could not be loaded, as was said. */
CUAPI void heddle_launch_refused(void);
CUAPI void heddle_launch_refused(void)
{
    api_enter(NULL, API_ANY);
    driver_get()->launch_refused = true;
    api_leave(CUDA_SUCCESS);
}

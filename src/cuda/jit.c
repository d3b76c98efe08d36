/* Options of the just-in-time compiler. There is none here: the options are checked and the logs are filled; the rest
 * has nothing to act on. */
#include "cuda/internal.h"

#include <stdio.h>
#include <string.h>

CUresult jit_log_read(struct jit_log *log, unsigned int count, const CUjit_option *options, void **values)
{
    *log = (struct jit_log){0};
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; i++)
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER: log->info_buffer = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER: log->error_buffer = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            log->info_bytes = (uint32_t)(uintptr_t)values[i];
            log->info_size = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->error_bytes = (uint32_t)(uintptr_t)values[i];
            log->error_size = &values[i];
            break;
        case CU_JIT_WALL_TIME: log->wall_time = &values[i]; break;
        default:
            if ((unsigned)options[i] >= CU_JIT_NUM_OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    return CUDA_SUCCESS;
}

/* Writes what fits, terminated, and puts the length in place of the size. */
static void put(char *buffer, size_t bytes, void **size, const char *text)
{
    size_t length = strlen(text);
    if (buffer && bytes) {
        if (length >= bytes)
            length = bytes - 1;
        memcpy(buffer, text, length);
        buffer[length] = '\0';
    } else {
        length = 0;
    }
    if (size)
        *size = (void *)(uintptr_t)length;
}

void jit_log_write(const struct jit_log *log, const struct error *e, const char *info)
{
    float milliseconds = 0;
    put(log->error_buffer, log->error_bytes, log->error_size, e ? e->text : "");
    put(log->info_buffer, log->info_bytes, log->info_size, info ? info : "");
    if (log->wall_time)
        memcpy(log->wall_time, &milliseconds, sizeof milliseconds);
}

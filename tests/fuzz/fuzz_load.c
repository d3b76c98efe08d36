/* Any bytes as a module, all the way to decoded instructions: parsed, placed in memory, decoded, freed. */
#include "exec/exec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct memory *memory; /* reserved once; every image gives back what it took */
    struct error e = {0};
    if (!memory)
        memory = memory_create(64 << 20, &e);
    if (!memory)
        abort();
    struct ptx_module *m = ptx_parse("fuzz.ptx", (const char *)data, size, &e);
    if (m)
        exec_image_destroy(exec_image_create(memory, &m, 1, &e));
    if (memory->range_count)
        abort();
    return 0;
}

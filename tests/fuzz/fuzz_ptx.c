/* libFuzzer target: any bytes as a PTX module. What parses is printed, instruction by instruction, so that every
 * pointer in it is followed.
 *
 * Build with clang -fsanitize=fuzzer,address,undefined together with src/base and src/ptx, then: fuzz_ptx
 * -max_len=20000 -timeout=5 CORPUS Seeds for the corpus: the modules under tests/data/ptx, which hold every directive
 * and operand form between them, and the kernels of workloads/. */
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_function(const struct ptx_function *f)
{
    char small[64], large[4096];
    for (uint32_t i = 0; i < f->inst_count; i++) {
        int length = ptx_print_inst(small, sizeof small, f, &f->insts[i]);
        int again = ptx_print_inst(large, sizeof large, f, &f->insts[i]);
        if (length != again || length <= 0 || memcmp(small, large, strlen(small)) != 0)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e = {0};
    struct ptx_module *m = ptx_parse("fuzz.ptx", (const char *)data, size, &e);
    if (!m) {
        if (!e.kind || !e.text[0])
            abort();
        return 0;
    }
    for (uint32_t i = 0; i < m->function_count; i++)
        print_function(m->functions[i]);
    ptx_module_free(m);
    return 0;
}

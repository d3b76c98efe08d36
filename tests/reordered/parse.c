/* Linked into a libcuda.so.1 of its own (--wrap=ptx_parse): all that is loaded runs in the order of ptx_reorder. */
#include "ptx/lowering.h"
#include "ptx/unroll.h"

struct ptx_module *__real_ptx_parse(const char *name, const char *text, size_t size_bytes, struct error *e);
struct ptx_module *__wrap_ptx_parse(const char *name, const char *text, size_t size_bytes, struct error *e);

struct ptx_module *__wrap_ptx_parse(const char *name, const char *text, size_t size_bytes, struct error *e)
{
    struct ptx_module *m = __real_ptx_parse(name, text, size_bytes, e);
    for (uint32_t i = 0; m && i < m->function_count; i++)
        if (!m->functions[i]->is_declaration) {
            ptx_unroll(&m->arena, m->functions[i]);
            ptx_reorder(&m->arena, m->functions[i]);
        }
    return m;
}

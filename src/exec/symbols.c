/* What an image's functions and variables are found by: their names and addresses. */
#include "exec/image_internal.h"

#include <string.h>

#define FUNCTION_ADDRESS_TAG 0x7f00000000000000ull

uint64_t image_function_address(uint32_t index) { return FUNCTION_ADDRESS_TAG ^ (uint64_t)(index + 1) * 16; }

struct exec_function *image_definition(const struct exec_image *image, const struct ptx_module *module,
                                       const char *name)
{
    struct exec_function *found = NULL;
    for (struct exec_function *f = strmap_get(&image->by_name, name, strlen(name)); f; f = f->next_of_name) {
        if (f->module == module)
            return f;
        if (f->ptx->linkage == PTX_LINK_INTERNAL)
            continue;
        if (!found || found->ptx->linkage == PTX_LINK_WEAK)
            found = f;
    }
    return found;
}

struct exec_function *exec_image_function(const struct exec_image *image, const char *name)
{
    return image_definition(image, NULL, name) ? image_definition(image, NULL, name)
           : image->module_count               ? image_definition(image, image->modules[0], name)
                                               : NULL;
}

const struct exec_symbol *exec_image_symbol(const struct exec_image *image, const char *name)
{
    const struct exec_symbol *found = NULL;
    for (uint32_t i = 0; i < image->symbol_count; i++)
        if (strcmp(image->symbols[i].name, name) == 0 && (!found || found->variable->linkage == PTX_LINK_INTERNAL))
            found = &image->symbols[i];
    return found;
}

const struct exec_function *exec_image_function_at(const struct exec_image *image, uint64_t address)
{
    uint64_t index = (address ^ FUNCTION_ADDRESS_TAG) / 16 - 1;
    return (address & 15) == 0 && index < image->function_count ? image->functions[index] : NULL;
}

void visit_operands(const struct ptx_operand *operands, uint32_t count, operand_visitor *visit, void *context)
{
    for (uint32_t i = 0; i < count; i++) {
        visit(context, &operands[i]);
        if (operands[i].element_count)
            visit_operands(operands[i].elements, operands[i].element_count, visit, context);
    }
}

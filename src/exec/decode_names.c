/* What names in an instruction stand for: functions, and where variables are for the function that is decoded. */
#include "exec/image_internal.h"

const struct exec_function *decode_find_function(const struct decoder *d, const struct ptx_function *f)
{
    return image_definition(d->image, d->function->module, f->name);
}

static bool is_formal(const struct ptx_function *f, const struct ptx_variable *v, uint32_t *index)
{
    for (*index = 0; *index < f->param_count; ++*index)
        if (f->params[*index] == v)
            return true;
    return false;
}

bool decode_variable_address(struct decoder *d, const struct ptx_variable *v, uint64_t *address,
                             enum decode_place *place)
{
    uint32_t index;
    *place = PLACE_ABSOLUTE;
    if (v->space == PTX_SPACE_PARAM && d->function->ptx->is_entry && is_formal(d->function->ptx, v, &index)) {
        *address = d->function->ptx->param_offsets[index];
        return true;
    }
    if (v->space == PTX_SPACE_PARAM || v->space == PTX_SPACE_LOCAL)
        *place = PLACE_FRAME;
    const struct ptx_variable *definition = layout_definition(d->image, v);
    return layout_get(d->image->layout, definition, d->function, address) ||
           layout_get(d->image->layout, definition, NULL, address);
}

/* Instructions that are refused when a module is loaded, each with its reason. */
#include "exec/decode.h"

static const char *reason(enum ptx_opcode opcode)
{
    switch (opcode) {
    case PTX_OP_wgmma: return "warp-group matrix instructions (wgmma) are not modelled";
    case PTX_OP_tcgen05: return "tensor-memory instructions (tcgen05) are not modelled";
    case PTX_OP_tensormap: return "tensor maps and the tensor-memory engine are not modelled";
    case PTX_OP_clusterlaunchcontrol: return "launch control of clusters is not modelled";
    case PTX_OP_multimem: return "multi-GPU memory (multimem) is not modelled";
    default: return NULL;
    }
}

bool decode_unsupported(struct decoder *d)
{
    const char *why = reason(d->in->opcode);
    if (why)
        return decode_fail(d, "%s", why);
    enum ptx_type t = d->in->type_count ? decode_last_type(d) : PTX_NO_TYPE;
    if (t != PTX_NO_TYPE)
        return decode_wrong(d, NULL, "'%s' does not work on the type .%s", ptx_opcodes[d->in->opcode].name,
                            ptx_type_name(t));
    return decode_wrong(d, NULL, "'%s' lacks a type that '%s' can work on", d->in->spelling,
                        ptx_opcodes[d->in->opcode].name);
}

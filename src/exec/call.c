/* Calls (PTX ISA 9.7.12.5): a frame of registers and local memory each, arguments copied from caller to callee and results back. Parameters in .param space live in
 * local memory, so that their address can be taken. Lanes that call different functions through a pointer take turns. */
#include "exec/call.h"
#include "exec/device_calls.h"
#include "exec/image_internal.h"
#include "exec/lanes.h"
#include "exec/strands.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST_CALLS = 1 << 16 };

/* Frames */

static void use_frame(struct exec_warp *w, const struct exec_function *f, uint32_t registers_offset, uint32_t local_base)
{
    w->function = f;
    w->code = f->code;
    w->registers_offset = registers_offset;
    w->bank[BANK_FRAME] = w->registers + registers_offset;
    w->bank[BANK_CONSTANTS] = f->constants;
    w->local_base = local_base;
}

bool call_prepare_frame(struct exec_warp *w)
{
    const struct exec_function *f = w->function;
    for (uint32_t i = 0; i < f->frame_address_count; i++) {
        const struct frame_address *a = &f->frame_addresses[i];
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            if (a->wide)
                LANES_OF(uint64_t, w, a->ref)[lane] = w->local_base + a->offset;
            else
                LANES_OF(uint32_t, w, a->ref)[lane] = w->local_base + a->offset;
        }
    }
    return true;
}

static void reserve_registers(struct exec_warp *w, uint64_t bytes)
{
    if (bytes <= w->registers_bytes)
        return;
    uint64_t grown = w->registers_bytes * 2 > bytes ? w->registers_bytes * 2 : bytes;
    grown = (grown + 4095) & ~4095ull;
    uint8_t *fresh = aligned_alloc(256, grown);
    if (!fresh)
        abort();
    memcpy(fresh, w->registers, w->registers_bytes);
    memset(fresh + w->registers_bytes, 0, grown - w->registers_bytes);
    if (w->owns_registers)
        free(w->registers);
    w->owns_registers = true;
    w->registers = fresh;
    w->registers_bytes = grown;
}

static struct call_frame *push_frame(struct exec_warp *w)
{
    if (w->frame_depth == w->frame_capacity) {
        w->frame_capacity = w->frame_capacity ? w->frame_capacity * 2 : 8;
        w->frames = realloc(w->frames, w->frame_capacity * sizeof *w->frames);
        if (!w->frames)
            abort();
    }
    return &w->frames[w->frame_depth++];
}

/* Values of one lane */

static uint8_t *lane_local(const struct exec_warp *w, uint32_t lane, uint32_t address)
{
    return w->local + lane * exec_local_stride(w->launch) + address;
}

static uint64_t read_lane(const struct exec_warp *w, const uint8_t *bank, exec_ref ref, uint32_t bits, uint32_t lane)
{
    const uint8_t *p = (ref & 3) == BANK_FRAME ? bank + (ref & ~3u) : w->bank[ref & 3] + (ref & ~3u);
    if (bits == 0)
        return *(const uint32_t *)p >> lane & 1;
    return bits == 64 ? ((const uint64_t *)p)[lane] : ((const uint32_t *)p)[lane];
}

static void write_lane(uint8_t *bank, exec_ref ref, uint32_t bits, uint32_t lane, uint64_t value)
{
    uint8_t *p = bank + (ref & ~3u);
    if (bits == 0)
        *(uint32_t *)p = (*(uint32_t *)p & ~(1u << lane)) | (uint32_t)(value & 1) << lane;
    else if (bits == 64)
        ((uint64_t *)p)[lane] = value;
    else
        ((uint32_t *)p)[lane] = (uint32_t)value;
}

/* One side of a copy: a register in a frame's bank, or a place in local memory. */
struct side { uint8_t *bank; bool in_register; exec_ref ref; uint32_t bits, address; };

static void copy_value(struct exec_warp *w, struct side to, struct side from, uint32_t bytes, uint32_t mask)
{
    FOR_EACH_LANE(mask, lane) {
        uint64_t value = 0;
        if (!to.in_register && !from.in_register) {
            memmove(lane_local(w, lane, to.address), lane_local(w, lane, from.address), bytes);
            continue;
        }
        uint32_t moved = bytes < 8 ? bytes : 8;
        if (from.in_register)
            value = read_lane(w, from.bank, from.ref, from.bits, lane);
        else
            memcpy(&value, lane_local(w, lane, from.address), moved);
        if (to.in_register)
            write_lane(to.bank, to.ref, to.bits, lane, value);
        else
            memcpy(lane_local(w, lane, to.address), &value, moved);
    }
}

static struct side caller_side(uint8_t *bank, const struct call_value *v, uint32_t local_base)
{
    return (struct side){ bank, v->in_register, v->ref, v->reg_bits, local_base + v->offset };
}

static struct side formal_side(uint8_t *bank, const struct exec_function *f, const struct ptx_variable *formal, uint32_t offset, uint32_t local_base)
{
    if (formal->reg)
        return (struct side){ bank, true, f->registers[formal->reg->index], (uint32_t)ptx_type_bits(formal->reg->type), 0 };
    return (struct side){ bank, false, 0, 0, local_base + offset };
}

static uint32_t value_bytes(const struct ptx_variable *formal)
{
    return formal->reg ? 8 : (uint32_t)formal->size_bytes;
}

static void enter(struct exec_warp *w, const struct call_site *site, uint32_t mask, const struct exec_function *callee)
{
    uint32_t base = 0;
    FOR_EACH_LANE(mask, lane)
        if (w->stack_top[lane] > base)
            base = w->stack_top[lane];
    base = align_up(base, 16);
    if (base + callee->local_bytes > w->launch->local_bytes || w->frame_depth >= DEEPEST_CALLS) {
        exec_raise(w, ERROR_ADDRESS, (uint32_t)__builtin_ctz(mask), base, callee->local_bytes,
                   "the thread's stack of %u bytes is used up by %u nested calls (cuCtxSetLimit CU_LIMIT_STACK_SIZE makes it larger)", w->launch->local_bytes,
                   w->frame_depth + 1);
        return;
    }
    uint64_t registers_offset = w->strands ? strands_registers_end(w) : w->registers_offset + w->function->frame_bytes;
    reserve_registers(w, registers_offset + callee->frame_bytes);
    struct call_frame *frame = push_frame(w);
    *frame = (struct call_frame){ w->function, w->pc + 1, w->pc, w->registers_offset, w->local_base, mask, { 0 } };
    memcpy(frame->stack_top, w->stack_top, sizeof w->stack_top);
    uint8_t *caller_bank = w->registers + w->registers_offset;
    uint8_t *callee_bank = w->registers + registers_offset;
    w->bank[BANK_FRAME] = caller_bank;
    for (uint32_t i = 0; i < site->argument_count && i < callee->ptx->param_count; i++) {
        const struct ptx_variable *formal = callee->ptx->params[i];
        copy_value(w, formal_side(callee_bank, callee, formal, callee->param_local_offsets[i], base), caller_side(caller_bank, &site->arguments[i], w->local_base),
                   value_bytes(formal), mask);
    }
    struct simt_entry *top = &w->stack[w->stack_depth - 1];
    top->pc = w->pc + 1;
    top->mask = w->active;
    use_frame(w, callee, (uint32_t)registers_offset, base);
    FOR_EACH_LANE(mask, lane)
        w->stack_top[lane] = base + callee->local_bytes;
    call_prepare_frame(w);
    simt_push_call(w, mask);
}

void call_leave(struct exec_warp *w)
{
    struct call_frame *frame = &w->frames[--w->frame_depth];
    const struct exec_function *callee = w->function;
    const struct call_site *site = frame->function->code[frame->call_pc].extra;
    uint8_t *callee_bank = w->registers + w->registers_offset, *caller_bank = w->registers + frame->registers_offset;
    uint32_t mask = frame->mask & ~w->exited;
    for (uint32_t i = 0; mask && i < site->return_count && i < callee->ptx->return_count; i++) {
        const struct ptx_variable *formal = callee->ptx->returns[i];
        copy_value(w, caller_side(caller_bank, &site->returns[i], frame->local_base),
                   formal_side(callee_bank, callee, formal, callee->return_local_offsets[i], w->local_base), value_bytes(formal), mask);
    }
    FOR_EACH_LANE(frame->mask, lane)
        w->stack_top[lane] = frame->stack_top[lane];
    use_frame(w, frame->function, frame->registers_offset, frame->local_base);
}

static void run_builtin(struct exec_warp *w, const struct call_site *site, uint32_t mask)
{
    uint32_t arguments[8];
    if (exec_withheld(w)) /* they print, and allocate */
        return;
    for (uint32_t i = 0; i < site->argument_count && i < 8; i++)
        arguments[i] = w->local_base + site->arguments[i].offset;
    site->builtin->run(w, mask, arguments, site->return_count ? w->local_base + site->returns[0].offset : UINT32_MAX);
    if (w->state == WARP_READY)
        simt_next(w);
}

static bool leader_target(struct exec_warp *w, const struct call_site *site, uint32_t *mask, const struct exec_function **target)
{
    const uint64_t *pointers = LANES_OF(uint64_t, w, site->pointer);
    uint32_t leader = (uint32_t)__builtin_ctz(*mask), same = 0;
    FOR_EACH_LANE(*mask, lane)
        if (pointers[lane] == pointers[leader])
            same |= 1u << lane;
    *target = exec_image_function_at(w->launch->image, pointers[leader]);
    if (!*target || (*target)->ptx->is_entry) {
        exec_raise(w, ERROR_POINTER, leader, pointers[leader], 8, "call through a pointer that holds no function's address");
        return false;
    }
    *mask = same;
    return true;
}

/* Lanes that do not take part (guard, or another target) wait behind the call. */
static void call_handler(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct call_site *site = in->extra;
    const struct exec_function *callee = site->callee;
    uint32_t caller_pc = w->pc;
    if (!mask) {
        simt_next(w);
        return;
    }
    uint32_t wanted = mask;
    if (!callee && !site->builtin && !leader_target(w, site, &mask, &callee))
        return;
    if (mask != w->active) {
        struct simt_path paths[3] = { { caller_pc, mask }, { caller_pc, wanted & ~mask }, { caller_pc + 1, w->active & ~wanted } };
        uint32_t count = 1;
        if (paths[1].mask)
            count++;
        if (paths[2].mask)
            paths[count++] = paths[2];
        simt_split(w, paths, count, caller_pc + 1);
    }
    if (site->builtin)
        run_builtin(w, site, mask);
    else
        enter(w, site, mask, callee);
}

/* Decoding */

static bool decode_value(struct decoder *d, const struct ptx_operand *o, bool is_return, struct call_value *v)
{
    if (o->kind == PTX_OPERAND_SYMBOL && o->variable->space == PTX_SPACE_PARAM) {
        uint64_t address;
        enum decode_place place;
        if (!decode_variable_address(d, o->variable, &address, &place) || place != PLACE_FRAME)
            return decode_wrong(d, o, "%s cannot be passed: it is a parameter of the kernel", o->variable->name);
        *v = (struct call_value){ .offset = (uint32_t)address, .bytes = (uint32_t)o->variable->size_bytes };
        return true;
    }
    if (o->kind == PTX_OPERAND_REG) {
        *v = (struct call_value){ .in_register = true, .reg_bits = (uint32_t)ptx_type_bits(o->reg->type), .ref = d->function->registers[o->reg->index] };
        return true;
    }
    if (o->kind == PTX_OPERAND_SINK && is_return) {
        *v = (struct call_value){ .in_register = true, .reg_bits = 64, .ref = decode_scratch(d, 64) };
        return true;
    }
    if (!is_return && (o->kind == PTX_OPERAND_INT || o->kind == PTX_OPERAND_FLOAT)) {
        *v = (struct call_value){ .in_register = true, .reg_bits = 64 };
        return decode_src_of(d, o, o->kind == PTX_OPERAND_INT ? PTX_B64 : PTX_F64, &v->ref);
    }
    return decode_wrong(d, o, "a call passes .param variables, registers or constants");
}

static bool decode_values(struct decoder *d, const struct ptx_operand *list, bool is_return, struct call_value **values, uint32_t *count)
{
    *count = list ? list->element_count : 0;
    *values = decode_alloc(d, (*count + 1) * sizeof **values);
    for (uint32_t i = 0; i < *count; i++)
        if (!decode_value(d, &list->elements[i], is_return, &(*values)[i]))
            return false;
    return true;
}

/* A float immediate for a .f32 formal must be a float's bits. */
static bool fit_constants(struct decoder *d, const struct ptx_operand *arguments, struct call_site *site)
{
    for (uint32_t i = 0; arguments && site->callee && i < site->argument_count && i < site->callee->ptx->param_count; i++)
        if (arguments->elements[i].kind == PTX_OPERAND_FLOAT && site->callee->ptx->params[i]->type == PTX_F32) {
            site->arguments[i].reg_bits = 32;
            if (!decode_src_of(d, &arguments->elements[i], PTX_F32, &site->arguments[i].ref))
                return false;
        }
    return true;
}

static bool check_signature(struct decoder *d, const struct call_site *site)
{
    if (!site->callee)
        return true;
    const struct ptx_function *f = site->callee->ptx;
    if (site->argument_count != f->param_count)
        return decode_wrong(d, NULL, "%s takes %u parameters, %u given", f->name, f->param_count, site->argument_count);
    if (site->return_count != f->return_count && site->return_count != 0)
        return decode_wrong(d, NULL, "%s returns %u values, %u taken", f->name, f->return_count, site->return_count);
    for (uint32_t i = 0; i < site->argument_count; i++)
        if (!site->arguments[i].in_register && !f->params[i]->reg && site->arguments[i].bytes < f->params[i]->size_bytes)
            return decode_wrong(d, NULL, "parameter %u of %s is %llu bytes, %u given", i + 1, f->name, (unsigned long long)f->params[i]->size_bytes, site->arguments[i].bytes);
    return true;
}

static bool decode_callee(struct decoder *d, const struct ptx_operand *o, struct call_site *site)
{
    if (o->kind == PTX_OPERAND_REG)
        return decode_src_of(d, o, PTX_B64, &site->pointer);
    if (o->kind != PTX_OPERAND_FUNCTION)
        return decode_wrong(d, o, "expected a function or a register that holds its address");
    site->builtin = device_launch_call_find(o->function->name);
    if (site->builtin)
        return true;
    site->callee = decode_find_function(d, o->function);
    if (site->callee)
        return site->callee->ptx->is_entry ? decode_fail(d, "a kernel cannot be called") : true;
    site->builtin = device_call_find(o->function->name);
    if (!site->builtin)
        return decode_fail(d, "function %s is declared, but no module that is loaded together defines it", o->function->name);
    return true;
}

static bool check_builtin(struct decoder *d, const struct call_site *site)
{
    if (!site->builtin)
        return true;
    bool plain = site->argument_count == site->builtin->argument_count && (!site->return_count || !site->returns[0].in_register);
    for (uint32_t i = 0; plain && i < site->argument_count; i++)
        plain = !site->arguments[i].in_register;
    return plain ? true : decode_wrong(d, NULL, "%s takes %u parameters in .param space", site->builtin->name, site->builtin->argument_count);
}

bool decode_call(struct decoder *d)
{
    struct call_site *site = decode_alloc(d, sizeof *site);
    const struct ptx_operand *operands = d->in->operands;
    uint32_t count = d->in->operand_count, at = 0;
    const struct ptx_operand *returns = NULL, *arguments = NULL;
    decode_take(d, PTX_MOD_UNI);
    if (at < count && operands[at].kind == PTX_OPERAND_LIST)
        returns = &operands[at++];
    if (at == count)
        return decode_wrong(d, NULL, "call: expected a function");
    const struct ptx_operand *callee = &operands[at++];
    if (at < count && operands[at].kind == PTX_OPERAND_LIST)
        arguments = &operands[at++];
    if (!decode_callee(d, callee, site) || !decode_values(d, arguments, false, &site->arguments, &site->argument_count) ||
        !decode_values(d, returns, true, &site->returns, &site->return_count) || !fit_constants(d, arguments, site) || !check_signature(d, site) ||
        !check_builtin(d, site))
        return false;
    d->out->extra = site;
    d->out->kind = EXEC_CONTROL;
    d->out->fn = call_handler;
    return true;
}

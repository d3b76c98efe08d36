/* Calls (PTX ISA 9.7.12.5): a frame of registers and local memory each, arguments copied from caller to callee and
 * results back. Parameters in .param space live in local memory, so that their address can be taken. Lanes that call
 * different functions through a pointer take turns. */
#include "exec/call.h"
#include "exec/device_calls.h"
#include "exec/image_internal.h"
#include "exec/lanes.h"
#include "exec/strands.h"

#include "base/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_CALLS = 1 << 16 };
#define ALL_REGISTERS_BYTES (1ull << 30) /* stacks of all warps of a launch, beyond their first frames */

/* Frames */

static void use_frame(struct exec_warp *w, const struct exec_function *f, uint32_t registers_offset,
                      uint32_t local_base)
{
    w->at.function = f;
    w->code = f->code;
    w->at.registers_offset = registers_offset;
    w->bank[BANK_FRAME] = w->registers + registers_offset;
    w->bank[BANK_CONSTANTS] = f->constants;
    w->at.local_base = local_base;
}

bool call_prepare_frame(struct exec_warp *w)
{
    const struct exec_function *f = w->at.function;
    for (uint32_t i = 0; i < f->frame_address_count; i++) {
        const struct frame_address *a = &f->frame_addresses[i];
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            if (a->wide)
                LANES_OF(uint64_t, w, a->ref)[lane] = w->at.local_base + a->offset;
            else
                LANES_OF(uint32_t, w, a->ref)[lane] = w->at.local_base + a->offset;
        }
    }
    return true;
}

/* The bytes that a warp's register stack grows by count against the launch. A watched copy of a warp is gone soon. */
static bool may_grow(const struct exec_warp *w, uint64_t bytes)
{
    uint64_t *all = w->launch->register_stacks_bytes;
    if (!all || w->launch->watched)
        return true;
    return __atomic_add_fetch(all, bytes, __ATOMIC_RELAXED) <= ALL_REGISTERS_BYTES;
}

static bool refuse_registers(struct exec_warp *w, uint32_t mask, uint64_t bytes, uint64_t limit, const char *whose)
{
    exec_raise(w, ERROR_ADDRESS, (uint32_t)__builtin_ctz(mask), 0, 0,
               "the registers of %u nested calls take %llu bytes of a warp's register stack; %s at most %llu",
               w->at.frame_depth + 1, (unsigned long long)bytes, whose, (unsigned long long)limit);
    return false;
}

static bool no_host_memory(struct exec_warp *w, uint32_t mask, uint64_t bytes)
{
    exec_raise(w, ERROR_NO_MEMORY, (uint32_t)__builtin_ctz(mask), 0, 0,
               "out of host memory: %llu bytes for %u nested calls of a warp", (unsigned long long)bytes,
               w->at.frame_depth + 1);
    return false;
}

/* False after a fault. */
static bool reserve_registers(struct exec_warp *w, uint32_t mask, uint64_t bytes)
{
    if (bytes <= w->registers_bytes)
        return true;
    if (bytes > EXEC_MOST_REGISTERS_BYTES)
        return refuse_registers(w, mask, bytes, EXEC_MOST_REGISTERS_BYTES, "it has");
    uint64_t grown = w->registers_bytes * 2 > bytes ? w->registers_bytes * 2 : bytes;
    grown = grown < EXEC_MOST_REGISTERS_BYTES ? (grown + 4095) & ~4095ull : EXEC_MOST_REGISTERS_BYTES;
    if (!may_grow(w, grown - w->registers_bytes))
        return refuse_registers(w, mask, bytes, ALL_REGISTERS_BYTES, "those of all warps together have");
    uint8_t *fresh = aligned_alloc(256, grown);
    if (!fresh)
        return no_host_memory(w, mask, grown);
    memcpy(fresh, w->registers, w->registers_bytes);
    memset(fresh + w->registers_bytes, 0, grown - w->registers_bytes);
    if (w->owns_registers)
        free(w->registers);
    w->owns_registers = true;
    w->registers = fresh;
    w->registers_bytes = grown;
    return true;
}

/* NULL after a fault. */
static struct call_frame *push_frame(struct exec_warp *w, uint32_t mask)
{
    if (w->at.frame_depth == w->at.frame_capacity) {
        uint32_t wanted = w->at.frame_capacity ? w->at.frame_capacity * 2 : 8;
        struct call_frame *grown = realloc(w->at.frames, wanted * sizeof *w->at.frames);
        if (!grown) {
            no_host_memory(w, mask, wanted * sizeof *w->at.frames);
            return NULL;
        }
        w->at.frames = grown;
        w->at.frame_capacity = wanted;
    }
    return &w->at.frames[w->at.frame_depth++];
}

/* Values of one lane */

static uint8_t *lane_local(const struct exec_warp *w, uint32_t lane, uint32_t address)
{
    return w->local + lane * exec_local_stride(w->launch) + address;
}

/* Of a register: up to 128 bits, the low word first. */
struct lane_value {
    uint64_t word[2];
};
enum { VALUE_BYTES = sizeof(struct lane_value) };

static struct lane_value read_lane(const struct exec_warp *w, const uint8_t *bank, exec_ref ref, uint32_t bits,
                                   uint32_t lane)
{
    const uint8_t *p = (ref & 3) == BANK_FRAME ? bank + (ref & ~3u) : w->bank[ref & 3] + (ref & ~3u);
    const uint64_t *wide = (const uint64_t *)p;
    if (bits == 0)
        return (struct lane_value){{*(const uint32_t *)p >> lane & 1, 0}};
    if (bits == 128)
        return (struct lane_value){{wide[lane], wide[WARP_LANES + lane]}};
    return (struct lane_value){{bits == 64 ? wide[lane] : ((const uint32_t *)p)[lane], 0}};
}

static void write_lane(uint8_t *bank, exec_ref ref, uint32_t bits, uint32_t lane, struct lane_value value)
{
    uint8_t *p = bank + (ref & ~3u);
    if (bits == 0)
        *(uint32_t *)p = (*(uint32_t *)p & ~(1u << lane)) | (uint32_t)(value.word[0] & 1) << lane;
    else if (bits <= 32)
        ((uint32_t *)p)[lane] = (uint32_t)value.word[0];
    else
        ((uint64_t *)p)[lane] = value.word[0];
    if (bits == 128)
        ((uint64_t *)p)[WARP_LANES + lane] = value.word[1];
}

/* One side of a copy: a register in a frame's bank, or a place in local memory. */
struct side {
    uint8_t *bank;
    bool in_register;
    exec_ref ref;
    uint32_t bits, address;
};

static void copy_value(struct exec_warp *w, struct side to, struct side from, uint32_t bytes, uint32_t mask)
{
    uint32_t moved = bytes < VALUE_BYTES ? bytes : VALUE_BYTES;
    FOR_EACH_LANE(mask, lane) {
        struct lane_value value = {{0}};
        if (!to.in_register && !from.in_register) {
            memmove(lane_local(w, lane, to.address), lane_local(w, lane, from.address), bytes);
            continue;
        }
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
    return (struct side){bank, v->in_register, v->ref, v->reg_bits, local_base + v->offset};
}

static struct side formal_side(uint8_t *bank, const struct exec_function *f, const struct ptx_variable *formal,
                               uint32_t offset, uint32_t local_base)
{
    if (formal->reg)
        return (struct side){bank, true, f->registers[formal->reg->index], (uint32_t)ptx_type_bits(formal->reg->type),
                             0};
    return (struct side){bank, false, 0, 0, local_base + offset};
}

static uint32_t register_bytes(const struct ptx_reg *r)
{
    uint32_t bits = (uint32_t)ptx_type_bits(r->type);
    return bits ? (bits + 7) / 8 : 1; /* a predicate takes a byte */
}

/* What a call moves: no more than the formal has, and what the caller names is at least as large (signatures_agree). */
static uint64_t value_bytes(const struct ptx_variable *formal)
{
    return formal->reg ? register_bytes(formal->reg) : formal->size_bytes;
}

/* Which of the values that a call passes, or takes, is too small for the formal it stands for; count: none. */
static uint32_t first_too_small(const struct call_value *values, struct ptx_variable *const *formals, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && (values[i].in_register || values[i].bytes >= value_bytes(formals[i])))
        i++;
    return i;
}

/* The formals of a function or of a prototype. */
struct signature {
    const char *name;
    struct ptx_variable *const *params, *const *returns;
    uint32_t param_count, return_count;
};

static struct signature signature_of(const struct ptx_function *f)
{
    return (struct signature){f->name, f->params, f->returns, f->param_count, f->return_count};
}

/* Whether a call may be made: a call that takes no result of a function that has one is legal. why: for people. */
static bool signatures_agree(const struct call_site *site, const struct signature *s, char *why, size_t why_bytes)
{
    if (site->argument_count != s->param_count) {
        snprintf(why, why_bytes, "%s takes %u parameters, %u given", s->name, s->param_count, site->argument_count);
        return false;
    }
    if (site->return_count != s->return_count && site->return_count != 0) {
        snprintf(why, why_bytes, "%s returns %u values, %u taken", s->name, s->return_count, site->return_count);
        return false;
    }
    uint32_t i = first_too_small(site->arguments, s->params, site->argument_count);
    if (i < site->argument_count) {
        snprintf(why, why_bytes, "parameter %u of %s is %llu bytes, %u given", i + 1, s->name,
                 (unsigned long long)value_bytes(s->params[i]), site->arguments[i].bytes);
        return false;
    }
    i = first_too_small(site->returns, s->returns, site->return_count);
    if (i < site->return_count)
        snprintf(why, why_bytes, "result %u of %s is %llu bytes, room for %u given", i + 1, s->name,
                 (unsigned long long)value_bytes(s->returns[i]), site->returns[i].bytes);
    return i == site->return_count;
}

static void enter(struct exec_warp *w, const struct call_site *site, uint32_t mask, const struct exec_function *callee)
{
    uint32_t base = 0;
    FOR_EACH_LANE(mask, lane)
        if (w->stack_top[lane] > base)
            base = w->stack_top[lane];
    base = (uint32_t)align_up(base, 16);
    if (capped_add(base, callee->local_bytes) > w->launch->local_bytes || w->at.frame_depth >= DEEPEST_CALLS) {
        exec_raise(w, ERROR_ADDRESS, (uint32_t)__builtin_ctz(mask), base, callee->local_bytes,
                   "the thread's stack of %u bytes is used up by %u nested calls (cuCtxSetLimit "
                   "CU_LIMIT_STACK_SIZE makes it larger)",
                   w->launch->local_bytes, w->at.frame_depth + 1);
        return;
    }
    uint64_t registers_offset =
        w->strands ? strands_registers_end(w) : w->at.registers_offset + w->at.function->frame_bytes;
    struct call_frame *frame =
        reserve_registers(w, mask, registers_offset + callee->frame_bytes) ? push_frame(w, mask) : NULL;
    if (!frame)
        return;
    *frame = (struct call_frame){w->at.function, w->pc + 1, w->pc, w->at.registers_offset, w->at.local_base, mask, {0}};
    memcpy(frame->stack_top, w->stack_top, sizeof w->stack_top);
    uint8_t *caller_bank = w->registers + w->at.registers_offset;
    uint8_t *callee_bank = w->registers + registers_offset;
    w->bank[BANK_FRAME] = caller_bank;
    for (uint32_t i = 0; i < site->argument_count && i < callee->ptx->param_count; i++) {
        const struct ptx_variable *formal = callee->ptx->params[i];
        copy_value(w, formal_side(callee_bank, callee, formal, callee->param_local_offsets[i], base),
                   caller_side(caller_bank, &site->arguments[i], w->at.local_base), (uint32_t)value_bytes(formal),
                   mask);
    }
    struct simt_entry *top = &w->at.stack[w->at.stack_depth - 1];
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
    struct call_frame *frame = &w->at.frames[--w->at.frame_depth];
    const struct exec_function *callee = w->at.function;
    const struct call_site *site = frame->function->code[frame->call_pc].extra;
    uint8_t *callee_bank = w->registers + w->at.registers_offset, *caller_bank = w->registers + frame->registers_offset;
    uint32_t mask = frame->mask & ~w->exited;
    for (uint32_t i = 0; mask && i < site->return_count && i < callee->ptx->return_count; i++) {
        const struct ptx_variable *formal = callee->ptx->returns[i];
        copy_value(w, caller_side(caller_bank, &site->returns[i], frame->local_base),
                   formal_side(callee_bank, callee, formal, callee->return_local_offsets[i], w->at.local_base),
                   (uint32_t)value_bytes(formal), mask);
    }
    FOR_EACH_LANE(frame->mask, lane)
        w->stack_top[lane] = frame->stack_top[lane];
    use_frame(w, frame->function, frame->registers_offset, frame->local_base);
}

static void run_builtin(struct exec_warp *w, const struct call_site *site, uint32_t mask)
{
    uint32_t arguments[DEVICE_CALL_ARGUMENTS];
    if (exec_withheld(w)) /* they print, and allocate */
        return;
    for (uint32_t i = 0; i < site->argument_count; i++)
        arguments[i] = w->at.local_base + site->arguments[i].offset;
    site->builtin->run(w, mask, arguments,
                       site->return_count ? w->at.local_base + site->returns[0].offset : UINT32_MAX);
    if (w->state == WARP_READY)
        simt_next(w);
}

static bool leader_target(struct exec_warp *w, const struct call_site *site, uint32_t *mask,
                          const struct exec_function **target)
{
    const uint64_t *pointers = LANES_OF(uint64_t, w, site->pointer);
    uint32_t leader = (uint32_t)__builtin_ctz(*mask), same = 0;
    FOR_EACH_LANE(*mask, lane)
        if (pointers[lane] == pointers[leader])
            same |= 1u << lane;
    const struct exec_function *f = exec_image_function_at(w->launch->image, pointers[leader]);
    if (!f || f->ptx->is_entry || !f->address_taken || !f->code) { /* an address that nothing took was made up */
        exec_raise(w, ERROR_POINTER, leader, pointers[leader], 8,
                   "call through a pointer that holds no function's address");
        return false;
    }
    char why[200];
    struct signature signature = signature_of(f->ptx);
    if (!signatures_agree(site, &signature, why, sizeof why)) {
        exec_raise(w, ERROR_POINTER, leader, pointers[leader], 8, "call through a pointer: %s", why);
        return false;
    }
    *target = f;
    *mask = same;
    return true;
}

/* Lanes that do not take part (guard, or another target) wait after the call. */
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
        struct simt_path paths[3] = {
            {caller_pc, mask}, {caller_pc, wanted & ~mask}, {caller_pc + 1, w->active & ~wanted}};
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
        *v = (struct call_value){.offset = (uint32_t)address, .bytes = (uint32_t)o->variable->size_bytes};
        return true;
    }
    if (o->kind == PTX_OPERAND_REG) {
        *v = (struct call_value){.in_register = true,
                                 .reg_bits = (uint32_t)ptx_type_bits(o->reg->type),
                                 .ref = d->function->registers[o->reg->index]};
        v->bytes = register_bytes(o->reg);
        return true;
    }
    if (o->kind == PTX_OPERAND_SINK && is_return) {
        *v = (struct call_value){.in_register = true, .reg_bits = 64, .ref = decode_scratch(d, 64)};
        return true;
    }
    if (!is_return && (o->kind == PTX_OPERAND_INT || o->kind == PTX_OPERAND_FLOAT)) {
        *v = (struct call_value){.in_register = true, .reg_bits = 64};
        return decode_src_of(d, o, o->kind == PTX_OPERAND_INT ? PTX_B64 : PTX_F64, &v->ref);
    }
    return decode_wrong(d, o, "a call passes .param variables, registers or constants");
}

static bool decode_values(struct decoder *d, const struct ptx_operand *list, bool is_return, struct call_value **values,
                          uint32_t *count)
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
    for (uint32_t i = 0; arguments && site->callee && i < site->argument_count && i < site->callee->ptx->param_count;
         i++)
        if (arguments->elements[i].kind == PTX_OPERAND_FLOAT && site->callee->ptx->params[i]->type == PTX_F32) {
            site->arguments[i].reg_bits = 32;
            if (!decode_src_of(d, &arguments->elements[i], PTX_F32, &site->arguments[i].ref))
                return false;
        }
    return true;
}

static bool check_signature(struct decoder *d, const struct call_site *site, const struct signature *s)
{
    char why[300];
    return signatures_agree(site, s, why, sizeof why) || decode_wrong(d, NULL, "%s", why);
}

/* A call through a pointer names a prototype, or the functions that it may come to. */
static bool check_table(struct decoder *d, const struct call_site *site, const struct ptx_operand *o)
{
    if (!o)
        return true; /* sizes are compared when the call is made, then as always */
    if (o->kind != PTX_OPERAND_TABLE || o->table->kind == PTX_TABLE_BRANCH)
        return decode_wrong(d, o, "expected the name of a .callprototype or a .calltargets list");
    const struct ptx_table *t = o->table;
    struct signature s = {t->name, t->params, t->returns, t->param_count, t->return_count};
    if (t->kind == PTX_TABLE_PROTOTYPE)
        return check_signature(d, site, &s);
    for (uint32_t i = 0; i < t->count; i++) {
        s = signature_of(t->functions[i]);
        if (!check_signature(d, site, &s))
            return false;
    }
    return true;
}

static bool check_callee(struct decoder *d, const struct call_site *site, const struct ptx_operand *table)
{
    if (site->builtin)
        return true;
    if (!site->callee)
        return check_table(d, site, table);
    struct signature s = signature_of(site->callee->ptx);
    return check_signature(d, site, &s);
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
        return decode_fail(d, "function %s is declared, but no module that is loaded together defines it",
                           o->function->name);
    return true;
}

static bool check_builtin(struct decoder *d, const struct call_site *site)
{
    const struct device_call *b = site->builtin;
    if (!b)
        return true;
    bool plain = site->argument_count == b->argument_count && site->return_count <= 1 &&
                 (!site->return_count || !site->returns[0].in_register);
    for (uint32_t i = 0; plain && i < site->argument_count; i++)
        plain = !site->arguments[i].in_register;
    if (!plain)
        return decode_wrong(d, NULL, "%s takes %u parameters in .param space", b->name, b->argument_count);
    for (uint32_t i = 0; i < site->argument_count; i++)
        if (site->arguments[i].bytes < b->argument_bytes[i])
            return decode_wrong(d, NULL, "parameter %u of %s is %u bytes, %u given", i + 1, b->name,
                                b->argument_bytes[i], site->arguments[i].bytes);
    if (site->return_count && site->returns[0].bytes < b->result_bytes)
        return decode_wrong(d, NULL, "the result of %s is %u bytes, room for %u given", b->name, b->result_bytes,
                            site->returns[0].bytes);
    return true;
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
    if (!decode_callee(d, callee, site) ||
        !decode_values(d, arguments, false, &site->arguments, &site->argument_count) ||
        !decode_values(d, returns, true, &site->returns, &site->return_count) || !fit_constants(d, arguments, site) ||
        !check_callee(d, site, at < count ? &operands[at] : NULL) || !check_builtin(d, site))
        return false;
    d->out->extra = site;
    d->out->kind = EXEC_CONTROL;
    d->out->fn = call_handler;
    return true;
}

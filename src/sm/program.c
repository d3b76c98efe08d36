#include "sm/program.h"

#include "base/numbers.h"
#include "exec/control.h"
#include "ptx/cfg.h"
#include "ptx/lowering.h"
#include "ptx/taint.h"
#include "sm/phases.h"

#include <stdlib.h>
#include <string.h>

enum { INST_BYTES = 8, CODE_LINE_BYTES = 128 };
#define CODE_BASE 0xf0000000ull

struct builder {
    struct arena *arena;
    struct sm_program *program;
    const struct sm_config *config;
    const struct core_code *core;
    const struct exec_function *function;
    const struct ptx_lowering *lowering; /* of the function; NULL means that instructions stay as they are written */
    uint32_t pc_base, register_base, loop_base;
    /* Registers of the instruction at hand. */
    uint32_t sources[64], destinations[64];
    uint32_t source_count, destination_count;
};

static void collect(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct builder *b = context;
    if (role == PTX_REG_USE && b->source_count < 64)
        b->sources[b->source_count++] = b->register_base + reg->index;
    else if (role == PTX_REG_DEFINE && b->destination_count < 64)
        b->destinations[b->destination_count++] = b->register_base + reg->index;
}

enum sm_memory sm_memory_of(const struct ptx_inst *in, bool is_entry)
{
    uint32_t flags = ptx_flags(in);
    if (flags & PTX_F_FENCE)
        return SM_FENCE;
    if (flags & PTX_F_TEXTURE)
        return SM_TEXTURE;
    if (in->opcode == PTX_OP_mbarrier || in->opcode == PTX_OP_ldmatrix || in->opcode == PTX_OP_stmatrix)
        return SM_SHARED;
    if (in->opcode == PTX_OP_cp)
        return SM_DEVICE;
    if (!(flags & (PTX_F_LOAD | PTX_F_STORE | PTX_F_ATOMIC)))
        return SM_NO_MEMORY;
    if (ptx_has_modifier(in, PTX_MOD_SHARED) || ptx_has_modifier(in, PTX_MOD_SHARED_CTA))
        return SM_SHARED;
    if (ptx_has_modifier(in, PTX_MOD_SHARED_CLUSTER))
        return SM_DEVICE;
    if (ptx_has_modifier(in, PTX_MOD_LOCAL))
        return SM_LOCAL;
    if (ptx_has_modifier(in, PTX_MOD_CONST) || ptx_has_modifier(in, PTX_MOD_CONST0))
        return SM_CONST;
    if (ptx_has_modifier(in, PTX_MOD_PARAM) || ptx_has_modifier(in, PTX_MOD_PARAM_ENTRY) ||
        ptx_has_modifier(in, PTX_MOD_PARAM_FUNC))
        return is_entry && (flags & PTX_F_LOAD) ? SM_CONST : SM_LOCAL;
    return SM_DEVICE;
}

/* The type that is written last, which is that of the result's arithmetic. */
static enum ptx_type last_type(const struct ptx_inst *in)
{
    if (!in->type_count)
        return PTX_NO_TYPE;
    return (enum ptx_type)in->types[in->type_count - 1];
}

static void set_row(struct sm_inst *s, const struct latency_row *row, int index)
{
    s->latency = (uint16_t)row->latency[index];
    s->initiation = (uint16_t)row->initiation[index];
}

/* If rules fma_is_mad and rem_is_div are false, these opcodes take one cycle: GPGPU-Sim forgot them. */
static bool is_forgotten(const struct sm_config *c, const struct ptx_inst *in)
{
    return (in->opcode == PTX_OP_fma && !c->fma_is_mad) || (in->opcode == PTX_OP_rem && !c->rem_is_div);
}

static const struct latency_row *row_of(const struct sm_config *c, enum ptx_type type)
{
    if (type == PTX_F64)
        return &c->double_precision;
    return ptx_type_is_float(type) ? &c->single_precision : &c->integer;
}

/* The unit of an instruction whose latency is in one of the rows. */
static enum sm_unit arithmetic_unit(const struct sm_config *c, enum ptx_latency class, enum ptx_type type)
{
    bool multiplies = class == PTX_LATENCY_MUL || class == PTX_LATENCY_MAD;
    if (class == PTX_LATENCY_DIV)
        return SM_SFU;
    if (type == PTX_F64)
        return c->dp_units ? SM_DP : SM_SFU;
    if (!multiplies || c->integer_multiply != MULTIPLY_ON_SFU)
        return SM_SP;
    if (!ptx_type_is_float(type))
        return SM_SFU;
    return class == PTX_LATENCY_MUL ? SM_SP_OR_SFU : SM_SP;
}

/* The classes of GPGPU-Sim: an instruction that is in none of them takes one cycle on an SP. */
void sm_set_cost(struct sm_inst *s, const struct ptx_inst *in, const struct sm_config *c)
{
    const struct ptx_opcode_info *op = &ptx_opcodes[in->opcode];
    enum ptx_type type = last_type(in);
    int index = (int)op->latency - (int)PTX_LATENCY_ADD;
    s->latency = s->initiation = 1;
    s->unit = SM_SP;
    if (op->unit == PTX_UNIT_MEM) {
        s->unit = SM_MEM;
        return;
    }
    if (in->opcode == PTX_OP_shfl) {
        s->latency = (uint16_t)c->shuffle_latency;
        s->initiation = (uint16_t)c->shuffle_initiation;
        return;
    }
    if (op->latency == PTX_LATENCY_SFU) {
        s->latency = (uint16_t)c->sfu_latency;
        s->initiation = (uint16_t)c->sfu_initiation;
        s->unit = SM_SFU;
        return;
    }
    if (index < 0 || index > 4 || is_forgotten(c, in))
        return;
    set_row(s, row_of(c, type), index);
    s->unit = (uint8_t)arithmetic_unit(c, op->latency, type);
    if (in->opcode == PTX_OP_mul24 || in->opcode == PTX_OP_mad24) {
        s->latency++;
        s->initiation++;
    }
}

const struct core_code gpgpusim_code = {.set_cost = sm_set_cost, .issues_twice = true};

/* Is the instruction performed by one core at a time? If it only reads or writes device memory, it can be deferred.
 * If it also moves the warp, it cannot. */
static void set_order(struct builder *b, struct sm_inst *s, const struct ptx_inst *in, const struct exec_inst *x)
{
    bool touches = s->unit == SM_MEM && (s->memory == SM_DEVICE || s->memory == SM_TEXTURE);
    if (ptx_opcodes[in->opcode].unit == PTX_UNIT_TENSOR && in->opcode == PTX_OP_wmma)
        b->program->serial = true; /* its loads and stores are not distinguished here */
    b->program->textures |= s->memory == SM_TEXTURE;
    b->program->atomics |= touches && (ptx_flags(in) & PTX_F_ATOMIC);
    if (touches && x->kind == EXEC_PLAIN && in->opcode != PTX_OP_cp)
        s->deferred = true;
    else if (touches)
        b->program->serial = true;
    s->reads_constant = s->deferred && (in->opcode == PTX_OP_tex || in->opcode == PTX_OP_tld4 ||
                                        (in->opcode == PTX_OP_ld && ptx_has_modifier(in, PTX_MOD_NC)));
    if (in->opcode == PTX_OP_call) {
        for (uint32_t i = 0; i < in->operand_count; i++)
            if (in->operands[i].kind == PTX_OPERAND_FUNCTION && device_call_find(in->operands[i].function->name))
                b->program->serial = true;
    }
    if (in->opcode == PTX_OP_mbarrier || ptx_has_modifier(in, PTX_MOD_CLUSTER) ||
        ptx_has_modifier(in, PTX_MOD_SHARED_CLUSTER))
        b->program->serial = true;
}

/* The number by which the register file finds a register's bank: in the order of declaration, or the number in its
 * name (the simulator of the papers reads it there). */
static uint32_t file_number(const struct builder *b, uint32_t reg)
{
    if (reg - b->register_base >= b->function->ptx->reg_count)
        return 0; /* next_pc */
    const char *name = b->function->ptx->regs[reg - b->register_base]->name;
    size_t digit = strcspn(name, "0123456789");
    if (b->config->banks_by_name && name[digit])
        return (uint32_t)strtoul(name + digit, NULL, 10);
    return reg;
}

/* Registers that the register file does not distinguish are read once. Puts the registers that are read first;
 * returns how many they are. */
static uint32_t read_first(const struct builder *b, uint32_t *v, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0, reg = v[i];
        while (k < first && file_number(b, v[k]) != file_number(b, reg))
            k++;
        if (k == first) {
            v[i] = v[first];
            v[first++] = reg;
        }
    }
    return first;
}

static uint32_t unique(uint32_t *v, uint32_t count)
{
    uint32_t different = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < different && v[k] != v[i])
            k++;
        if (k == different)
            v[different++] = v[i];
    }
    return different;
}

/* If rule atomics_await_address is false, a mistake of GPGPU-Sim: the registers of addresses are taken out of the
 * sources, each once. A register that is also read otherwise stays. */
static void forget_address(struct builder *b, const struct ptx_inst *in)
{
    for (uint32_t i = 0; i < in->operand_count; i++) {
        const struct ptx_operand *o = &in->operands[i];
        if (o->kind != PTX_OPERAND_ADDRESS || !o->element_count || o->elements[0].kind != PTX_OPERAND_REG)
            continue;
        uint32_t address = b->register_base + o->elements[0].reg->index, k = 0;
        while (k < b->source_count && b->sources[k] != address)
            k++;
        if (k < b->source_count)
            memmove(&b->sources[k], &b->sources[k + 1], (--b->source_count - k) * sizeof *b->sources);
    }
}

/* Where branches are awaited, a register that a branch writes and the first instruction of a basic block awaits. */
static uint32_t next_pc(const struct builder *b) { return b->register_base + b->function->ptx->reg_count; }

static bool writes_next_pc(const struct builder *b, const struct ptx_inst *in, uint32_t i)
{
    const struct ptx_lowered *l = b->lowering ? &b->lowering->insts[i] : NULL;
    if (l && (l->laid_out || l->if_taken || l->if_not_taken)) /* there is no jump */
        return false;
    return b->core->awaits_branch && b->config->branch_latency &&
           (in->opcode == PTX_OP_bra || in->opcode == PTX_OP_brx);
}

static bool awaits_next_pc(const struct builder *b, uint32_t i)
{
    const struct ptx_cfg *cfg = b->function->cfg;
    uint32_t first = cfg->blocks[cfg->block_of_inst[i]].first;
    for (uint32_t k = first; b->lowering && k < i; k++)
        if (b->lowering->insts[k].slots)
            return false;
    return b->core->awaits_branch && b->config->branch_latency && (b->lowering || i == first);
}

static void collect_registers(struct builder *b, const struct sm_inst *s, const struct ptx_inst *in, uint32_t i)
{
    b->source_count = b->destination_count = 0;
    ptx_visit_regs(b->function->ptx, in, collect, b);
    if (!b->lowering) {
        if (s->atomic && !b->config->atomics_await_address)
            forget_address(b, in);
        return;
    }
    const struct ptx_lowered *l = &b->lowering->insts[i];
    for (b->source_count = 0; b->source_count < l->read_count && b->source_count < 64; b->source_count++)
        b->sources[b->source_count] = b->register_base + b->lowering->register_of[l->reads[b->source_count]];
    for (uint32_t k = 0; k < b->destination_count; k++)
        b->destinations[k] = b->register_base + b->lowering->register_of[b->destinations[k] - b->register_base];
}

/* A move with a guard becomes a selection, which has the guard as an operand. */
static bool becomes_selection(const struct builder *b, const struct ptx_inst *in)
{
    return b->lowering && in->guard && in->opcode == PTX_OP_mov;
}

/* Special registers are read for all threads before they are selected. */
static bool awaits_guard(const struct builder *b, const struct ptx_inst *in)
{
    return in->guard && !(becomes_selection(b, in) && in->operands[1].kind == PTX_OPERAND_SPECIAL);
}

/* The register that guards an instruction; UINT32_MAX means that it has no guard. */
static uint32_t guard_of(const struct builder *b, const struct ptx_inst *in)
{
    if (!in->guard)
        return UINT32_MAX;
    if (b->lowering)
        return b->register_base + b->lowering->register_of[in->guard->index];
    return b->register_base + (uint32_t)in->guard->index;
}

static void set_registers(struct builder *b, struct sm_inst *s, const struct ptx_inst *in, uint32_t i)
{
    collect_registers(b, s, in, i);
    uint32_t guard = guard_of(b, in), sources = 0;
    if (writes_next_pc(b, in, i))
        b->destinations[b->destination_count++] = next_pc(b);
    for (uint32_t i = 0; i < b->source_count; i++) /* the collector does not read the guard */
        if (b->sources[i] != guard)
            b->sources[sources++] = b->sources[i];
    sources = unique(b->sources, sources); /* a register named twice is read once */
    b->destination_count = unique(b->destinations, b->destination_count);
    bool awaits = awaits_next_pc(b, i), guarded = awaits_guard(b, in);
    uint32_t read = read_first(b, b->sources, sources), total = sources + guarded + awaits + b->destination_count;
    uint32_t *all = arena_array(b->arena, uint32_t, total + 1);
    memcpy(all, b->sources, sources * sizeof *all);
    if (guarded)
        all[sources] = guard;
    if (awaits)
        all[sources + guarded] = next_pc(b);
    memcpy(all + total - b->destination_count, b->destinations, b->destination_count * sizeof *all);
    s->registers = all;
    s->destinations = all + total - b->destination_count;
    for (uint32_t k = 0; k < SM_CHECKS; k++)
        s->checks[k] = k < total ? all[k] : b->program->register_count;
    uint8_t *banks = arena_array(b->arena, uint8_t, total + 1);
    for (uint32_t i = 0; i < total; i++)
        banks[i] = (uint8_t)(file_number(b, all[i]) % b->config->register_banks);
    s->banks = banks;
    s->source_count = (uint8_t)smaller(read, COLLECT_OPERANDS);
    s->check_count = (uint8_t)total;
    s->destination_count = (uint8_t)b->destination_count;
    s->operands = collector_banks(banks, s->source_count);
    for (uint32_t i = total - b->destination_count; i < total; i++)
        s->written |= 1ull << banks[i];
}

/* The register of the address and what is added to it. */
static void set_address(const struct builder *b, struct heddle_instruction *v, const struct ptx_inst *in)
{
    v->address = HEDDLE_NO_REGISTER;
    for (uint32_t i = 0; i < in->operand_count; i++) {
        const struct ptx_operand *o = &in->operands[i];
        if (o->kind != PTX_OPERAND_ADDRESS || !o->element_count)
            continue;
        if (o->elements[0].kind == PTX_OPERAND_REG)
            v->address = b->register_base + o->elements[0].reg->index;
        v->offset = (int32_t)o->offset;
        return;
    }
}

static uint32_t space_flag(enum sm_memory memory)
{
    switch (memory) {
    case SM_SHARED: return HEDDLE_SHARED;
    case SM_TEXTURE: return HEDDLE_TEXTURE;
    case SM_CONST: return HEDDLE_CONST;
    default: return 0;
    }
}

static uint32_t policy_flags(const struct sm_inst *s, const struct ptx_inst *in)
{
    uint32_t written = ptx_flags(in), flags = space_flag((enum sm_memory)s->memory);
    const struct {
        bool holds;
        uint32_t flag;
    } rows[] = {
        {s->load, HEDDLE_LOAD},
        {s->store, HEDDLE_STORE},
        {s->atomic, HEDDLE_ATOMIC},
        {s->wait == WAIT_LONG, HEDDLE_LONG},
        {s->load && (s->memory == SM_DEVICE || s->memory == SM_LOCAL), HEDDLE_L1D_LOAD},
        {written & PTX_F_BRANCH, HEDDLE_BRANCH},
        {s->barrier, HEDDLE_BARRIER},
        {s->memory == SM_FENCE, HEDDLE_FENCE},
        {written & (PTX_F_EXIT | PTX_F_RET), HEDDLE_EXIT},
        {written & PTX_F_CALL, HEDDLE_CALL},
        {in->opcode == PTX_OP_bra && (!in->guard || ptx_has_modifier(in, PTX_MOD_UNI)), HEDDLE_UNIFORM},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].holds)
            flags |= rows[i].flag;
    return flags;
}

static void describe(const struct builder *b, struct heddle_instruction *v, const struct sm_inst *s,
                     const struct ptx_inst *in, uint32_t i)
{
    uint32_t target = HEDDLE_NO_PC;
    const struct ptx_cfg *cfg = b->function->cfg;
    if (in->opcode == PTX_OP_bra && in->operands[0].kind == PTX_OPERAND_LABEL)
        target = b->pc_base + in->operands[0].target;
    *v = (struct heddle_instruction){.latency = s->latency,
                                     .initiation = s->initiation,
                                     .target = target,
                                     .loop = s->loop,
                                     .line = (uint32_t)in->line,
                                     .reconvergence = HEDDLE_NO_PC};
    if (cfg->reconvergence[i] != PTX_NO_RECONVERGENCE)
        v->reconvergence = b->pc_base + cfg->reconvergence[i];
    v->flags = (uint16_t)policy_flags(s, in);
    set_address(b, v, in);
    const uint32_t *destinations = s->registers + s->check_count - s->destination_count;
    uint32_t sources = s->check_count - s->destination_count;
    v->source_count = (uint8_t)smaller(sources, HEDDLE_SOURCES);
    v->destination_count = (uint8_t)smaller(s->destination_count, HEDDLE_DESTINATIONS);
    memcpy(v->source, s->registers, v->source_count * sizeof *v->source);
    memcpy(v->destination, destinations, v->destination_count * sizeof *v->destination);
}

static uint32_t place_bytes(const struct ptx_reg *reg)
{
    uint32_t units = ptx_reg_units(reg);
    if (!units)
        return 4;
    return units * 4 * WARP_LANES;
}

/* Registers whose lives do not overlap may share a place in the frame. */
static bool share_place(const struct exec_function *f, uint32_t a, uint32_t b)
{
    uint64_t at[2], size[2];
    if (a >= f->ptx->reg_count || b >= f->ptx->reg_count) /* next_pc */
        return false;
    for (int i = 0; i < 2; i++) {
        uint32_t reg = i ? b : a;
        at[i] = f->registers[reg] & ~3u;
        size[i] = place_bytes(f->ptx->regs[reg]);
    }
    return at[0] < at[1] + size[1] && at[1] < at[0] + size[0];
}

static bool next_overwrites(const struct builder *b, const struct exec_function *f, uint32_t i)
{
    const struct sm_inst *s = &b->program->code[b->pc_base + i], *next = s + 1;
    /* The registers that it reads or writes: its own write must come first. */
    for (uint32_t d = next->check_count - next->destination_count; i + 1 < f->inst_count && d < next->check_count; d++)
        for (uint32_t k = 0; k < s->check_count; k++)
            if (share_place(f, next->registers[d] - b->register_base, s->registers[k] - b->register_base))
                return true;
    return false;
}

/* Does the instruction read a register as its guard, or as the operand of a vote? Both take as long. */
static bool reads_as_guard(const struct builder *b, const struct ptx_inst *in, uint32_t reg)
{
    if (in->opcode == PTX_OP_vote)
        return true;
    return in->guard && !becomes_selection(b, in) && reg == guard_of(b, in);
}

/* The first instruction of the block after this one that reads its result; NULL means that there is none near by. */
static const struct sm_inst *first_reader(const struct builder *b, const struct exec_function *f, uint32_t i,
                                          bool *as_guard)
{
    enum { NEAR = 16 };
    const struct sm_inst *s = &b->program->code[b->pc_base + i];
    const uint32_t *d = s->registers + s->check_count - s->destination_count;
    uint32_t block = f->cfg->block_of_inst[i];
    for (uint32_t n = i + 1; n < f->inst_count && n < i + NEAR && f->cfg->block_of_inst[n] == block; n++) {
        const struct sm_inst *next = &b->program->code[b->pc_base + n];
        for (uint32_t k = 0; next->slots && k < (uint32_t)(next->check_count - next->destination_count); k++)
            for (uint32_t m = 0; m < s->destination_count; m++)
                if (next->registers[k] == d[m]) {
                    *as_guard = reads_as_guard(b, &f->ptx->insts[n], d[m]);
                    return next;
                }
    }
    return NULL;
}

/* Once all instructions are described: counts the instructions that have vanished in front of each. */
static void skip_vanished(struct builder *b, const struct exec_function *f)
{
    struct sm_inst *code = &b->program->code[b->pc_base];
    for (uint32_t i = f->inst_count; i-- > 0;) {
        bool vanished = !code[i].slots && !code[i].branch; /* after 255 in a row one of them takes a cycle */
        code[i].skip = 0;
        if (vanished && code[i + 1].skip < UINT8_MAX)
            code[i].skip = (uint8_t)(code[i + 1].skip + 1);
        if (vanished && !code[i].skip)
            code[i].slots = 1;
    }
}

/* Adds the cycles that it costs to hand a result to another pipeline. */
static void add_crossings(struct builder *b, const struct exec_function *f)
{
    struct sm_inst *code = &b->program->code[b->pc_base];
    for (uint32_t i = 0; i < f->inst_count; i++) {
        bool as_guard = false;
        if (code[i].unit == SM_MEM)
            continue;
        const struct sm_inst *reader = first_reader(b, f, i, &as_guard);
        if (reader)
            code[i].latency = (uint16_t)(code[i].latency + b->core->crossing(&code[i], reader, as_guard));
    }
}

static void find_phases(struct builder *b, const struct exec_function *f, struct heddle_instruction *views)
{
    struct arena scratch = {0};
    struct ptx_phase *found = arena_array(&scratch, struct ptx_phase, f->inst_count + 1);
    for (enum ptx_phase_order order = 0; order < PHASE_ORDERS; order++) {
        uint32_t count = sm_find_phases(f->ptx, b->config, order, found, NULL);
        if (f == b->program->kernel && order == PHASE_SOURCES_FIRST)
            b->program->phase_count = count;
        for (uint32_t i = 0; i < f->inst_count; i++)
            views[b->pc_base + i].phase[order] = (struct heddle_phase){.number = found[i].number,
                                                                       .distance = found[i].distance,
                                                                       .length = found[i].length,
                                                                       .next_length = found[i].next_length};
    }
    for (uint32_t i = 0; f == b->program->kernel && i < f->inst_count; i++)
        b->program->phase_latencies += b->program->code[b->pc_base + i].latency;
    arena_free(&scratch);
}

/* With rule vectors_by_element, a mistake of GPGPU-Sim, a vector is coalesced by the bytes of its first element.
 * Returns these; 0 means all bytes of the vector. */
static uint32_t element_bytes(const struct sm_config *c, const struct ptx_inst *in)
{
    bool vector =
        ptx_has_modifier(in, PTX_MOD_V2) || ptx_has_modifier(in, PTX_MOD_V4) || ptx_has_modifier(in, PTX_MOD_V8);
    bool transfer = in->opcode == PTX_OP_ld || in->opcode == PTX_OP_ldu || in->opcode == PTX_OP_st;
    if (!c->vectors_by_element || !vector || !transfer || in->type_count != 1)
        return 0;
    return (uint32_t)ptx_type_bits((enum ptx_type)in->types[0]) / 8;
}

/* With rule volatile_past_l1, volatile loads go past the L1. False means that the L1 may answer them, a mistake of
 * GPGPU-Sim. */
static bool is_volatile_past_l1(const struct sm_config *c, const struct ptx_inst *in)
{
    return c->volatile_past_l1 && (ptx_has_modifier(in, PTX_MOD_CV) || ptx_has_modifier(in, PTX_MOD_VOLATILE));
}

static void find_data_branches(const struct exec_function *f, struct heddle_instruction *views)
{
    struct arena scratch = {0};
    const struct ptx_taints *taints = ptx_taint_build(&scratch, f->ptx, f->cfg);
    for (uint32_t i = 0; i < f->inst_count; i++)
        if ((views[i].flags & HEDDLE_BRANCH) && !(views[i].flags & HEDDLE_UNIFORM) && taints->of[i] == PTX_TAINT_D)
            views[i].flags |= HEDDLE_DATA_BRANCH;
    arena_free(&scratch);
}

static void set_slots(const struct builder *b, struct sm_inst *s, uint32_t i)
{
    s->slots = 1;
    s->adds_up = ptx_can_add_up(&b->function->ptx->insts[i]) ? PTX_ADDS_ALL : PTX_ADDS_NOTHING;
    if (!b->lowering)
        return;
    const struct ptx_lowered *l = &b->lowering->insts[i];
    s->slots = l->laid_out ? 0 : l->slots;
    s->adds_up = l->adds_up;
    if (l->adds_up && b->core->set_adding_cost)
        b->core->set_adding_cost(s);
    s->if_taken = l->if_taken;
    s->if_not_taken = l->if_not_taken;
    if (l->laid_out) /* a jump to the instruction that follows */
        s->latency = s->initiation = s->interval = 1;
}

static void add_function(struct builder *b, const struct exec_function *f, struct heddle_instruction *views)
{
    const struct ptx_cfg *cfg = f->cfg;
    b->function = f;
    b->lowering = b->config->lowers ? ptx_lower(b->arena, f->ptx) : NULL;
    b->program->base_of_function[f->index] = b->pc_base;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *in = &f->ptx->insts[i];
        struct sm_inst *s = &b->program->code[b->pc_base + i];
        uint32_t flags = ptx_flags(in);
        s->memory = (uint8_t)sm_memory_of(in, f->ptx->is_entry);
        b->core->set_cost(s, in, b->config);
        set_slots(b, s, i);
        s->load = (flags & PTX_F_LOAD) || in->opcode == PTX_OP_cp;
        s->store = flags & PTX_F_STORE;
        s->atomic = flags & PTX_F_ATOMIC;
        s->takes_turns = s->atomic && in->type_count && ptx_type_is_float((enum ptx_type)in->types[0]);
        s->barrier = flags & PTX_F_BARRIER;
        s->exit = flags & (PTX_F_EXIT | PTX_F_RET);
        s->moves_frame = flags & (PTX_F_CALL | PTX_F_RET);
        s->branch = flags & (PTX_F_BRANCH | PTX_F_CALL | PTX_F_RET | PTX_F_EXIT);
        s->past_l1 = ptx_has_modifier(in, PTX_MOD_CG) || is_volatile_past_l1(b->config, in);
        s->element_bytes = (uint8_t)element_bytes(b->config, in);
        bool answered = s->load || s->atomic;
        s->l1_load = answered && (s->memory == SM_DEVICE || s->memory == SM_LOCAL);
        s->wait = s->l1_load || (answered && s->memory == SM_TEXTURE) ? WAIT_LONG : WAIT_SHORT;
        set_registers(b, s, in, i);
        set_order(b, s, in, &f->code[i]);
        int32_t loop = cfg->blocks[cfg->block_of_inst[i]].loop;
        s->loop = loop == PTX_NO_LOOP ? -1 : loop + (int32_t)b->loop_base;
        describe(b, &views[b->pc_base + i], s, in, i);
    }
    if (b->lowering)
        skip_vanished(b, f);
    if (b->lowering && b->core->choose_pipelines)
        b->core->choose_pipelines(&b->program->code[b->pc_base], f, b->lowering);
    if (b->core->crossing)
        add_crossings(b, f);
    for (uint32_t i = 0; i < f->inst_count; i++)
        b->program->code[b->pc_base + i].next_waits =
            b->program->code[b->pc_base + i].deferred && next_overwrites(b, f, i);
    find_data_branches(f, &views[b->pc_base]);
    find_phases(b, f, views);
    struct heddle_loop *loops = (struct heddle_loop *)(uintptr_t)b->program->view.loops;
    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        const struct ptx_loop *l = &cfg->loops[i];
        uint32_t header = cfg->blocks[l->header_block].first;
        loops[b->loop_base + i] =
            (struct heddle_loop){.begin = b->pc_base + l->begin,
                                 .end = b->pc_base + l->end,
                                 .header = b->pc_base + header,
                                 .parent = l->parent == PTX_NO_LOOP ? -1 : l->parent + (int32_t)b->loop_base,
                                 .depth = l->depth};
        b->program->code[b->pc_base + header].loop_header = true;
    }
    b->pc_base += f->inst_count;
    b->register_base += f->ptx->reg_count + b->core->awaits_branch;
    b->loop_base += cfg->loop_count;
}

struct sm_program *sm_program_create(struct arena *a, const struct exec_function *kernel,
                                     const struct sm_config *config)
{
    const struct exec_image *image = kernel->image;
    struct sm_program *p = arena_new(a, struct sm_program);
    uint32_t loops = 0;
    p->kernel = kernel;
    p->base_of_function = arena_array(a, uint32_t, image->function_count);
    p->code_address = CODE_BASE;
    for (uint32_t i = 0; i < image->function_count; i++) {
        const struct exec_function *f = image->functions[i];
        p->base_of_function[i] = UINT32_MAX;
        uint64_t bytes = (uint64_t)f->inst_count * INST_BYTES;
        if (!config->code_packed)
            bytes = (bytes + CODE_LINE_BYTES - 1) / CODE_LINE_BYTES * CODE_LINE_BYTES;
        if (i < kernel->index) /* code lies in the order of the image */
            p->code_address += bytes;
        if (!exec_may_run(kernel, f))
            continue;
        p->count += f->inst_count;
        p->register_count += f->ptx->reg_count + core_code_of(config)->awaits_branch;
        loops += f->cfg->loop_count;
    }
    struct heddle_instruction *views = arena_array(a, struct heddle_instruction, p->count + 1);
    p->code = arena_array(a, struct sm_inst, p->count + 1);
    p->view = (struct heddle_program){.kernel = kernel->name,
                                      .instructions = views,
                                      .instruction_count = p->count,
                                      .loops = arena_array(a, struct heddle_loop, loops + 1),
                                      .loop_count = loops};
    struct builder b = {.arena = a, .program = p, .config = config, .core = core_code_of(config)};
    add_function(&b, kernel, views);
    for (uint32_t i = 0; i < image->function_count; i++)
        if (image->functions[i] != kernel && exec_may_run(kernel, image->functions[i]))
            add_function(&b, image->functions[i], views);
    return p;
}

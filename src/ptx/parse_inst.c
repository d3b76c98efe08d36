/* Instructions: guard, name with its suffixes, operands (PTX ISA 4.3.2, 9.2 to 9.4). What the suffixes mean together is
 * not judged here. */
#include "ptx/parser.h"

#include <string.h>

enum { LONGEST_SPELLING = 240, MOST_OPERANDS = 255, MODIFIER_BASE = 0x10000 };

static void add_suffix(struct parser *p, struct spelling *s, const struct token *word)
{
    struct token bare = *word; /* without the dot, for the tables and for messages */
    bare.text++;
    bare.length--;
    int found = table_suffix(p, bare.text, bare.length);
    if (found == 0) {
        token_error(p, word, "unknown suffix '%.*s' of '%s'%s", shown(word), word->text, ptx_opcodes[s->opcode].name,
                    suggest_suffix(p, &bare));
    } else if (found >= MODIFIER_BASE) {
        if (s->modifier_count == PTX_MAX_MODIFIERS)
            token_error(p, word, "more than %d suffixes", PTX_MAX_MODIFIERS);
        else
            s->modifiers[s->modifier_count++] = (uint16_t)(found - MODIFIER_BASE);
    } else if (s->type_count == PTX_MAX_TYPES) {
        token_error(p, word, "more than %d types", PTX_MAX_TYPES);
    } else {
        s->type_position[s->type_count] = s->modifier_count;
        s->types[s->type_count++] = (uint8_t)found;
    }
}

static bool set_opcode(struct parser *p, struct spelling *s, const struct token *name)
{
    int opcode = table_opcode(p, name->text, name->length);
    if (opcode < 0)
        return token_error(p, name, "unknown instruction '%.*s'%s", shown(name), name->text, suggest_opcode(p, name));
    s->opcode = (enum ptx_opcode)opcode;
    return true;
}

/* The suffixes in [name end, end): written without blanks, so that columns follow from places. */
static void add_suffixes(struct parser *p, struct spelling *s, const struct token *name, const char *end)
{
    const char *at = name->text + name->length;
    while (at < end && !parser_failed(p)) {
        const char *next = memchr(at + 1, '.', (size_t)(end - at - 1));
        if (!next)
            next = end;
        struct token word = {.kind = TOKEN_DOT,
                             .text = at,
                             .length = (uint32_t)(next - at),
                             .line = name->line,
                             .column = name->column + (int)(at - name->text)};
        add_suffix(p, s, &word);
        at = next;
    }
}

/* "mov .u32": blanks between a name and its suffixes. The result is not kept for the next time; nobody writes so
 * twice. */
static const struct spelling *parse_loose_spelling(struct parser *p, const struct spelling *start)
{
    struct spelling *s = arena_new(p->arena, struct spelling);
    *s = *start;
    while (lexer_peek(&p->lx) == '.' && !parser_failed(p)) {
        lexer_next(&p->lx);
        struct token word = *current(p);
        if (word.kind != TOKEN_DOT) {
            unexpected(p, "a suffix");
            break;
        }
        add_suffix(p, s, &word);
        s->text = arena_printf(p->arena, "%s%.*s", s->text, (int)word.length, word.text);
    }
    return s;
}

static const struct spelling *parse_spelling(struct parser *p)
{
    struct token name = *current(p);
    const char *end = lexer_suffix_end(&p->lx, name.text + name.length);
    size_t length = (size_t)(end - name.text);
    const struct spelling *known = strmap_get(&p->spellings, name.text, length);
    if (!known) {
        struct spelling *s = arena_new(p->arena, struct spelling);
        if (!set_opcode(p, s, &name))
            return NULL;
        if (length > LONGEST_SPELLING) {
            token_error(p, &name, "instruction name longer than %d characters", LONGEST_SPELLING);
            return NULL;
        }
        add_suffixes(p, s, &name, end);
        s->text = arena_strndup(p->arena, name.text, length);
        strmap_put(&p->spellings, s->text, length, s);
        known = s;
    }
    if (end > p->lx.at)
        lexer_seek(&p->lx, end);
    if (lexer_peek(&p->lx) == '.')
        known = parse_loose_spelling(p, known);
    lexer_next(&p->lx);
    return known;
}

/* "t + 1" as a source: real assemblers add the constant first, as an integer, in an instruction of its own. */
static void add_constant(struct parser *p)
{
    struct ptx_operand *source = (struct ptx_operand *)p->operands.items + p->operands.count - 1;
    struct token plus = *current(p);
    int bits = source->kind == PTX_OPERAND_REG ? ptx_type_bits(source->reg->type) : 0;
    if (source->kind != PTX_OPERAND_REG || source->negated || source->selector >= 0)
        return;
    if (ptx_type_is_float(source->reg->type) || (bits != 16 && bits != 32 && bits != 64)) {
        token_error(p, &plus, "a constant can be added to an integer register of 16, 32 or 64 bits only");
        return;
    }
    enum ptx_type type = bits == 16 ? PTX_U16 : bits == 32 ? PTX_U32 : PTX_U64;
    struct ptx_operand *operands = arena_array(p->arena, struct ptx_operand, 3);
    operands[1] = *source;
    operands[0] = operands[2] =
        (struct ptx_operand){.kind = PTX_OPERAND_REG, .selector = -1, .line = plus.line, .column = plus.column};
    operands[0].reg = new_reg(p, "(sum)", type, 1);
    operands[2].kind = PTX_OPERAND_INT;
    operands[2].integer = parse_offset(p);
    struct spelling s = {.text = bits == 16   ? "add.u16"
                                 : bits == 32 ? "add.u32"
                                              : "add.u64",
                         .opcode = PTX_OP_add,
                         .type_count = 1,
                         .types = {(uint8_t)type}};
    push_instruction(p, &s, operands, 3, &plus);
    ((struct ptx_operand *)p->operands.items)[p->operands.count - 1] = operands[0];
}

/* after: instructions that are to follow this one. */
static void parse_operands(struct parser *p, const struct ptx_inst *in, struct vector *after)
{
    enum ptx_opcode opcode = in->opcode;
    switch (opcode) {
    case PTX_OP_call: parse_call(p, in, after); return;
    case PTX_OP_bra: push_label(p, FIX_LABEL); return;
    case PTX_OP_brx:
        parse_operand(p, opcode);
        expect(p, ',');
        push_label(p, FIX_TABLE);
        return;
    default:
        if (at_symbol(p, ';'))
            return;
        bool is_source = ptx_opcodes[opcode].flags & PTX_F_NO_DEST;
        do {
            parse_operand(p, opcode);
            if (is_source && at_symbol(p, '+'))
                add_constant(p);
            is_source = true;
        } while (accept(p, ','));
    }
}

/* Where the memory operand of an instruction stands, or -1. */
static int address_position(enum ptx_opcode opcode)
{
    uint32_t flags = ptx_opcodes[opcode].flags;
    if (!(flags & (PTX_F_LOAD | PTX_F_STORE | PTX_F_ATOMIC)))
        return -1;
    return flags & PTX_F_NO_DEST ? 0 : 1;
}

static void operand_error(struct parser *p, const struct ptx_inst *in, uint32_t i, const char *expected)
{
    const struct ptx_operand *o = &in->operands[i];
    parse_error(p, ERROR_SYNTAX, o->line, o->column, "operand %u of '%s': expected %s", i + 1, in->spelling, expected);
}

static bool can_be_written(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_REG || o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_PAIR ||
           o->kind == PTX_OPERAND_SINK;
}

static void check_kinds(struct parser *p, const struct ptx_inst *in)
{
    const struct ptx_opcode_info *info = &ptx_opcodes[in->opcode];
    bool computes = info->unit == PTX_UNIT_SP || info->unit == PTX_UNIT_SFU || info->unit == PTX_UNIT_DP ||
                    info->flags & PTX_F_LOAD;
    if (computes && !(info->flags & PTX_F_NO_DEST)) {
        if (in->operand_count == 0)
            parse_error(p, ERROR_SYNTAX, in->line, in->column, "'%s' has no operands; expected a destination",
                        in->spelling);
        else if (!can_be_written(&in->operands[0]))
            operand_error(p, in, 0, "a register to write to");
    }
    int address = address_position(in->opcode);
    if (address < 0 || parser_failed(p))
        return;
    if (in->operand_count <= address)
        parse_error(p, ERROR_SYNTAX, in->line, in->column, "'%s' has too few operands; expected an address",
                    in->spelling);
    else if (in->operands[address].kind != PTX_OPERAND_ADDRESS)
        operand_error(p, in, (uint32_t)address, "an address in brackets, [...]");
}

static void fill_instruction(struct parser *p, struct ptx_inst *in, const struct spelling *s)
{
    in->opcode = s->opcode;
    in->spelling = s->text;
    in->type_count = s->type_count;
    in->modifier_count = s->modifier_count;
    memcpy(in->types, s->types, sizeof in->types);
    memcpy(in->type_position, s->type_position, sizeof in->type_position);
    memcpy(in->modifiers, s->modifiers, sizeof in->modifiers);
    in->source_file = p->source_file;
    in->source_line = p->source_line;
    in->source_column = p->source_column;
    in->nounroll = p->nounroll;
    p->nounroll = false;
}

struct ptx_inst make_instruction(struct parser *p, const struct spelling *s, struct ptx_operand *operands,
                                 uint8_t count, const struct token *at)
{
    struct ptx_inst in = {.line = at->line, .column = at->column, .operands = operands, .operand_count = count};
    fill_instruction(p, &in, s);
    return in;
}

void push_instruction(struct parser *p, const struct spelling *s, struct ptx_operand *operands, uint8_t count,
                      const struct token *at)
{
    *(struct ptx_inst *)vector_push(&p->insts, sizeof(struct ptx_inst)) = make_instruction(p, s, operands, count, at);
}

/* cvt may read a special register, as mov may. Those that change while a warp runs are read by a mov in front of it. */
static void read_special_first(struct parser *p, struct ptx_inst *in)
{
    struct ptx_operand *source = in->operand_count == 2 ? &in->operands[1] : NULL;
    if (in->opcode != PTX_OP_cvt || !source || source->kind != PTX_OPERAND_SPECIAL || source->special < PTX_SREG_CLOCK)
        return;
    enum ptx_type type = ptx_special_type(source->special);
    struct token at = {.line = source->line, .column = source->column};
    struct ptx_operand *operands = arena_array(p->arena, struct ptx_operand, 2);
    operands[1] = *source;
    operands[0] = (struct ptx_operand){.kind = PTX_OPERAND_REG, .selector = -1, .line = at.line, .column = at.column};
    operands[0].reg = new_reg(p, ptx_special_name(source->special), type, 1);
    struct spelling s = {.text = "mov", .opcode = PTX_OP_mov, .type_count = 1, .types = {(uint8_t)type}};
    push_instruction(p, &s, operands, 2, &at);
    *source = operands[0];
}

void parse_instruction(struct parser *p)
{
    struct ptx_inst in = {.line = current(p)->line, .column = current(p)->column};
    if (accept(p, '@')) {
        in.guard_negated = accept(p, '!');
        in.guard = parse_predicate_reg(p);
    }
    if (current(p)->kind != TOKEN_NAME) {
        unexpected(p, "an instruction");
        return;
    }
    const struct spelling *s = parse_spelling(p);
    if (!s || parser_failed(p))
        return;
    fill_instruction(p, &in, s);
    struct token first = *current(p);
    p->operands.count = 0;
    struct vector after = {0};
    parse_operands(p, &in, &after);
    expect(p, ';');
    uint32_t count;
    in.operands = keep_operands(p, 0, &count);
    if (count > MOST_OPERANDS)
        token_error(p, &first, "more than %d operands", MOST_OPERANDS);
    in.operand_count = (uint8_t)count;
    if (!parser_failed(p)) {
        check_kinds(p, &in);
        read_special_first(p, &in);
        *(struct ptx_inst *)vector_push(&p->insts, sizeof in) = in;
        for (size_t i = 0; i < after.count; i++)
            *(struct ptx_inst *)vector_push(&p->insts, sizeof in) = ((struct ptx_inst *)after.items)[i];
    }
    vector_free(&after);
}

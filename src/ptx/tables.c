/* The word lists of PTX: opcodes, types, other suffixes, special registers. The .def files are the lists; this file
 * looks things up in them. */
#include "ptx/parser.h"

#include <string.h>

const struct ptx_opcode_info ptx_opcodes[PTX_OPCODE_COUNT] = {
#define OP(name, integer, floating, unit, latency, flags) \
    {#name, PTX_UNIT_##unit, PTX_LATENCY_##latency, PTX_F_##flags},
#include "ptx/instructions.def"
#undef OP
};

static const struct {
    const char *name;
    int bits;
} types[PTX_TYPE_COUNT] = {
    {"", 0},
#define TYPE(id, text, bits) {text, bits},
#include "ptx/types.def"
#undef TYPE
};

static const char *const modifiers[PTX_MODIFIER_COUNT] = {
    "",
#define MODIFIER(id, text) text,
#include "ptx/modifiers.def"
#undef MODIFIER
};

static const struct {
    const char *name;
    enum ptx_type type;
} specials[PTX_SPECIAL_COUNT] = {
#define SPECIAL(id, text, type) {text, PTX_##type},
#include "ptx/specials.def"
#undef SPECIAL
};

const char *ptx_type_name(enum ptx_type t) { return t < PTX_TYPE_COUNT ? types[t].name : ""; }

int ptx_type_bits(enum ptx_type t)
{
    return t < PTX_TYPE_COUNT && t != PTX_TEXREF && t != PTX_SAMPLERREF && t != PTX_SURFREF ? types[t].bits : 0;
}

bool ptx_type_is_float(enum ptx_type t)
{
    switch (t) {
    case PTX_F16:
    case PTX_F16X2:
    case PTX_BF16:
    case PTX_BF16X2:
    case PTX_TF32:
    case PTX_F32:
    case PTX_F32X2:
    case PTX_F64: return true;
    default:
        return types[t < PTX_TYPE_COUNT ? t : 0].name[0] == 'e' ||
               strncmp(types[t < PTX_TYPE_COUNT ? t : 0].name, "ue", 2) == 0;
    }
}

bool ptx_type_is_signed(enum ptx_type t)
{
    return t < PTX_TYPE_COUNT && types[t].name[0] == 's' && t != PTX_SAMPLERREF && t != PTX_SURFREF;
}

const char *ptx_modifier_name(enum ptx_modifier m) { return m < PTX_MODIFIER_COUNT ? modifiers[m] : ""; }

const char *ptx_special_name(enum ptx_special s) { return s < PTX_SPECIAL_COUNT ? specials[s].name : ""; }

enum ptx_type ptx_special_type(enum ptx_special s) { return s < PTX_SPECIAL_COUNT ? specials[s].type : PTX_NO_TYPE; }

enum { MODIFIER_BASE = 0x10000, VECTOR_SPECIAL = 0x10000 };

static void put(struct strmap *map, const char *key, size_t length, uintptr_t value)
{
    strmap_put(map, key, length, (void *)value);
}

static uintptr_t get(struct strmap *map, const char *key, size_t length)
{
    return (uintptr_t)strmap_get(map, key, length);
}

/* "%tid.x" is entered as "%tid" too: the name of the vector of four. */
static void put_special(struct parser *p, size_t i)
{
    const char *name = specials[i].name;
    size_t length = strlen(name);
    put(&p->specials, name, length, i + 1);
    if (length > 2 && strcmp(name + length - 2, ".x") == 0)
        put(&p->specials, name, length - 2, (i + 1) | VECTOR_SPECIAL);
}

void tables_fill(struct parser *p)
{
    for (size_t i = 0; i < PTX_OPCODE_COUNT; i++)
        put(&p->opcodes, ptx_opcodes[i].name, strlen(ptx_opcodes[i].name), i + 1);
    for (size_t i = 1; i < PTX_TYPE_COUNT; i++)
        put(&p->suffixes, types[i].name, strlen(types[i].name), i);
    /* After the types: as a suffix of an instruction the opaque types are plain words (istypep.texref). */
    for (size_t i = 1; i < PTX_MODIFIER_COUNT; i++)
        put(&p->suffixes, modifiers[i], strlen(modifiers[i]), i + MODIFIER_BASE);
    for (size_t i = 0; i < PTX_SPECIAL_COUNT; i++)
        put_special(p, i);
}

int table_suffix(struct parser *p, const char *word, size_t length)
{
    if (length > 6 && memcmp(word, "const[", 6) == 0) /* constant banks of PTX 1.x: Heddle has one space */
        return PTX_MOD_CONST + MODIFIER_BASE;
    return (int)get(&p->suffixes, word, length);
}

enum ptx_type table_type(struct parser *p, const char *word, size_t length)
{
    int found = table_suffix(p, word, length);
    switch (found) {
    case PTX_MOD_TEXREF + MODIFIER_BASE: return PTX_TEXREF;
    case PTX_MOD_SAMPLERREF + MODIFIER_BASE: return PTX_SAMPLERREF;
    case PTX_MOD_SURFREF + MODIFIER_BASE: return PTX_SURFREF;
    default: return found < PTX_TYPE_COUNT ? (enum ptx_type)found : PTX_NO_TYPE;
    }
}

int table_opcode(struct parser *p, const char *word, size_t length) { return (int)get(&p->opcodes, word, length) - 1; }

int table_special(struct parser *p, const char *word, size_t length)
{
    return (int)(get(&p->specials, word, length) & (VECTOR_SPECIAL - 1)) - 1;
}

bool table_special_is_vector(struct parser *p, const char *word, size_t length)
{
    return get(&p->specials, word, length) & VECTOR_SPECIAL;
}

const char *suggest_suffix(struct parser *p, const struct token *t)
{
    const char *names[PTX_TYPE_COUNT + PTX_MODIFIER_COUNT];
    size_t count = 0;
    for (size_t i = 1; i < PTX_MODIFIER_COUNT; i++)
        names[count++] = modifiers[i];
    for (size_t i = 1; i < PTX_TYPE_COUNT; i++)
        names[count++] = types[i].name;
    return suggest(p, t, names, count);
}

const char *suggest_opcode(struct parser *p, const struct token *t)
{
    const char *names[PTX_OPCODE_COUNT];
    for (size_t i = 0; i < PTX_OPCODE_COUNT; i++)
        names[i] = ptx_opcodes[i].name;
    return suggest(p, t, names, PTX_OPCODE_COUNT);
}

bool ptx_has_modifier(const struct ptx_inst *in, enum ptx_modifier m)
{
    for (int i = 0; i < in->modifier_count; i++)
        if (in->modifiers[i] == m)
            return true;
    return false;
}

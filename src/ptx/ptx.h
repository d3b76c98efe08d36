/* A PTX module after parsing: plain data, all of it in the module's arena. PTX ISA 1.4 to 9.0.
 *
 * An instruction keeps its suffixes as two ordered lists, types and modifiers, so that this room needs no knowledge of
 * what each instruction means; exec/ decodes them and refuses what it cannot run. */
#ifndef HEDDLE_PTX_PTX_H
#define HEDDLE_PTX_PTX_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strmap.h"

#include <stdbool.h>
#include <stdint.h>

enum ptx_type {
    PTX_NO_TYPE,
#define TYPE(id, text, bits) PTX_##id,
#include "ptx/types.def"
#undef TYPE
    PTX_TYPE_COUNT
};

enum ptx_modifier {
    PTX_NO_MODIFIER,
#define MODIFIER(id, text) PTX_MOD_##id,
#include "ptx/modifiers.def"
#undef MODIFIER
    PTX_MODIFIER_COUNT
};

enum ptx_opcode {
#define OP(name, integer, floating, unit, latency, flags) PTX_OP_##name,
#include "ptx/instructions.def"
#undef OP
    PTX_OPCODE_COUNT
};

enum ptx_special {
#define SPECIAL(id, text, type) PTX_SREG_##id,
#include "ptx/specials.def"
#undef SPECIAL
    PTX_SPECIAL_COUNT
};

/* Which unit executes an instruction, and which row of the machine's latency table it reads. */
enum ptx_unit { PTX_UNIT_SP, PTX_UNIT_SFU, PTX_UNIT_DP, PTX_UNIT_MEM, PTX_UNIT_TENSOR, PTX_UNIT_CONTROL };
enum ptx_latency {
    PTX_LATENCY_SIMPLE,
    PTX_LATENCY_ADD,
    PTX_LATENCY_MAX,
    PTX_LATENCY_MUL,
    PTX_LATENCY_MAD,
    PTX_LATENCY_DIV,
    PTX_LATENCY_SFU,
    PTX_LATENCY_MEM
};

/* Flags of an opcode (column 'flags' of instructions.def). */
enum {
    PTX_F_NONE = 0,
    PTX_F_BRANCH = 1 << 0, /* bra, brx: ends a basic block */
    PTX_F_EXIT = 1 << 1,   /* exit, trap: ends a thread (trap: the launch) */
    PTX_F_RET = 1 << 2,
    PTX_F_CALL = 1 << 3,
    PTX_F_BARRIER = 1 << 4, /* waits for other warps of the block */
    PTX_F_LOAD = 1 << 5,
    PTX_F_STORE = 1 << 6,
    PTX_F_ATOMIC = 1 << 7,
    PTX_F_NO_DEST = 1 << 8, /* the first operand is a source (st, red, bar, prefetch, ...) */
    PTX_F_FENCE = 1 << 9,
    PTX_F_TEXTURE = 1 << 10,
    PTX_F_WARP = 1 << 11, /* reads other lanes of the warp */
};

struct ptx_opcode_info {
    const char *name; /* as written: "mul24", "cp.async" is opcode cp with modifier async */
    enum ptx_unit unit;
    enum ptx_latency latency;
    uint32_t flags;
};
extern const struct ptx_opcode_info ptx_opcodes[PTX_OPCODE_COUNT];

const char *ptx_type_name(enum ptx_type t);         /* "f32", without the dot */
int ptx_type_bits(enum ptx_type t);                 /* 0 for pred and opaque types */
bool ptx_type_is_float(enum ptx_type t);            /* f16 bf16 f32 f64 tf32 and the packed ones */
bool ptx_type_is_signed(enum ptx_type t);           /* s8 .. s64, s16x2 */
const char *ptx_modifier_name(enum ptx_modifier m); /* without the dot */
const char *ptx_special_name(enum ptx_special s);   /* "%tid.x" */
enum ptx_type ptx_special_type(enum ptx_special s);

enum ptx_space {
    PTX_SPACE_NONE,
    PTX_SPACE_REG,
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED,
    PTX_SPACE_TEX
};

/* A register of a function: r.index counts scalar registers; a vector register .v2/.v4 takes 2 or 4 consecutive
 * ones. */
struct ptx_reg {
    const char *name; /* as written, "%r12"; unique only within its scope */
    enum ptx_type type;
    uint8_t
        vector; /* 1, 2 or 4: length of the vector register this is the first scalar of; 0 for the others of a vector */
    uint32_t index; /* into ptx_function.regs */
};

/* One word of an initialiser that holds an address, to be filled in when the module is placed. */
struct ptx_relocation {
    uint32_t offset, size_bytes; /* in the variable; size 1, 2, 4 or 8 */
    const char *symbol;
    int64_t addend;
    bool generic;  /* generic(symbol) */
    uint64_t mask; /* mask(...) of the 8-bit forms, all ones otherwise */
    uint8_t shift; /* of the 8-bit forms: low bit of mask */
};

enum ptx_linkage { PTX_LINK_INTERNAL, PTX_LINK_VISIBLE, PTX_LINK_EXTERN, PTX_LINK_WEAK, PTX_LINK_COMMON };

/* A variable or a parameter. */
struct ptx_variable {
    const char *name; /* as the source has it; never NULL (parameters '_' of prototypes: "_") */
    enum ptx_space space;
    enum ptx_linkage linkage;
    enum ptx_type type; /* element type; texref, samplerref, surfref are opaque types */
    uint8_t vector;     /* 1, 2, 4 (8): elements of the type a vector */
    uint32_t align_bytes;
    uint64_t count; /* vectors, product of the array dimensions; 1 for a scalar */
    bool is_array;  /* a dimension was written, even [1] or [] */
    bool unsized;   /* [] with no initialiser: extern shared, or an extern declaration */
    uint64_t size_bytes;
    uint8_t *init; /* NULL: zeros; else size_bytes */
    struct ptx_relocation *relocations;
    uint32_t relocation_count;
    bool managed;        /* .attribute(.managed) */
    struct ptx_reg *reg; /* parameters declared in .reg space: the register */
    uint8_t parts;       /* parameters: this one and those after it are so many scalars of one vector register; 0:
                          * it is whole, or not the first */
    uint32_t function;   /* index of the function that declares it, or UINT32_MAX: module scope */
    int line, column;
};

enum ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REG,      /* reg; vector component already resolved to its scalar register. A whole .v2/.v4 register:
                             elements lists its scalars (kind VECTOR) */
    PTX_OPERAND_INT,      /* integer constant (also WARP_SZ); also holds true/false predicates */
    PTX_OPERAND_FLOAT,    /* 1.0, 0f..., 0d...: bits of a double in .float64; from 0f: exactly the float's bits too
                             (.float32_bits, is_float32) */
    PTX_OPERAND_SPECIAL,  /* special register */
    PTX_OPERAND_SYMBOL,   /* variable's address plus offset: mov %rd, sym+4 */
    PTX_OPERAND_FUNCTION, /* name of a function (call, mov of its address) */
    PTX_OPERAND_LABEL,    /* branch target: instruction index */
    PTX_OPERAND_TABLE,    /* .branchtargets / .calltargets / .callprototype label */
    PTX_OPERAND_ADDRESS,  /* [base + offset]; base is elements[0] (REG, SYMBOL, INT or SPECIAL). tex/surf: elements[0]
                             handle, elements[1] optional sampler, last: coordinates */
    PTX_OPERAND_VECTOR,   /* {a, b, ...} */
    PTX_OPERAND_PAIR,     /* d|p : elements[0], elements[1] */
    PTX_OPERAND_LIST,     /* ( a, b, ... ) of call. A call always has the operands LIST of returns, target (FUNCTION or
                           * REG), LIST of arguments (both     lists possibly empty), and a TABLE where one is given */
    PTX_OPERAND_SINK,     /* _ */
};

/* Selectors of the SIMD video instructions (.b3210, .h32, .b7): this bit, how many digits were written less one in bits
 * 12-13, and the digits, three bits each, the last one written in bits 0-2. */
enum { PTX_SELECTOR_MANY = 1 << 14 };

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated; /* !p, or -a in forms that allow it */
    bool is_float32;
    int16_t selector; /* video instructions: .b0-.b3 = 0..3, .h0 .h1 = 4, 5; -1 none; others: see PTX_SELECTOR_MANY */
    int line, column;
    union {
        struct ptx_reg *reg;
        int64_t integer; /* INT */
        double float64;
        enum ptx_special special;
        struct ptx_variable *variable;
        struct ptx_function *function; /* FUNCTION; may be a declaration */
        uint32_t target;               /* LABEL: instruction index */
        struct ptx_table *table;
    };
    uint32_t float32_bits;
    int64_t offset; /* SYMBOL, ADDRESS: byte offset */
    struct ptx_operand *elements;
    uint32_t element_count;
};

/* .branchtargets, .calltargets, .callprototype */
struct ptx_table {
    const char *name;
    enum { PTX_TABLE_BRANCH, PTX_TABLE_CALL, PTX_TABLE_PROTOTYPE } kind;
    uint32_t *targets;               /* BRANCH: instruction indices */
    struct ptx_function **functions; /* CALL */
    uint32_t count;
    struct ptx_variable **params, **returns; /* PROTOTYPE */
    uint32_t param_count, return_count;
};

enum { PTX_MAX_MODIFIERS = 12, PTX_MAX_TYPES = 5 };

/* What ptx_unroll made of an instruction, for those who count machine instructions. */
enum ptx_unrolled {
    PTX_AS_WRITTEN,
    PTX_UNROLLED_FREE,  /* has none of its own: a test that stands for a part of another */
    PTX_UNROLLED_ENTRY, /* the branch in front of a loop that was unrolled: pays for finding out how often */
};

/* Of a branch: the way that leads to a place where threads wait for others (ptx/meeting.h). */
enum { PTX_MEETS_IF_TAKEN = 1, PTX_MEETS_IF_NOT = 2 };

struct ptx_inst {
    enum ptx_opcode opcode;
    uint8_t type_count, modifier_count, operand_count;
    uint8_t types[PTX_MAX_TYPES];          /* enum ptx_type, in order of writing */
    uint8_t type_position[PTX_MAX_TYPES];  /* how many modifiers were written before each type */
    uint16_t modifiers[PTX_MAX_MODIFIERS]; /* enum ptx_modifier, in order */
    struct ptx_reg *guard;                 /* @p, or NULL */
    bool guard_negated;
    bool nounroll;    /* .pragma "nounroll" stands before it, where its block begins a loop */
    uint8_t unrolled; /* enum ptx_unrolled */
    uint8_t meets;    /* PTX_MEETS_... */
    struct ptx_operand *operands;
    const char *spelling;                             /* "ld.global.nc.v4.f32" */
    int line, column;                                 /* in the PTX text */
    uint32_t source_file, source_line, source_column; /* of the .loc in force; 0: none */
};

struct ptx_function {
    const char *name;
    bool is_entry, is_declaration, noreturn;
    enum ptx_linkage linkage;
    struct ptx_variable **params, **returns;
    uint32_t param_count, return_count;
    uint32_t param_bytes;    /* entry: size of the parameter block, with natural alignment */
    uint32_t *param_offsets; /* entry: of each parameter in it */
    struct ptx_reg **regs;   /* all scalar registers, by index; of %r<N> those that are named somewhere */
    uint32_t reg_count;
    struct ptx_variable **variables; /* .local, .shared, .param and the rest declared inside */
    uint32_t variable_count;
    struct ptx_inst *insts;
    uint32_t inst_count;
    /* Sorted by target. Every branch goes to an instruction: a body that runs or jumps to its end gets a 'ret' there. A
     * label that nothing jumps to (debug data has such) may follow the last instruction. */
    struct ptx_label {
        const char *name;
        uint32_t target;
    } * labels;
    uint32_t label_count;
    uint32_t maxntid[3], reqntid[3]; /* 0: not given */
    uint32_t minnctapersm, maxnctapersm, maxnreg;
    uint32_t reqnctapercluster[3], maxclusterrank;
    bool explicitcluster;
    uint32_t index; /* into ptx_module.functions */
    int line, column;
    struct ptx_function *written; /* before ptx_unroll changed it; NULL: it is as written */
};

struct ptx_module {
    struct arena arena;
    struct source source; /* a copy of the text, for messages */
    int version_major, version_minor;
    const char *target; /* "sm_75" */
    int target_sm;      /* 75 */
    bool debug_target, texmode_independent;
    int address_size; /* 32 or 64; 64 where not given */
    struct ptx_function **functions;
    uint32_t function_count;
    struct ptx_variable **variables; /* module scope */
    uint32_t variable_count;
    struct ptx_file {
        uint32_t number;
        const char *name;
    } * files; /* .file */
    uint32_t file_count;
    struct strmap symbols; /* name -> struct ptx_symbol */
};

struct ptx_symbol {
    struct ptx_function *function;
    struct ptx_variable *variable;
}; /* one of the two */

/* Parses NUL-free text of size bytes (a trailing NUL is dropped). NULL and *e on error. name is for messages
 * ("kernel.ptx"). */
struct ptx_module *ptx_parse(const char *name, const char *text, size_t size_bytes, struct error *e);
void ptx_module_free(struct ptx_module *m);
struct ptx_function *ptx_find_function(const struct ptx_module *m, const char *name);
struct ptx_variable *ptx_find_variable(const struct ptx_module *m, const char *name); /* module scope */

/* Conveniences on instructions. */
bool ptx_has_modifier(const struct ptx_inst *in, enum ptx_modifier m);
static inline uint32_t ptx_flags(const struct ptx_inst *in) { return ptx_opcodes[in->opcode].flags; }
/* Writes an operand or a whole instruction back as text (for inspect and messages); returns the length as snprintf
 * does. */
int ptx_print_inst(char *out, size_t size, const struct ptx_function *f, const struct ptx_inst *in);

#endif

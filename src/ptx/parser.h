/* What the files of the parser share. Private to ptx/.
 *
 * The parser reports one error, the first. From then on the lexer gives TOKEN_END only and parser_failed() is true; the
 * functions below return something harmless, so that callers need not test after every step. */
#ifndef HEDDLE_PTX_PARSER_H
#define HEDDLE_PTX_PARSER_H

#include "ptx/lexer.h"
#include "ptx/ptx.h"

enum { DEEPEST_SCOPE = 250, DEEPEST_EXPRESSION = 200, NEAREST_NAMES = 4000 };

/* A growing array of plain items, in heap memory until its final size is known. */
struct vector {
    void *items;
    size_t count, capacity;
};

void *vector_push(struct vector *v, size_t item_bytes); /* zeroed */
void vector_grow(struct vector *v, size_t bytes);       /* of bytes: at least that many */
void vector_free(struct vector *v);
void *vector_keep(struct arena *a, const struct vector *v,
                  size_t item_bytes); /* a copy in the arena; NULL where empty */

/* %r<100>: one entry for a hundred names. The registers come into being when they are first named. */
struct reg_range {
    uint32_t count;
    enum ptx_type type;
    uint8_t vector;
    struct ptx_reg **regs;
};

/* Names live in two separate rooms of the same table: %r, and %r<100>. */
enum name_room { ROOM_NAME, ROOM_RANGE, ROOM_COUNT };

struct binding {
    enum { BIND_REG, BIND_RANGE, BIND_VARIABLE, BIND_LABEL, BIND_TABLE } kind;
    enum name_room room;
    int depth, line;
    struct name_slot *slot;
    struct binding *shadowed, *next_in_scope;
    struct binding *next_numbered; /* of a plain name that ends in a number: see name_slot */
    union {
        struct ptx_reg *reg;
        struct reg_range *range;
        struct ptx_variable *variable;
        struct ptx_table *table;
        struct {
            uint32_t target, label, group; /* group: the first of the function's labels with the same target */
        };
    };
};

struct name_slot {
    const char *name;
    uint32_t length, number;         /* number: what the digits at its end say */
    struct name_slot *base;          /* of the name without those digits; NULL: it has none */
    struct binding *top[ROOM_COUNT]; /* innermost first */
    struct binding *numbered;        /* plain names that are this one and a number, the last bound first */
};

/* An operand, or an entry of a table, that names something not yet seen. */
struct fixup {
    enum { FIX_LABEL, FIX_TABLE, FIX_SYMBOL, FIX_FUNCTION, FIX_BRANCH_ENTRY, FIX_CALL_ENTRY, FIX_INITIALISER } kind;
    const char *name;
    uint32_t length;
    int line, column;
    struct ptx_operand *operand;
    struct ptx_table *table;
    uint32_t entry;
    struct name_slot *slot; /* of a label */
    struct fixup *next;     /* in the module */
};

struct scope {
    struct binding *bindings;
    size_t first_use; /* of the uses of labels that are not yet found, the first one inside */
};

/* A spelled-out instruction name, decoded once. */
struct spelling {
    const char *text;
    enum ptx_opcode opcode;
    uint8_t type_count, modifier_count;
    uint8_t types[PTX_MAX_TYPES], type_position[PTX_MAX_TYPES];
    uint16_t modifiers[PTX_MAX_MODIFIERS];
};

struct alias {
    struct token alias, aliasee;
};

struct parser {
    struct lexer lx;
    struct ptx_module *m;
    struct arena *arena;
    struct strmap opcodes, suffixes, specials; /* words of the tables -> index + 1 */
    struct strmap spellings;                   /* -> struct spelling */
    struct strmap slots;                       /* -> struct name_slot */
    struct scope scopes[DEEPEST_SCOPE + 1];
    int depth;   /* 0: module scope */
    int nesting; /* of expressions and initialisers */
    uint64_t declared_regs, initialised_bytes;
    struct vector functions, variables, files, aliases; /* of the module */
    struct fixup *module_fixups;                        /* last use first */
    struct ptx_function *f;                             /* being parsed, or NULL */
    struct vector regs, locals, insts, labels;          /* of f */
    struct vector label_used;                           /* a byte for each of labels */
    struct vector label_uses;                           /* struct fixup *, of labels not yet found, first use first */
    uint32_t label_group;                               /* of the last label */
    uint32_t last_target;                               /* highest instruction index some branch goes to */
    struct vector operands;                             /* a stack: operands of the instruction being read */
    uint32_t source_file, source_line, source_column;   /* .loc */
    bool nounroll;                                      /* .pragma, of the next instruction */
};

/* parser.c: basic steps */
bool parser_failed(const struct parser *p);
bool parse_error(struct parser *p, enum error_kind kind, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool token_error(struct parser *p, const struct token *t, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool unexpected(struct parser *p, const char *expected); /* "expected X, found Y" at the current token */
static inline struct token *current(struct parser *p) { return &p->lx.token; }
struct token take(struct parser *p); /* the current token; moves on */
bool at_symbol(struct parser *p, int symbol);
bool accept(struct parser *p, int symbol);
bool expect(struct parser *p, int symbol);
bool at_dot(struct parser *p, const char *word); /* word with its dot */
bool accept_dot(struct parser *p, const char *word);
struct token expect_name(struct parser *p, const char *what);
uint32_t expect_count(struct parser *p, const char *what); /* constant expression, 0 .. 2^32 - 1 */
char *token_text(struct parser *p, const struct token *t); /* copy in the arena */
int shown(const struct token *t);                          /* length to print in a message */
/* "; did you mean 'x'?" or nothing, in the arena. */
const char *suggest(struct parser *p, const struct token *t, const char *const *names, size_t count);

/* tables.c */
void tables_fill(struct parser *p);
enum ptx_type table_type(struct parser *p, const char *word,
                         size_t length);                             /* without the dot; PTX_NO_TYPE where it is none */
int table_suffix(struct parser *p, const char *word, size_t length); /* type, or 0x10000 + modifier; 0: neither */
int table_opcode(struct parser *p, const char *word, size_t length); /* -1: none */
int table_special(struct parser *p, const char *word,
                  size_t length); /* -1: none; "%tid" gives %tid.x: see table_special_is_vector */
bool table_special_is_vector(struct parser *p, const char *word, size_t length);
const char *suggest_suffix(struct parser *p, const struct token *t);
const char *suggest_opcode(struct parser *p, const struct token *t);

/* scope.c */
void scope_open(struct parser *p);
void scope_close(struct parser *p);
struct binding *scope_bind(struct parser *p, enum name_room room, const struct token *name,
                           int kind); /* NULL where it is a duplicate */
struct binding *scope_bind_range(struct parser *p, const struct token *name, uint32_t count, enum ptx_type type,
                                 uint8_t vector);
struct binding *scope_find(const struct parser *p, const struct token *name); /* NULL: no name of the function */
struct name_slot *scope_slot(struct parser *p, const struct token *name);     /* for looking at it again later */
struct binding *scope_find_at(const struct name_slot *slot);
struct ptx_reg *scope_find_reg(struct parser *p, const struct token *name); /* NULL: no register of that name */
const char *binding_kind(const struct binding *b);                          /* "register", "label", ... */
struct ptx_reg *new_reg(struct parser *p, const char *name, enum ptx_type type, uint8_t vector);
bool undefined_name(struct parser *p, const struct token *name, const char *what);

/* fixup.c */
struct fixup *new_fixup(struct parser *p, int kind, const struct token *name);
bool fixup_of_label(struct parser *p, struct fixup *fix); /* false: it waits, and is applied when its scope closes */
void fixup_in_module(struct parser *p, struct fixup *fix);
void resolve_labels(struct parser *p, const struct scope *s); /* s: the one that closes */
void resolve_module_fixups(struct parser *p);

/* expr.c */
struct constant {
    bool is_float, is_unsigned, is_float32;
    int64_t integer;
    uint32_t float32_bits;
    double float64;
};
struct constant parse_constant(struct parser *p); /* a whole expression */
int64_t parse_integer(struct parser *p);          /* one that must be an integer */
int64_t parse_offset(struct parser *p); /* any number of "+ constant" and "- constant"; 0 where there is none */
bool starts_constant(struct parser *p);

/* parse_operand.c */
void parse_operand(struct parser *p, enum ptx_opcode opcode); /* pushes one operand */
struct ptx_operand *push_operand(struct parser *p, enum ptx_operand_kind kind, const struct token *t);
struct ptx_operand *keep_operands(struct parser *p, size_t from,
                                  uint32_t *count); /* pops down to from, copies to the arena */
void push_label(struct parser *p, int fixup_kind);
struct ptx_reg *parse_predicate_reg(struct parser *p);

/* parse_inst.c */
void parse_instruction(struct parser *p);
/* An instruction that the source does not spell. */
struct ptx_inst make_instruction(struct parser *p, const struct spelling *s, struct ptx_operand *operands,
                                 uint8_t count, const struct token *at);
/* Adds such an instruction, in front of the one being read. */
void push_instruction(struct parser *p, const struct spelling *s, struct ptx_operand *operands, uint8_t count,
                      const struct token *at);

/* parse_call.c */
/* Pushes the operands of a call. Values that change their shape on the way do so in instructions in front of it and in
 * those of `after`, which are to follow it. */
void parse_call(struct parser *p, const struct ptx_inst *call, struct vector *after);

/* parse_variable.c */
enum ptx_space space_of(const struct token *t); /* PTX_SPACE_NONE where the dot word is no space */
void parse_variables(struct parser *p, enum ptx_linkage linkage);
uint32_t parse_parameters(struct parser *p, struct ptx_variable ***out, bool bind);
void parse_attribute(struct parser *p, bool *managed);

/* parse_init.c */
struct shape {
    uint64_t dims[17]; /* of the array, then the vector's length where there is one */
    int dim_count;
    bool first_open; /* name[] = ... */
};
void parse_initialiser(struct parser *p, struct ptx_variable *v, struct shape *shape);

/* parse_function.c, parse_table.c, parse_directive.c */
void parse_function(struct parser *p, enum ptx_linkage linkage);
void parse_table(struct parser *p, const struct token *label);
void parse_loc(struct parser *p);
void parse_file(struct parser *p);
void parse_section(struct parser *p);
void parse_pragma(struct parser *p);
bool add_symbol(struct parser *p, const char *name, struct ptx_function *f, struct ptx_variable *v);

#endif

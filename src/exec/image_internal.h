/* Between image.c, symbols.c, call_graph.c, layout.c, registers.c and decode_function.c. */
#ifndef HEDDLE_EXEC_IMAGE_INTERNAL_H
#define HEDDLE_EXEC_IMAGE_INTERNAL_H

#include "exec/decode_state.h"

struct ptx_liveness;

/* Where a variable is: for shared and local ones that depends on the function that uses it; NULL: the same for all. */
struct variable_place {
    const struct ptx_variable *variable;
    const struct exec_function *function;
    uint64_t address;
};

struct layout {
    struct variable_place *places; /* open addressing; variable NULL: free */
    uint32_t slots, count;
    const struct ptx_variable *too_large; /* the first that no machine has room for */
};

void layout_put(struct layout *l, const struct ptx_variable *v, const struct exec_function *f, uint64_t address);
bool layout_get(const struct layout *l, const struct ptx_variable *v, const struct exec_function *f, uint64_t *address);
/* The variable at an offset in a kernel's shared memory, and how far into it; NULL: none is known. */
const struct ptx_variable *layout_shared_at(const struct exec_image *image, const struct exec_function *kernel,
                                            uint64_t offset, uint64_t *into);
/* Places all variables of the image and fills the functions' sizes; initialises the global ones. */
bool layout_image(struct exec_image *image, struct error *e);
/* The variable that an extern declaration stands for, or itself. */
const struct ptx_variable *layout_definition(const struct exec_image *image, const struct ptx_variable *v);

/* Fills registers and frame_bytes. */
void registers_place(struct exec_image *image, struct exec_function *f, const struct ptx_liveness *live);

/* The definition of a function by name, own module first; NULL: none. */
struct exec_function *image_definition(const struct exec_image *image, const struct ptx_module *module,
                                       const char *name);

/* Where functions seem to be for those who take their address. */
uint64_t image_function_address(uint32_t index);

/* call_graph.c. Which functions must be right and decoded for a kernel, by index; NULL: for all. The caller's. */
bool *call_graph_needed(const struct exec_image *image, const struct exec_function *kernel);
/* What a function needs includes what the functions need that it may call: registers, stack, whether it recurs. */
void call_graph_sum_up(struct exec_image *image);
/* The operand that says what is called. */
const struct ptx_operand *call_graph_callee(const struct ptx_inst *in);

/* Visits every operand of an instruction, nested ones too. */
typedef void operand_visitor(void *context, const struct ptx_operand *o);
void visit_operands(const struct ptx_operand *operands, uint32_t count, operand_visitor *visit, void *context);

static inline uint64_t align_up(uint64_t value, uint32_t align) { return (value + align - 1) / align * align; }

#endif

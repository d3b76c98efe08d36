/* Instructions back to text: canonical spacing, constants as bits, so that reading the line again gives the same
 * instruction. */
#include "ptx/ptx.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct printer {
    char *out;
    size_t size;
    int length;
    const struct ptx_function *f;
};

__attribute__((format(printf, 2, 3))) static void print(struct printer *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t used = (size_t)p->length < p->size ? (size_t)p->length : p->size;
    int n = vsnprintf(p->out ? p->out + used : NULL, p->size - used, format, args);
    va_end(args);
    if (n > 0)
        p->length += n;
}

/* Labels are sorted by target. */
static const char *label_name(const struct ptx_function *f, uint32_t target)
{
    uint32_t low = 0, high = f ? f->label_count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->labels[middle].target < target)
            low = middle + 1;
        else
            high = middle;
    }
    return f && low < f->label_count && f->labels[low].target == target ? f->labels[low].name : NULL;
}

static void print_operand(struct printer *p, const struct ptx_operand *o);

static void print_elements(struct printer *p, const struct ptx_operand *o, uint32_t from, const char *between)
{
    for (uint32_t i = from; i < o->element_count; i++) {
        if (i > from)
            print(p, "%s", between);
        print_operand(p, &o->elements[i]);
    }
}

static void print_offset(struct printer *p, int64_t offset)
{
    if (offset)
        print(p, "%+" PRId64, offset);
}

static void print_selector(struct printer *p, int selector)
{
    if (selector < 0)
        return;
    if (!(selector & PTX_SELECTOR_MANY)) {
        print(p, selector < 4 ? ".b%d" : ".h%d", selector < 4 ? selector : selector - 4);
        return;
    }
    int digits = (selector >> 12 & 3) + 1, largest = 0;
    for (int i = 0; i < digits; i++)
        largest = (selector >> 3 * i & 7) > largest ? selector >> 3 * i & 7 : largest;
    print(p, digits == 2 && largest < 4 ? ".h" : ".b");
    for (int i = digits - 1; i >= 0; i--)
        print(p, "%d", selector >> 3 * i & 7);
}

static void print_float(struct printer *p, const struct ptx_operand *o)
{
    uint64_t bits;
    memcpy(&bits, &o->float64, sizeof bits);
    if (o->is_float32)
        print(p, "0f%08" PRIX32, o->float32_bits);
    else
        print(p, "0d%016" PRIX64, bits);
}

static void print_label(struct printer *p, uint32_t target)
{
    const char *name = label_name(p->f, target);
    if (name)
        print(p, "%s", name);
    else
        print(p, "<instruction %" PRIu32 ">", target);
}

static void print_address(struct printer *p, const struct ptx_operand *o)
{
    print(p, "[");
    if (o->element_count) {
        print_operand(p, &o->elements[0]);
        print_offset(p, o->offset);
        if (o->element_count > 1)
            print(p, ", ");
        print_elements(p, o, 1, ", ");
    }
    print(p, "]");
}

static void print_enclosed(struct printer *p, const struct ptx_operand *o, const char *open, const char *close)
{
    print(p, "%s", open);
    print_elements(p, o, 0, ", ");
    print(p, "%s", close);
}

static void print_operand(struct printer *p, const struct ptx_operand *o)
{
    if (o->negated)
        print(p, o->kind == PTX_OPERAND_REG && o->reg->type == PTX_PRED ? "!" : "-");
    switch (o->kind) {
    case PTX_OPERAND_NONE: break;
    case PTX_OPERAND_REG:
        print(p, "%s", o->reg->name);
        print_selector(p, o->selector);
        break;
    case PTX_OPERAND_INT: print(p, "%" PRId64, o->integer); break;
    case PTX_OPERAND_FLOAT: print_float(p, o); break;
    case PTX_OPERAND_SPECIAL: print(p, "%s", ptx_special_name(o->special)); break;
    case PTX_OPERAND_SYMBOL:
        print(p, "%s", o->variable->name);
        print_offset(p, o->offset);
        break;
    case PTX_OPERAND_FUNCTION: print(p, "%s", o->function->name); break;
    case PTX_OPERAND_LABEL: print_label(p, o->target); break;
    case PTX_OPERAND_TABLE: print(p, "%s", o->table->name); break;
    case PTX_OPERAND_ADDRESS: print_address(p, o); break;
    case PTX_OPERAND_VECTOR: print_enclosed(p, o, "{", "}"); break;
    case PTX_OPERAND_PAIR: print_elements(p, o, 0, "|"); break;
    case PTX_OPERAND_LIST: print_enclosed(p, o, "(", ")"); break;
    case PTX_OPERAND_SINK: print(p, "_"); break;
    }
}

/* A call's empty lists are left out. */
static bool is_shown(const struct ptx_operand *o) { return o->kind != PTX_OPERAND_LIST || o->element_count > 0; }

int ptx_print_inst(char *out, size_t size, const struct ptx_function *f, const struct ptx_inst *in)
{
    struct printer p = {.out = size ? out : NULL, .size = size, .f = f};
    if (size)
        out[0] = '\0';
    if (in->guard)
        print(&p, "@%s%s ", in->guard_negated ? "!" : "", in->guard->name);
    print(&p, "%s", in->spelling);
    bool first = true;
    for (int i = 0; i < in->operand_count; i++) {
        if (!is_shown(&in->operands[i]))
            continue;
        print(&p, first ? " " : ", ");
        print_operand(&p, &in->operands[i]);
        first = false;
    }
    print(&p, ";");
    return p.length;
}

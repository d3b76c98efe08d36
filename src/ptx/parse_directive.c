/* Directives that carry no code: .loc, .file, .section, .pragma (PTX ISA 11.5). Source lines are kept; DWARF data is
 * checked for form and dropped. */
#include "ptx/parser.h"

/* .loc FILE LINE COLUMN [, function_name LABEL[+N] , inlined_at FILE LINE COLUMN] */
void parse_loc(struct parser *p)
{
    lexer_next(&p->lx);
    p->source_file = expect_count(p, "the number of a file");
    p->source_line = expect_count(p, "a line number");
    p->source_column = current(p)->kind == TOKEN_INTEGER ? expect_count(p, "a column") : 0;
    while (accept(p, ',')) {
        struct token word = expect_name(p, "function_name or inlined_at");
        if (parser_failed(p))
            return;
        if (token_is(&word, "function_name")) {
            if (current(p)->kind == TOKEN_DOT) /* .debug_str + offset */
                lexer_next(&p->lx);
            else
                expect_name(p, "the label of a name");
            parse_offset(p);
        } else if (token_is(&word, "inlined_at")) {
            for (int i = 0; i < 3; i++)
                expect_count(p, "a file, a line and a column");
        } else {
            token_error(p, &word, "expected function_name or inlined_at, found '%.*s'", shown(&word), word.text);
        }
    }
}

/* .file NUMBER "NAME" [, TIMESTAMP, SIZE] */
void parse_file(struct parser *p)
{
    lexer_next(&p->lx);
    uint32_t number = expect_count(p, "the number of a file");
    if (current(p)->kind != TOKEN_STRING) {
        unexpected(p, "the name of a file in quotes");
        return;
    }
    struct token name = take(p);
    while (accept(p, ','))
        expect_count(p, "a time or a size");
    struct ptx_file *file = vector_push(&p->files, sizeof *file);
    file->number = number;
    file->name = token_text(p, &name);
}

/* .b8 1, 2, label, label+4, label1-label2 */
static void skip_data(struct parser *p)
{
    lexer_next(&p->lx);
    do {
        bool name = current(p)->kind == TOKEN_NAME || current(p)->kind == TOKEN_DOT;
        if (!name && !starts_constant(p)) {
            unexpected(p, "a number or a label");
            return;
        }
        if (!name) {
            parse_constant(p);
            continue;
        }
        lexer_next(&p->lx);
        while (at_symbol(p, '+') || at_symbol(p, '-')) {
            lexer_next(&p->lx);
            if (current(p)->kind == TOKEN_NAME || current(p)->kind == TOKEN_INTEGER)
                lexer_next(&p->lx);
            else
                unexpected(p, "a number or a label");
        }
    } while (accept(p, ','));
}

/* .section NAME { .b8 ... label: ... } */
void parse_section(struct parser *p)
{
    lexer_next(&p->lx);
    if (current(p)->kind != TOKEN_DOT && current(p)->kind != TOKEN_NAME)
        unexpected(p, "the name of a section");
    lexer_next(&p->lx);
    if (accept(p, ',')) { /* ".section .debug_info, "", @progbits" as some assemblers write it */
        lexer_skip_line(&p->lx);
        lexer_next(&p->lx);
        return;
    }
    expect(p, '{');
    while (!at_symbol(p, '}') && !parser_failed(p)) {
        if (current(p)->kind == TOKEN_NAME) {
            lexer_next(&p->lx);
            expect(p, ':');
        } else if (current(p)->kind == TOKEN_DOT) {
            skip_data(p);
            accept(p, ';');
        } else {
            unexpected(p, "data of a section, or '}'");
        }
    }
    expect(p, '}');
}

/* .pragma "nounroll", "...": hints to the assembler. */
void parse_pragma(struct parser *p)
{
    lexer_next(&p->lx);
    do {
        if (current(p)->kind != TOKEN_STRING) {
            unexpected(p, "a string");
            return;
        }
        p->nounroll |= token_is(current(p), "nounroll");
        lexer_next(&p->lx);
    } while (accept(p, ','));
    expect(p, ';');
}

#include "mutate.h"

#include "plan.h"
#include "ptx/ptx.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { SPACE, WORD, SUFFIX, REGISTER, NUMBER, SIGN };
struct token {
    const char *at;
    uint32_t length;
    enum kind kind;
};

enum { MOST_TOKENS = 60000, MOST_CHANGES = 4, MADE_BYTES = 4096 };

/* The text as a list of words that is changed and then written. Words point into the text, the tables, or `made`. */
struct list {
    struct token tokens[MOST_TOKENS];
    uint32_t count;
    char made[MADE_BYTES];
    uint32_t made_bytes;
    uint64_t random;
};

static uint32_t below(struct list *l, uint32_t limit)
{
    l->random = l->random * 6364136223846793005u + 1442695040888963407u;
    return limit ? (uint32_t)(l->random >> 33) % limit : 0;
}

/* ---- from text to words and back ---- */

static bool of_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static struct token next_token(const char *text, size_t size)
{
    struct token t = {text, 1, SIGN};
    size_t n = 1;
    if (isspace((unsigned char)*text)) {
        while (n < size && isspace((unsigned char)text[n]))
            n++;
        t.kind = SPACE;
    } else if (size > 1 && text[0] == '/' && text[1] == '/') {
        while (n < size && text[n] != '\n')
            n++;
        t.kind = SPACE;
    } else if (of_name(*text) || ((*text == '%' || *text == '.') && size > 1 && of_name(text[1]))) {
        while (n < size &&
               (of_name(text[n]) || (text[n] == ':' && n + 2 < size && text[n + 1] == ':' && of_name(text[n + 2])) ||
                (text[n] == ':' && text[n - 1] == ':')))
            n++;
        t.kind = *text == '.' ? SUFFIX : *text == '%' ? REGISTER : isdigit((unsigned char)*text) ? NUMBER : WORD;
    }
    t.length = (uint32_t)n;
    return t;
}

static void read_tokens(struct list *l, const char *text, size_t size)
{
    l->count = 0;
    for (size_t at = 0; at < size && l->count < MOST_TOKENS; at += l->tokens[l->count++].length)
        l->tokens[l->count] = next_token(text + at, size - at);
}

static size_t write_tokens(const struct list *l, char *out, size_t room)
{
    size_t size = 0;
    for (uint32_t i = 0; i < l->count && size + l->tokens[i].length <= room; i++) {
        memcpy(out + size, l->tokens[i].at, l->tokens[i].length);
        size += l->tokens[i].length;
    }
    return size;
}

static struct token word(const char *text, enum kind kind)
{
    return (struct token){text, (uint32_t)strlen(text), kind};
}

/* A word that is in no table. */
static struct token made(struct list *l, enum kind kind, const char *format, const char *text)
{
    int length = snprintf(l->made + l->made_bytes, MADE_BYTES - l->made_bytes, format, text);
    if (length <= 0 || (uint32_t)length >= MADE_BYTES - l->made_bytes)
        return word("0", NUMBER);
    struct token t = {l->made + l->made_bytes, (uint32_t)length, kind};
    l->made_bytes += (uint32_t)length + 1;
    return t;
}

static bool is(const struct token *t, const char *text)
{
    return t->length == strlen(text) && memcmp(t->at, text, t->length) == 0;
}

/* ---- where things are ---- */

/* A word of this kind, or l->count. With `behind`, one that follows such a word. */
static uint32_t find(struct list *l, enum kind kind, const char *behind)
{
    uint32_t from = below(l, l->count);
    for (uint32_t n = 0; n < l->count; n++) {
        uint32_t i = (from + n) % l->count;
        if (l->tokens[i].kind == kind && (!behind || (i >= 2 && is(&l->tokens[i - 2], behind))))
            return i;
    }
    return l->count;
}

/* A statement: behind a ';', '{' or '}' up to its own ';'. */
struct span {
    uint32_t first, end;
};

static bool closes(const struct token *t)
{
    return t->kind == SIGN && (*t->at == ';' || *t->at == '{' || *t->at == '}');
}

static struct span find_statement(struct list *l)
{
    uint32_t from = below(l, l->count);
    for (uint32_t n = 0; n < l->count; n++) {
        uint32_t i = (from + n) % l->count;
        if (!closes(&l->tokens[i]))
            continue;
        uint32_t end = i + 1;
        while (end < l->count && !closes(&l->tokens[end]))
            end++;
        if (end < l->count && *l->tokens[end].at == ';')
            return (struct span){i + 1, end + 1};
    }
    return (struct span){0, 0};
}

static void replace(struct list *l, uint32_t first, uint32_t end, const struct token *by, uint32_t count)
{
    if (l->count - (end - first) + count > MOST_TOKENS)
        return;
    memmove(&l->tokens[first + count], &l->tokens[end], (l->count - end) * sizeof *l->tokens);
    if (count)
        memcpy(&l->tokens[first], by, count * sizeof *by);
    l->count = l->count - (end - first) + count;
}

static void put(struct list *l, uint32_t at, struct token t)
{
    if (at < l->count)
        l->tokens[at] = t;
}

/* ---- words ---- */

static struct token some_suffix(struct list *l)
{
    if (below(l, 2))
        return made(l, SUFFIX, ".%s", ptx_type_name((enum ptx_type)below(l, PTX_TYPE_COUNT)));
    return made(l, SUFFIX, ".%s", ptx_modifier_name((enum ptx_modifier)below(l, PTX_MODIFIER_COUNT)));
}

static struct token some_number(struct list *l)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "2",
                                          "3",
                                          "4",
                                          "7",
                                          "8",
                                          "15",
                                          "16",
                                          "17",
                                          "31",
                                          "32",
                                          "33",
                                          "63",
                                          "64",
                                          "65",
                                          "127",
                                          "128",
                                          "255",
                                          "256",
                                          "1023",
                                          "1024",
                                          "1025",
                                          "4095",
                                          "4096",
                                          "65535",
                                          "65536",
                                          "1048576",
                                          "16777216",
                                          "2147483647",
                                          "2147483648",
                                          "4294967295",
                                          "4294967296",
                                          "9223372036854775807",
                                          "0xffffffffffffffff",
                                          "0x8000000000000000",
                                          "0xfffffffffffffff8",
                                          "0x7ffffffffffffff0",
                                          "0xffffffff",
                                          "0f7f800000",
                                          "0f00000001",
                                          "0fffc00000",
                                          "0dfff0000000000000",
                                          "0d7fefffffffffffff",
                                          "1.5"};
    return word(numbers[below(l, sizeof numbers / sizeof numbers[0])], NUMBER);
}

static void change_opcode(struct list *l)
{
    struct span s = find_statement(l);
    for (uint32_t i = s.first; i < s.end; i++)
        if (l->tokens[i].kind == WORD) {
            put(l, i, word(ptx_opcodes[below(l, PTX_OPCODE_COUNT)].name, WORD));
            return;
        }
}

static void change_suffix(struct list *l)
{
    uint32_t i = find(l, SUFFIX, NULL);
    struct token t = some_suffix(l);
    switch (below(l, 4)) {
    case 0: replace(l, i, i < l->count ? i + 1 : i, NULL, 0); break;
    case 1: replace(l, i, i, &t, i < l->count); break;
    default: put(l, i, t); break;
    }
}

/* One of the text's own of the same kind, or one of all. */
static void change_register(struct list *l)
{
    uint32_t i = find(l, REGISTER, NULL), other = find(l, REGISTER, NULL);
    if (i == l->count)
        return;
    put(l, i,
        below(l, 8) ? l->tokens[other]
                    : word(ptx_special_name((enum ptx_special)below(l, PTX_SPECIAL_COUNT)), REGISTER));
}

static void change_number(struct list *l) { put(l, find(l, NUMBER, NULL), some_number(l)); }

/* A name for another: labels, functions, variables, parameters. */
static void change_name(struct list *l)
{
    uint32_t i = find(l, WORD, NULL), other = find(l, WORD, NULL);
    if (i < l->count)
        put(l, i, l->tokens[other]);
}

static void drop_statement(struct list *l)
{
    struct span s = find_statement(l);
    replace(l, s.first, s.end, NULL, 0);
}

static void copy_statement(struct list *l)
{
    struct span from = find_statement(l), to = find_statement(l);
    uint32_t count = from.end - from.first;
    struct token *copy = malloc((count + 1) * sizeof *copy);
    if (!copy)
        return;
    memcpy(copy, &l->tokens[from.first], count * sizeof *copy);
    replace(l, to.first, to.first, copy, count);
    free(copy);
}

static void guard_statement(struct list *l)
{
    struct span s = find_statement(l);
    uint32_t reg = find(l, REGISTER, NULL);
    if (reg == l->count || s.first == s.end)
        return;
    struct token guard[] = {word(below(l, 2) ? "\n@" : "\n@!", SIGN), l->tokens[reg], word(" ", SPACE)};
    replace(l, s.first, s.first, guard, 3);
}

/* ---- what real programs have seldom ---- */

/* In each, F stands for a function's name of the text, R for a register, N for a number, T for a type, each behind a
 * '@'. */
static const char *const rare[] = {
    "{ .reg .b64 %fz; stacksave.u64 %fz; add.u64 %fz, %fz, @N; stackrestore.u64 %fz; }",
    "stackrestore.u64 @R;",
    "stacksave.u64 @R;",
    "{ .reg .b64 %fz; alloca.u64 %fz, @N; st.local.u32 [%fz], 1; }",
    "alloca.u64 @R, @R, @N;",
    "{ .param .b32 fzp; .param .b64 fzr; st.param.b32 [fzp], @N; call (fzr), @F, (fzp); ld.param.b64 @R, [fzr]; }",
    "{ .param .align 8 .b8 fzp[@N]; .param .align 8 .b8 fzr[@N]; st.param.b64 [fzp+@N], @R; call (fzr), @F, (fzp); }",
    "call @F;",
    "call (@R), @F, (@R, @R);",
    ("{ .reg .b64 %fz; mov.b64 %fz, @F; fzq: .callprototype (.param @T _) _ (.param @T _, .param .align 16 .b8 _[@N]);"
     " .param @T fzr; .param @T fza; .param .align 16 .b8 fzb[@N]; call (fzr), %fz, (fza, fzb), fzq; }"),
    "{ .reg .b64 %fz; mov.b64 %fz, @F; add.u64 %fz, %fz, @N; fzq: .callprototype _ (); call %fz, (), fzq; }",
    "bar.sync @N;",
    "bar.sync @R, @R;",
    "barrier.cta.arrive @N, 64;",
    "barrier.cta.red.popc.u32 @R, @N, @R;",
    "bar.warp.sync @N;",
    "barrier.cluster.arrive;",
    "barrier.cluster.wait;",
    "mbarrier.init.shared.b64 [@N], @N;",
    "mbarrier.try_wait.shared.b64 @R, [@N], @R;",
    "cp.async.ca.shared.global [@N], [@R], 16, @R;",
    "cp.async.wait_all;",
    "ld.shared.v4.u32 {@R, @R, @R, @R}, [@N];",
    "st.shared@T [@R+@N], @R;",
    "ld.local@T @R, [@R+@N];",
    "ld.param@T @R, [@R+@N];",
    "ld.const@T @R, [@N];",
    "atom.global.add@T @R, [@R], @R;",
    "atom.shared.cas.b64 @R, [@N], @R, @R;",
    "red.global.add@T [@R+@N], @R;",
    "cvta.to.shared.u64 @R, @R;",
    "mapa.shared::cluster.u32 @R, @R, @N;",
    "shfl.sync.idx.b32 @R, @R, @N, @N, @N;",
    "vote.sync.ballot.b32 @R, @R, @N;",
    "match.any.sync.b32 @R, @R, @N;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {@R, @R, @R, @R}, [@R];",
    "tex.2d.v4.f32.f32 {@R, @R, @R, @R}, [@R, {@R, @R}];",
    "suld.b.2d.v4.b32.trap {@R, @R, @R, @R}, [@R, {@R, @R}];",
    "prefetch.global.L2 [@R];",
    "nanosleep.u32 @N;",
    "membar.gl;",
    "trap;",
    "exit;",
    "ret;",
    "brkpt;",
    "discard.global.L2 [@R], 128;",
    "isspacep.shared @R, @R;",
    "prmt.b32 @R, @R, @R, @N;",
    "bfe.u64 @R, @R, @N, @N;",
    "mov.b64 @R, @F;",
    "@R bra fzl; fzl:",
    "setmaxnreg.inc.sync.aligned.u32 @N;",
    "elect.sync @R|@R, @N;",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {@R, @R, @R, @R, @R, @R, @R, @R}, [@N], @N;",
};

static struct token fill_in(struct list *l, char what)
{
    uint32_t i = what == 'R'   ? find(l, REGISTER, NULL)
                 : what == 'F' ? find(l, WORD, below(l, 2) ? ".func" : ".entry")
                               : l->count;
    switch (what) {
    case 'N': return some_number(l);
    case 'T': return made(l, SUFFIX, ".%s", ptx_type_name((enum ptx_type)below(l, PTX_TYPE_COUNT)));
    default: return i < l->count ? l->tokens[i] : word("0", NUMBER);
    }
}

static void put_in_rare(struct list *l)
{
    enum { MOST = 128 };
    struct token tokens[MOST];
    uint32_t count = 0;
    const char *text = rare[below(l, sizeof rare / sizeof rare[0])];
    tokens[count++] = word("\n", SPACE);
    while (*text && count < MOST) {
        if (*text == '@' && text[1]) {
            tokens[count++] = fill_in(l, text[1]);
            text += 2;
        } else {
            size_t plain = strcspn(text + 1, "@") + 1;
            tokens[count++] = (struct token){text, (uint32_t)plain, SIGN};
            text += plain;
        }
    }
    struct span s = find_statement(l);
    if (s.end > s.first)
        replace(l, s.first, s.first, tokens, count);
}

/* A parameter, of a kernel, a function, a prototype or a call, declared otherwise. */
static void change_parameter(struct list *l)
{
    uint32_t i = find(l, SUFFIX, ".param");
    if (i == l->count)
        return;
    struct token array[] = {word(".align 4 .b8", SUFFIX), word(" fzx", WORD), word("[", SIGN), some_number(l),
                            word("]", SIGN)};
    if (below(l, 3))
        put(l, i, made(l, SUFFIX, ".%s", ptx_type_name((enum ptx_type)below(l, PTX_TYPE_COUNT))));
    else
        replace(l, i, i + 3 <= l->count ? i + 3 : i + 1, array, 5);
}

static void change_plan(struct list *l, const char *text, size_t size)
{
    struct plan p = plan_read(text, size);
    uint32_t *fields[] = {
#define PLAN(field, standard, count) &p.field,
        PLAN_FIELDS
#undef PLAN
    };
    static const uint32_t counts[] = {
#define PLAN(field, standard, count) count,
        PLAN_FIELDS
#undef PLAN
    };
    char line[512];
    uint32_t which = below(l, sizeof counts / sizeof counts[0]);
    *fields[which] = below(l, counts[which]);
    plan_write(&p, line, sizeof line);
    size_t end = plan_line(text, size);
    read_tokens(l, text, end);
    if (l->count < MOST_TOKENS)
        l->tokens[l->count++] = made(l, SPACE, end && text[end - 1] == '\n' ? "%s\n" : "\n%s\n", line);
}

/* ---- together ---- */

static void (*const changes[])(struct list *l) = {
    change_opcode,  change_suffix,  change_suffix,   change_register, change_register, change_number,   change_name,
    drop_statement, copy_statement, guard_statement, put_in_rare,     put_in_rare,     change_parameter};

static struct list *start(uint32_t seed)
{
    static struct list l;
    l.made_bytes = 0;
    l.random = (seed ^ 0x9e3779b97f4a7c15u) * 0xd1342543de82ef95u;
    return &l;
}

size_t mutate_text(const char *text, size_t size, char *out, size_t room, uint32_t seed)
{
    struct list *l = start(seed);
    if (below(l, 8) == 0) {
        change_plan(l, text, size);
        return write_tokens(l, out, room);
    }
    read_tokens(l, text, size);
    for (uint32_t n = 1 + below(l, MOST_CHANGES); n-- && l->count;)
        changes[below(l, sizeof changes / sizeof changes[0])](l);
    return write_tokens(l, out, room);
}

/* Statements of the other text, one behind the other as they stand there, among those of the first. */
size_t mutate_cross(const char *text, size_t size, const char *other, size_t other_size, char *out, size_t room,
                    uint32_t seed)
{
    enum { MOST = 400 };
    struct list *l = start(seed);
    struct token taken[MOST];
    read_tokens(l, other, other_size);
    struct span s = l->count ? find_statement(l) : (struct span){0, 0};
    uint32_t more = below(l, 6), end = s.end;
    while (more-- && end < l->count)
        do
            end++;
        while (end < l->count && !closes(&l->tokens[end - 1]));
    uint32_t count = end - s.first < MOST ? end - s.first : MOST;
    memcpy(taken, &l->tokens[s.first], count * sizeof *taken);
    read_tokens(l, text, size);
    struct span to = l->count ? find_statement(l) : (struct span){0, 0};
    replace(l, to.first, to.first, taken, count);
    return write_tokens(l, out, room);
}

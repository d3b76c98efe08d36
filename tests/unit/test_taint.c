/* Are branches P or D as the lane permutation paper has it, register by register and at each point of the program? Its
 * Figure 10, the rules one by one, branches of real workloads, and random programs against a plain model. */
#include "ptx/taint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLEAN = PTX_TAINT_CLEAN, P = PTX_TAINT_P, D = PTX_TAINT_D };

struct analysed {
    struct arena arena;
    struct ptx_module *module;
    const struct ptx_function *f;
    struct ptx_cfg *cfg;
    struct ptx_taints *t;
};

static void analyse(struct analysed *a, const char *name, const char *text, const char *function)
{
    struct error e = {0};
    memset(a, 0, sizeof *a);
    a->module = ptx_parse(name, text, strlen(text), &e);
    if (!a->module)
        fail_msg("%s", e.text);
    a->f = ptx_find_function(a->module, function);
    assert_non_null(a->f);
    a->cfg = ptx_cfg_build(&a->arena, a->f);
    a->t = ptx_taint_build(&a->arena, a->f, a->cfg);
}

static void release(struct analysed *a)
{
    arena_free(&a->arena);
    ptx_module_free(a->module);
}

#define HEAD                                                                                                   \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                                          \
    ".global .u32 cell;\n.const .u32 scalar;\n.const .u32 table[4];\n.global .texref image;\n"                 \
    ".visible .func (.reg .u32 %out) callee(.reg .u32 %in)\n{\nmov.u32 %out, %in;\nret;\n}\n"                  \
    ".visible .func (.param .u32 result) stacked(.param .u32 given)\n{\n.reg .u32 %r<9>;\n.reg .pred %p<3>;\n" \
    "ld.param.u32 %r1, [given];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nEND:\nst.param.u32 [result], "       \
    "%r1;\nret;\n}\n"
#define KERNEL                                                                                                \
    HEAD ".visible .entry kernel(.param .u64 data, .param .u32 n)\n{\n.reg .u32 %r<40>;\n.reg .u64 %rd<9>;\n" \
         ".reg .pred %p<9>;\n.shared .u32 room[64];\n.local .u32 own[4];\n"

/* The n-th instruction with these words in it, from 0. */
static uint32_t find(const struct analysed *a, const char *words)
{
    char text[512];
    for (uint32_t i = 0; i < a->f->inst_count; i++) {
        ptx_print_inst(text, sizeof text, a->f, &a->f->insts[i]);
        if (strstr(text, words))
            return i;
    }
    fail_msg("no instruction %s", words);
    return 0;
}

static uint32_t branch(const struct analysed *a, uint32_t number)
{
    for (uint32_t i = 0; i < a->f->inst_count; i++)
        if (ptx_is_conditional_branch(&a->f->insts[i]) && number-- == 0)
            return i;
    fail_msg("too few branches");
    return 0;
}

static int taint_of(const struct analysed *a, const char *words) { return a->t->of[find(a, words)]; }

/* What the only branch on %p1 depends on, in a body that sets %r1. */
static int class_of(const char *body)
{
    char text[4096];
    struct analysed a;
    snprintf(text, sizeof text, "%s%s\nsetp.ne.u32 %%p1, %%r1, 0;\n@%%p1 bra BACK;\nBACK:\nret;\n}\n", KERNEL, body);
    analyse(&a, "rule.ptx", text, "kernel");
    int taint = -1;
    for (uint32_t i = 0; i < a.f->inst_count; i++)
        if (a.f->insts[i].opcode == PTX_OP_bra && a.f->insts[i].guard && !strcmp(a.f->insts[i].guard->name, "%p1"))
            taint = a.t->of[i];
    release(&a);
    return taint;
}

/* ------------------------------------------------------------- the paper's example */

static void figure_10(void **state)
{
    (void)state;
    struct analysed a;
    analyse(&a, "fig10.ptx",
            KERNEL "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra JUMP_1;\nld.param.u64 %rd3, [data];\n"
                   "cvt.u64.u32 %rd2, %r2;\nadd.u64 %rd4, %rd2, %rd3;\nld.global.u32 %r5, [%rd4];\n"
                   "setp.gt.u32 %p6, %r5, 1;\n@%p6 bra JUMP_2;\nmov.u32 %r2, 100;\nsetp.gt.u32 %p7, %r2, 1;\n"
                   "@%p7 bra JUMP_1;\nJUMP_2:\nadd.u32 %r6, %r2, 0;\nJUMP_1:\nret;\n}\n",
            "kernel");
    assert_int_equal(taint_of(&a, "%tid.x"), P);
    assert_int_equal(taint_of(&a, "%p1, %r2"), P);
    assert_int_equal(a.t->of[branch(&a, 0)], P);
    assert_int_equal(taint_of(&a, "ld.param"), P);
    assert_int_equal(taint_of(&a, "add.u64"), P);
    assert_int_equal(taint_of(&a, "ld.global"), D);
    assert_int_equal(taint_of(&a, "%p6, %r5"), D);
    assert_int_equal(a.t->of[branch(&a, 1)], D);
    assert_int_equal(taint_of(&a, "%r2, 100"), CLEAN);
    assert_int_equal(a.t->of[branch(&a, 2)], CLEAN);
    assert_int_equal(taint_of(&a, "%r6, %r2"), P); /* by the way of the second branch it is still the index */
    struct ptx_taint_chain why = ptx_taint_explain(&a.arena, a.f, a.cfg, a.t, branch(&a, 1));
    assert_int_equal(why.count, 2);
    assert_int_equal(why.insts[0], find(&a, "%p6, %r5"));
    assert_int_equal(why.insts[1], find(&a, "ld.global"));
    assert_string_equal(ptx_taint_source(a.f, &a.f->insts[why.insts[1]]), "load");
    assert_int_equal(ptx_taint_explain(&a.arena, a.f, a.cfg, a.t, branch(&a, 2)).count, 0);
    release(&a);
}

/* ------------------------------------------------------------- rules */

static void each_source(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int taint;
    } rows[] = {
        {"mov.u32 %r1, 7;", CLEAN},
        {"mov.u32 %r1, %tid.x;", P},
        {"mov.u32 %r1, %ntid.y;", P},
        {"mov.u32 %r1, %ctaid.z;", P},
        {"mov.u32 %r1, %nctaid.x;", P},
        {"mov.u32 %r1, %laneid;", P},
        {"mov.u32 %r1, %warpid;", P},
        {"add.u32 %r1, %tid.x, 1;", P},
        {"ld.param.u32 %r1, [n];", P},
        {"mov.b64 %rd1, n;\nld.param.u32 %r1, [%rd1];", P},
        {"ld.global.u32 %r1, [cell];", D},
        {"ld.shared.u32 %r1, [room];", D},
        {"ld.local.u32 %r1, [own];", D},
        {"ld.const.u32 %r1, [table];", D},
        {"ld.const.u32 %r1, [table+4];", D},
        {"mov.u64 %rd1, table;\nld.const.u32 %r1, [%rd1];", D},
        {"ld.const.u32 %r1, [scalar];", P},
        {"ld.param.u64 %rd1, [data];\nld.u32 %r1, [%rd1];", D},
        {"atom.global.add.u32 %r1, [cell], 1;", D},
        {"tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [image, {%r9}];", D},
        {"ld.global.v2.u32 {%r2, %r1}, [cell];", D},
        {"call (%r1), callee, (7);", D},
        {"mov.u64 %rd1, room;\ncvt.u32.u64 %r1, %rd1;", CLEAN}, /* an address is a constant */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (class_of(rows[i].body) != rows[i].taint)
            fail_msg("%d instead of %d: %s", class_of(rows[i].body), rows[i].taint, rows[i].body);
}

#define INDEX "mov.u32 %r2, %tid.x;\n"
#define DATA  "ld.global.u32 %r3, [cell];\n"

static void what_instructions_do(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int taint;
    } rows[] = {
        {INDEX "add.u32 %r1, %r2, 1;", P},
        {INDEX DATA "add.u32 %r1, %r2, %r3;", D},
        {INDEX DATA "mad.lo.u32 %r1, %r2, 3, %r3;", D},
        /* assigned again */
        {DATA "mov.u32 %r1, %r3;\nmov.u32 %r1, 5;", CLEAN},
        {INDEX DATA "mov.u32 %r1, %r3;\nmov.u32 %r1, %r2;", P},
        {"mov.u32 %r1, 5;\nadd.u32 %r1, %r1, 1;", CLEAN},
        /* under a guard the old value may stay; the guard itself is no taint */
        {DATA "setp.eq.u32 %p2, 1, 1;\nmov.u32 %r1, %r3;\n@%p2 mov.u32 %r1, 5;", D},
        {DATA "setp.eq.u32 %p2, 1, 1;\nmov.u32 %r1, 5;\n@%p2 mov.u32 %r1, %r3;", D},
        {DATA "setp.eq.u32 %p2, %r3, 1;\nmov.u32 %r1, 5;\n@%p2 mov.u32 %r1, 6;", CLEAN},
        {INDEX "setp.eq.u32 %p2, 1, 1;\nmov.u32 %r1, %r2;\n@!%p2 mov.u32 %r1, 5;", P},
        /* predicates */
        {DATA "setp.eq.u32 %p2, %r3, 1;\nselp.u32 %r1, 5, 6, %p2;", D},
        {INDEX DATA "setp.eq.u32 %p2, %r2, 1;\nselp.u32 %r1, %r3, 6, %p2;", D},
        {INDEX "setp.eq.u32 %p2, %r2, 1;\nselp.u32 %r1, 5, 6, %p2;", P},
        {INDEX DATA "setp.eq.u32 %p3, %r3, 1;\nsetp.eq.and.u32 %p2|%p4, %r2, 1, %p3;\nselp.u32 %r1, 5, 6, %p4;", D},
        {INDEX DATA "setp.eq.u32 %p3, %r3, 1;\nsetp.eq.u32 %p4, %r2, 1;\nand.pred %p2, %p3, %p4;\n"
                    "selp.u32 %r1, 5, 6, %p2;",
         D},
        /* the carry */
        {DATA "add.cc.u32 %r4, %r3, 1;\naddc.u32 %r1, 0, 0;", D},
        {DATA "add.cc.u32 %r4, %r3, 1;\nadd.cc.u32 %r4, 1, 1;\naddc.u32 %r1, 0, 0;", CLEAN},
        /* other lanes have the same registers */
        {INDEX "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;", P},
        {DATA "setp.eq.u32 %p2, %r3, 1;\nvote.sync.ballot.b32 %r1, %p2, -1;", D},
        /* what memory gives back is data */
        {INDEX "st.shared.u32 [room], %r2;\nld.shared.u32 %r1, [room];", D},
        /* control is no taint */
        {DATA "mov.u32 %r1, 1;\nsetp.eq.u32 %p2, %r3, 1;\n@%p2 bra OVER;\nmov.u32 %r1, 2;\nOVER:", CLEAN},
        /* where paths meet */
        {DATA "mov.u32 %r1, 1;\nsetp.eq.u32 %p2, 1, 1;\n@%p2 bra OVER;\nmov.u32 %r1, %r3;\nOVER:", D},
        {INDEX "setp.eq.u32 %p2, 1, 1;\n@%p2 bra A;\nmov.u32 %r1, 1;\nbra.uni B;\nA:\nmov.u32 %r1, %r2;\nB:", P},
        /* round a loop: what comes with the second turn */
        {DATA "mov.u32 %r1, 1;\nmov.u32 %r4, 0;\nAGAIN:\nadd.u32 %r1, %r1, %r4;\nmov.u32 %r4, %r5;\n"
              "mov.u32 %r5, %r3;\nsetp.lt.u32 %p2, %r6, 9;\n@%p2 bra AGAIN;",
         D},
        /* a register of the loop that is set anew in every turn */
        {DATA "AGAIN:\nmov.u32 %r1, 1;\nadd.u32 %r4, %r1, 1;\nsetp.lt.u32 %p2, %r4, 9;\n@%p2 bra AGAIN;\n", CLEAN},
        /* code that is never reached adds nothing */
        {DATA "mov.u32 %r1, 1;\nbra.uni OVER;\nmov.u32 %r1, %r3;\nOVER:", CLEAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (class_of(rows[i].body) != rows[i].taint)
            fail_msg("%d instead of %d: %s", class_of(rows[i].body), rows[i].taint, rows[i].body);
}

/* Parameters of a function may be anything; what it returns as well, in a register or in memory. */
static void functions(void **state)
{
    (void)state;
    struct analysed a;
    static const char caller[] =
        KERNEL "{\n.param .u32 given;\n.param .u32 got;\nst.param.u32 [given], 1;\ncall (got), stacked, (given);\n"
               "ld.param.u32 %r1, [got];\n}\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nEND:\nret;\n}\n";
    analyse(&a, "calls.ptx", caller, "kernel");
    assert_int_equal(a.t->of[branch(&a, 0)], D);
    assert_string_equal(ptx_taint_source(a.f, &a.f->insts[find(&a, "ld.param.u32 %r1")]), "result of a call");
    release(&a);
    analyse(&a, "calls.ptx", caller, "stacked");
    assert_int_equal(a.t->of[branch(&a, 0)], D);
    release(&a);
    analyse(&a, "calls.ptx", caller, "callee");
    assert_int_equal(a.t->of[0], D);
    assert_int_equal(ptx_taint_explain(&a.arena, a.f, a.cfg, a.t, 0).count, 0);
    release(&a);
}

static void a_table_of_targets(void **state)
{
    (void)state;
    struct analysed a;
    analyse(&a, "brx.ptx",
            KERNEL "ts: .branchtargets A, B;\nld.global.u32 %r1, [cell];\nbrx.idx %r1, ts;\nA:\nret;\nB:\nret;\n}\n",
            "kernel");
    assert_int_equal(a.t->of[branch(&a, 0)], D);
    release(&a);
}

/* ------------------------------------------------------------- workloads */

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

/* The classes of a kernel's branches, in order: u, P or D. */
static void check_branches(const char *path, const char *kernel, const char *want)
{
    struct analysed a;
    char *text = read_text(path), got[256];
    uint32_t count = 0;
    analyse(&a, path, text, kernel);
    for (uint32_t i = 0; i < a.f->inst_count && count < 255; i++)
        if (ptx_is_conditional_branch(&a.f->insts[i]))
            got[count++] = "uPD"[a.t->of[i]];
    got[count] = 0;
    assert_string_equal(got, want);
    release(&a);
    free(text);
}

static void bitonic(void **state)
{
    (void)state;
    struct analysed a;
    /* two loops over constants; ixj > tid; (tid & k) == 0; the values, in both directions */
    check_branches("workloads/bitonic/bitonic.ptx", "bitonic", "uuPPDD");
    char *text = read_text("workloads/bitonic/bitonic.ptx");
    analyse(&a, "bitonic.ptx", text, "bitonic");
    struct ptx_taint_chain why = ptx_taint_explain(&a.arena, a.f, a.cfg, a.t, branch(&a, 3));
    assert_int_equal(why.count, 3);
    assert_int_equal(why.insts[0], find(&a, "setp.ne.s32"));
    assert_int_equal(why.insts[1], find(&a, "and.b32"));
    assert_int_equal(why.insts[2], find(&a, "%tid.x"));
    why = ptx_taint_explain(&a.arena, a.f, a.cfg, a.t, branch(&a, 4));
    assert_int_equal(why.count, 2);
    assert_int_equal(a.f->insts[why.insts[1]].opcode, PTX_OP_ld);
    release(&a);
    free(text);
}

static void mandelbrot(void **state)
{
    (void)state;
    /* image bounds; no turns at all; the escape loop */
    check_branches("workloads/mdbrot/mdbrot.ptx", "mdbrot_draw", "PPP");
    /* bounds, then for each neighbour whether there is one, and three colours of it; no turns, the escape loop */
    check_branches("workloads/mdbrot/mdbrot.ptx", "mdbrot_refine", "PPPDDDPDDDPDDDPDDDPP");
}

/* ------------------------------------------------------------- random programs against a plain model */

enum { REGS = 6, LENGTH_MOST = 40 };
enum kind { SET, THREAD, LOAD, ADD, GUARDED_SET, GUARDED_ADD, COMPARE, BRANCH, JUMP, KINDS };
struct step {
    enum kind kind;
    uint32_t to, a, b, target;
};

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void write_step(char *out, size_t size, const struct step *s, uint32_t at)
{
    static const char *const formats[KINDS] = {
        [SET] = "mov.u32 %%r%u, 3;",
        [THREAD] = "mov.u32 %%r%u, %%tid.x;",
        [LOAD] = "ld.global.u32 %%r%u, [cell];",
        [ADD] = "add.u32 %%r%u, %%r%u, %%r%u;",
        [GUARDED_SET] = "@%%p2 mov.u32 %%r%u, 3;",
        [GUARDED_ADD] = "@%%p2 add.u32 %%r%u, %%r%u, %%r%u;",
    };
    int n = snprintf(out, size, "L%u: ", at);
    out += n, size -= (size_t)n;
    if (s->kind == COMPARE)
        snprintf(out, size, "setp.eq.u32 %%p1, %%r%u, %%r%u;\n", s->a, s->b);
    else if (s->kind == BRANCH)
        snprintf(out, size, "@%%p1 bra L%u;\n", s->target);
    else if (s->kind == JUMP)
        snprintf(out, size, "bra.uni L%u;\n", s->target);
    else {
        snprintf(out, size, formats[s->kind], s->to, s->a, s->b);
        strcat(out, "\n");
    }
}

/* Taints before each step, raised until nothing changes; the predicate is register REGS. of: the result. */
struct model {
    uint8_t before[LENGTH_MOST + 1][REGS + 1], of[LENGTH_MOST];
    bool reached[LENGTH_MOST + 1];
};

static bool flow(struct model *m, uint32_t to, const uint8_t after[REGS + 1])
{
    bool changed = !m->reached[to];
    m->reached[to] = true;
    for (uint32_t r = 0; r <= REGS; r++) {
        changed |= after[r] > m->before[to][r];
        m->before[to][r] = after[r] > m->before[to][r] ? after[r] : m->before[to][r];
    }
    return changed;
}

static bool model_step(struct model *m, const struct step *s, uint32_t at)
{
    uint8_t after[REGS + 1], *now = m->before[at], old;
    uint8_t both = now[s->a] > now[s->b] ? now[s->a] : now[s->b];
    memcpy(after, now, sizeof after);
    m->of[at] = s->kind == THREAD ? P : s->kind == LOAD ? D : s->kind == BRANCH ? now[REGS] : 0;
    if (s->kind == ADD || s->kind == GUARDED_ADD || s->kind == COMPARE)
        m->of[at] = both;
    uint32_t to = s->kind == COMPARE ? REGS : s->to;
    old = s->kind == GUARDED_SET || s->kind == GUARDED_ADD ? now[to] : 0;
    if (s->kind != BRANCH && s->kind != JUMP)
        after[to] = m->of[at] > old ? m->of[at] : old;
    bool changed = s->kind != JUMP && flow(m, at + 1, after);
    return (s->kind == BRANCH || s->kind == JUMP) && flow(m, s->target, after) ? true : changed;
}

static void model_solve(struct model *m, const struct step *steps, uint32_t count)
{
    memset(m, 0, sizeof *m);
    m->reached[0] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < count; i++)
            changed |= m->reached[i] && model_step(m, &steps[i], i);
    }
}

/* Each instruction of a chain writes what the one before reads, with the same taint, up to a source. */
struct reads {
    const struct ptx_reg *written;
    bool found;
};
static void note_written(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    if (role == PTX_REG_DEFINE)
        ((struct reads *)context)->written = reg;
}
static void note_read(void *context, const struct ptx_reg *reg, enum ptx_reg_role role)
{
    struct reads *r = context;
    r->found |= role == PTX_REG_USE && reg == r->written;
}

static void check_chain(struct analysed *a, uint32_t from)
{
    struct ptx_taint_chain why = ptx_taint_explain(&a->arena, a->f, a->cfg, a->t, from);
    uint32_t reader = from;
    assert_true((why.count != 0) == (a->t->of[from] != CLEAN));
    for (uint32_t k = 0; k < why.count; k++) {
        struct reads r = {0};
        ptx_visit_regs(a->f, &a->f->insts[why.insts[k]], note_written, &r);
        ptx_visit_regs(a->f, &a->f->insts[reader], note_read, &r);
        assert_true(r.found);
        assert_int_equal(a->t->of[why.insts[k]], a->t->of[from]);
        reader = why.insts[k];
    }
    if (why.count)
        assert_string_equal(ptx_taint_source(a->f, &a->f->insts[reader]),
                            a->t->of[from] == D ? "load" : "special register");
}

static void random_programs(void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint32_t seen[3] = {0};
    for (uint32_t round = 0; round < 4000; round++) {
        struct step steps[LENGTH_MOST];
        struct model m;
        struct analysed a;
        char text[8192] = KERNEL, line[128];
        uint32_t count = 5 + next_random(&seed) % (LENGTH_MOST - 5);
        for (uint32_t i = 0; i < count; i++) {
            steps[i] = (struct step){.kind = (enum kind)(next_random(&seed) % KINDS),
                                     .to = next_random(&seed) % REGS,
                                     .a = next_random(&seed) % REGS,
                                     .b = next_random(&seed) % REGS,
                                     .target = next_random(&seed) % (count + 1)};
            if (steps[i].kind == LOAD && next_random(&seed) % 3)
                steps[i].kind = THREAD; /* else all is data */
            write_step(line, sizeof line, &steps[i], i);
            strcat(text, line);
        }
        snprintf(line, sizeof line, "L%u: ret;\n}\n", count);
        strcat(text, line);
        model_solve(&m, steps, count);
        analyse(&a, "random.ptx", text, "kernel");
        for (uint32_t i = 0; i < count; i++) {
            if (m.reached[i] && a.t->of[i] != m.of[i])
                fail_msg("round %u, L%u: %u instead of %u\n%s", round, i, a.t->of[i], m.of[i], text);
            if (steps[i].kind != BRANCH || !m.reached[i])
                continue;
            seen[m.of[i]]++;
            check_chain(&a, i);
        }
        release(&a);
    }
    assert_true(seen[CLEAN] > 500 && seen[P] > 500 && seen[D] > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_10),  cmocka_unit_test(each_source),        cmocka_unit_test(what_instructions_do),
        cmocka_unit_test(functions),  cmocka_unit_test(a_table_of_targets), cmocka_unit_test(bitonic),
        cmocka_unit_test(mandelbrot), cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests_name("taint", tests, NULL, NULL);
}

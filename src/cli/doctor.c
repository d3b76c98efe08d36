/* heddle doctor: what of a program cannot run here, found without running it. The file is read for the libraries it
 * needs, the CUDA functions it imports and the PTX inside, which is parsed and decoded as a load would do. What a
 * program loads or compiles while it runs is not seen. */
#include "base/out_of_memory.h"
#include "cli/cli.h"
#include "exec/exec.h"
#include "program/program.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "Usage: heddle doctor PROGRAM|FILE.ptx\n"
                           "Says what of a program, or of a PTX file, cannot run here, before it is run. PROGRAM is a "
                           "workload's name or a path.\n"
                           "Exit codes: 0 nothing found; 2 usage; 3 something cannot run.\n";

enum { MOST_FINDINGS = 100, NAMES_SHOWN = 6, NAME_BYTES = 100 };
#define DOCTOR_MEMORY_BYTES (1ull << 32) /* reserved, not touched */

struct text {
    char name[PATH_MAX + 64];
    char *data;
    size_t size;
    bool linked;  /* with the other linked ones */
    bool guessed; /* found by its looks alone */
};

struct examination {
    struct text *texts;
    size_t text_count;
    unsigned kernels, functions, images;
    char kernel_names[NAMES_SHOWN][NAME_BYTES]; /* the first few */
    bool is_program;                            /* not a library of one */
    unsigned problems;
};

static void problem(struct examination *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fact(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void problem(struct examination *x, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("  PROBLEM  ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    x->problems++;
}

static void fact(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("  ok       ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

/* A message of several lines, indented under its first. */
static void problem_text(struct examination *x, const char *text)
{
    const char *end = strchr(text, '\n');
    problem(x, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
    while (end) {
        const char *line = end + 1;
        end = strchr(line, '\n');
        printf("             %.*s\n", end ? (int)(end - line) : (int)strlen(line), line);
    }
}

/* ------------------------------------------------------------- PTX */

static void add_text(struct examination *x, const char *name, const char *data, size_t size, bool linked, bool guessed)
{
    x->texts = realloc(x->texts, (x->text_count + 1) * sizeof *x->texts);
    char *copy = malloc(size + 1);
    if (!x->texts || !copy)
        out_of_memory();
    memcpy(copy, data, size);
    copy[size] = '\0';
    struct text *t = &x->texts[x->text_count++];
    *t = (struct text){.data = copy, .size = size, .linked = linked, .guessed = guessed};
    snprintf(t->name, sizeof t->name, "%s", name);
}

static void forget_texts(struct examination *x)
{
    for (size_t i = 0; i < x->text_count; i++)
        free(x->texts[i].data);
    free(x->texts);
    x->texts = NULL;
    x->text_count = 0;
    x->kernels = x->functions = 0;
}

/* An instruction that was found to be unsupported; later attempts put an exit in its place, and go on to the next. */
struct refused {
    uint32_t module, function, inst;
};

static void take_out(struct ptx_module **modules, const struct refused *r)
{
    struct ptx_inst *in = &modules[r->module]->functions[r->function]->insts[r->inst];
    in->opcode = PTX_OP_exit;
    in->type_count = in->modifier_count = in->operand_count = 0;
    in->guard = NULL;
    in->spelling = "exit";
}

/* Which instruction an error points to; false: none. */
static bool locate(struct ptx_module *const *modules, uint32_t count, const struct error *e, struct refused *out)
{
    for (uint32_t m = 0; m < count; m++) {
        size_t length = strlen(modules[m]->source.name);
        if (strncmp(e->text, modules[m]->source.name, length) || e->text[length] != ':')
            continue;
        const struct ptx_inst *best = NULL;
        for (uint32_t f = 0; f < modules[m]->function_count; f++)
            for (uint32_t i = 0; i < modules[m]->functions[f]->inst_count; i++) {
                const struct ptx_inst *in = &modules[m]->functions[f]->insts[i];
                bool before = in->line < e->line || (in->line == e->line && in->column <= e->column);
                if (before &&
                    (!best || in->line > best->line || (in->line == best->line && in->column > best->column))) {
                    best = in;
                    *out = (struct refused){m, f, i};
                }
            }
        return best != NULL;
    }
    return false;
}

static void count_functions(struct examination *x, struct ptx_module *const *modules, uint32_t count)
{
    for (uint32_t m = 0; m < count; m++)
        for (uint32_t f = 0; f < modules[m]->function_count; f++) {
            if (modules[m]->functions[f]->is_entry && x->kernels < NAMES_SHOWN)
                snprintf(x->kernel_names[x->kernels], NAME_BYTES, "%s", modules[m]->functions[f]->name);
            if (modules[m]->functions[f]->is_entry)
                x->kernels++;
            else if (!modules[m]->functions[f]->is_declaration)
                x->functions++;
        }
}

/* Parses the texts; NULL where one is not well formed. A guessed text that is no module is passed over. */
static struct ptx_module **parse_all(struct examination *x, const struct text *texts, uint32_t count, uint32_t *parsed,
                                     bool first)
{
    struct ptx_module **modules = calloc(count + 1, sizeof *modules);
    *parsed = 0;
    for (uint32_t i = 0; modules && i < count; i++) {
        struct error e = {0};
        struct ptx_module *m = ptx_parse(texts[i].name, texts[i].data, texts[i].size, &e);
        if (m)
            modules[(*parsed)++] = m;
        else if (first && !texts[i].guessed)
            problem_text(x, e.text);
        else if (first)
            printf("  note     %s looks like PTX, but is not a whole module\n", texts[i].name);
    }
    return modules;
}

/* One attempt at an image with what is refused so far taken out. False: one more is refused, and *found is it, or the
 * end of it. */
static bool attempt(struct examination *x, const struct text *texts, uint32_t count, const struct refused *refused,
                    unsigned refused_count, struct refused *found, bool *go_on)
{
    struct error e = {0};
    uint32_t parsed;
    struct ptx_module **modules = parse_all(x, texts, count, &parsed, refused_count == 0);
    *go_on = false;
    struct memory *memory = memory_create(DOCTOR_MEMORY_BYTES, &e);
    if (!modules || !memory) {
        problem(x, "%s", e.kind ? e.text : "out of memory");
        for (uint32_t i = 0; modules && i < parsed; i++)
            ptx_module_free(modules[i]);
        free(modules);
        return false;
    }
    if (refused_count == 0)
        count_functions(x, modules, parsed);
    for (unsigned i = 0; i < refused_count; i++)
        take_out(modules, &refused[i]);
    /* The error has to be matched with an instruction after the modules are gone: keep a second copy to look in. */
    uint32_t again;
    struct ptx_module **copies = parse_all(x, texts, count, &again, false);
    struct exec_image *image = parsed ? exec_image_create(memory, modules, parsed, &e) : NULL;
    bool ok = image || !parsed;
    if (!ok) {
        problem_text(x, e.text);
        *go_on = (e.kind == ERROR_UNSUPPORTED || e.kind == ERROR_SYNTAX) && e.line && locate(copies, again, &e, found);
        for (unsigned i = 0; *go_on && i < refused_count; i++)
            *go_on = memcmp(&refused[i], found, sizeof *found) != 0;
    }
    exec_image_destroy(image);
    memory_destroy(memory);
    for (uint32_t i = 0; copies && i < again; i++)
        ptx_module_free(copies[i]);
    free(copies);
    free(modules);
    return ok;
}

static void examine_texts(struct examination *x, const struct text *texts, uint32_t count)
{
    struct refused refused[MOST_FINDINGS];
    unsigned refused_count = 0;
    bool go_on = true;
    while (go_on && refused_count < MOST_FINDINGS) {
        if (attempt(x, texts, count, refused, refused_count, &refused[refused_count], &go_on))
            return;
        refused_count++;
    }
    if (refused_count == MOST_FINDINGS)
        printf("           (after %d, the rest is not listed)\n", MOST_FINDINGS);
}

static void show_kernels(const struct examination *x)
{
    fputs("  ok       kernels:", stdout);
    for (unsigned i = 0; i < x->kernels && i < NAMES_SHOWN; i++)
        printf("%s %s", i ? "," : "", x->kernel_names[i]);
    if (x->kernels > NAMES_SHOWN)
        printf(" and %u more", x->kernels - NAMES_SHOWN);
    putchar('\n');
}

/* The version of the PTX tells the version of the compiler. */
static void show_version(const struct text *t)
{
    unsigned major, minor;
    const char *at = memmem(t->data, t->size, ".version ", 9);
    if (at && sscanf(at + 9, "%u.%u", &major, &minor) == 2)
        fact("PTX: version %u.%u", major, minor);
}

/* Those to be linked make one image, the others one each. */
static void examine_ptx(struct examination *x)
{
    unsigned before = x->problems;
    uint32_t linked = 0;
    for (size_t i = 0; i < x->text_count; i++) {
        if (!x->texts[i].linked)
            examine_texts(x, &x->texts[i], 1);
        else
            linked++;
    }
    struct text *group = calloc(linked + 1, sizeof *group);
    if (!group)
        out_of_memory();
    uint32_t n = 0;
    for (size_t i = 0; i < x->text_count; i++)
        if (x->texts[i].linked)
            group[n++] = x->texts[i];
    if (n)
        examine_texts(x, group, n);
    free(group);
    if (x->text_count && x->images)
        show_version(&x->texts[0]);
    if (x->kernels && x->images)
        show_kernels(x);
    if (x->problems == before && x->text_count)
        fact("PTX: %u kernel%s and %u function%s in %zu module%s; every instruction is supported", x->kernels,
             x->kernels == 1 ? "" : "s", x->functions, x->functions == 1 ? "" : "s", x->text_count,
             x->text_count == 1 ? "" : "s");
}

/* ------------------------------------------------------------- programs */

static void keep_text(const struct program_text *t, void *user)
{
    add_text(user, t->name, t->text, t->size, t->linked, t->guessed);
}

static void examine_imports(struct examination *x, const struct elf_program *elf, const char *path,
                            const struct places *places)
{
    struct program_functions f;
    unsigned imported = 0, before = x->problems;
    program_functions_open(&f, elf, path, places);
    for (uint32_t i = 0; i < elf->import_count; i++) {
        bool of_runtime;
        enum program_function state = program_function(&f, i, &of_runtime);
        imported += state != FUNCTION_OTHER;
        if (state == FUNCTION_REFUSES)
            problem(x, "%s is called, which Heddle answers with %s", elf->imports[i],
                    of_runtime ? "cudaErrorNotSupported" : "CUDA_ERROR_NOT_SUPPORTED");
        else if (state == FUNCTION_ABSENT)
            problem(x, "%s is called, which Heddle's %s does not have", elf->imports[i],
                    of_runtime ? "CUDA runtime" : "libcuda.so.1");
    }
    if (imported && x->problems == before)
        fact("CUDA functions: %u imported, all there", imported);
    program_functions_close(&f);
}

static void examine_libraries(struct examination *x, const struct elf_program *elf)
{
    const char *driver = elf_program_needs(elf, "libcuda.so"), *runtime = elf_program_needs(elf, "libcudart.so");
    bool compiles = false;
    for (uint32_t i = 0; i < elf->needed_count; i++) {
        const char *function, *linked = program_closed_library(elf->needed[i]);
        const char *closed = program_closed_use(elf, elf->needed[i], &function);
        if (closed)
            problem(x, "%s (%s) is needed, a closed library whose kernels are machine code; Heddle runs PTX%s%s",
                    closed, elf->needed[i], function ? ". It is asked for " : "", function ? function : "");
        else if (linked)
            printf("  note     linked with %s (%s), a closed library, but calls no function of it that uses the GPU\n",
                   linked, elf->needed[i]);
        compiles |= !strncmp(elf->needed[i], "libnvrtc", 8);
    }
    if (runtime)
        fact("CUDA runtime: %s, of CUDA %.2s", runtime, runtime + strlen("libcudart.so."));
    if (driver)
        fact("library: %s", driver);
    else if (!runtime && x->is_program && !elf->has_fatbin_segment)
        puts("  note     not linked with libcuda.so.1; if it opens the library while it runs, that will be Heddle's");
    if (compiles)
        puts("  note     compiles kernels while it runs (NVRTC): PTX that it makes can run, machine code cannot");
}

static void examine_file(struct examination *x, const struct elf_program *elf, const char *path,
                         const struct places *places)
{
    struct error runtime = {0}, code = {0};
    if (!program_check_runtime(elf, path, places, &runtime))
        problem_text(x, runtime.text);
    if (!program_check_images(elf, path, &code))
        problem_text(x, code.text);
    examine_libraries(x, elf);
    examine_imports(x, elf, path, places);
    x->images += program_visit_texts(elf, keep_text, x);
}

struct library_examination {
    struct examination *x;
    const struct places *places;
};

static bool uses_cuda(const struct elf_program *elf)
{
    bool closed = false;
    for (uint32_t i = 0; i < elf->needed_count; i++)
        closed |= program_closed_library(elf->needed[i]) != NULL;
    return closed || elf->has_fatbin_segment || elf->defines_cudart || elf_program_needs(elf, "libcudart.so") ||
           elf_program_needs(elf, "libcuda.so");
}

static bool examine_library(const struct elf_program *elf, const char *path, void *user)
{
    struct library_examination *l = user;
    if (uses_cuda(elf)) {
        printf("%s\n", path);
        examine_file(l->x, elf, path, l->places);
        examine_ptx(l->x);
        forget_texts(l->x);
    }
    return true;
}

static void examine_program(struct examination *x, const struct elf_program *elf, const char *path,
                            const struct places *places)
{
    struct error e = {0};
    if (!elf->is_elf) {
        if (!program_check(elf, path, places, &e))
            problem_text(x, e.text);
        return;
    }
    x->is_program = true;
    if (!program_check_form(elf, path, &e))
        problem_text(x, e.text);
    examine_file(x, elf, path, places);
    examine_ptx(x);
    bool inside = x->text_count || x->images;
    forget_texts(x);
    x->is_program = false;
    struct library_examination l = {x, places};
    program_visit_libraries(elf, path, examine_library, &l);
    if (!inside && !x->images)
        puts("  note     no PTX inside; what it reads from files or compiles while it runs is checked when it is "
             "loaded");
}

static bool read_whole(const char *path, char **data, size_t *size, struct error *e)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return error_set(e, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
    FILE *copy = open_memstream(data, size);
    char buffer[1 << 16];
    for (size_t n; copy && (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        fwrite(buffer, 1, n, copy);
    bool ok = copy && !ferror(in) && fclose(copy) == 0;
    if (!ok)
        error_set(e, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
    fclose(in);
    return ok;
}

static bool is_ptx_name(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".ptx");
}

static bool examine(struct examination *x, const char *word, struct error *e)
{
    struct places places;
    struct program p;
    if (!places_find(&places, e))
        return false;
    if (is_ptx_name(word)) {
        char *data = NULL;
        size_t size = 0;
        if (!read_whole(word, &data, &size, e))
            return false;
        printf("%s\n", word);
        add_text(x, word, data, size, false, false);
        free(data);
        examine_ptx(x);
        return true;
    }
    struct elf_program elf;
    if (!program_find(&p, word, &places, e) || !elf_program_open(&elf, p.path, e))
        return false;
    printf("%s\n", p.path);
    examine_program(x, &elf, p.path, &places);
    elf_program_close(&elf);
    return true;
}

int cli_doctor(int argc, char **argv)
{
    static const struct option table[] = {{"help", no_argument, NULL, 'h'}, {0}};
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "+h", table, NULL)) != -1) {
        if (c != 'h')
            return cli_unknown_option("doctor", argv[optind - 1], table);
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (optind == argc)
        return cli_usage("doctor", "which program? A workload's name, a path or a .ptx file is expected");
    if (optind + 1 < argc)
        return cli_usage("doctor", "one program at a time; what is '%s'?", argv[optind + 1]);
    struct examination x = {0};
    struct error e = {0};
    bool read = examine(&x, argv[optind], &e);
    forget_texts(&x);
    if (!read)
        return cli_fail(&e);
    if (x.problems)
        printf("%u problem%s: this cannot run as it is\n", x.problems, x.problems == 1 ? "" : "s");
    else
        puts("Nothing stands in the way of running it.");
    return x.problems ? EXIT_UNSUPPORTED : EXIT_DONE;
}

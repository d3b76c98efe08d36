/*
 * vectors: records what the installed driver's device does for every instruction spelling and kernel, and compares
 * later. vectors list SPECDIR                               all spellings and kernels vectors dump SPECDIR OUTDIR the
 * generated PTX modules, for an assembler to look at vectors record SPECDIR OUTDIR                      FAMILY.vec,
 * kernels.vec and full-N.bin vectors check SPECDIR VECDIR [--full DIR] [NAME...]   NAME: a family or a pattern of
 * spellings vectors table INSTRUCTIONS_DEF SPECDIR VECDIR      which instructions of the table have no vector Kernels
 * are read from SPECDIR/../kernels and SPECDIR/../textures, exceptions of `table` from
 * SPECDIR/../untestable.txt. */
#include "vectors.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct session {
    struct spec spec;
    struct kernel_set kernels;
    struct device device;
    char **filters;
    int filter_count;
    /* record */
    const char *out_directory;
    struct full_writer full_out;
    /* check */
    const char *vec_directory;
    struct full_reader full_in;
    size_t passed, failed;
    uint64_t *inputs, *outputs;
};

static int wanted(const struct session *session, const char *family, const char *name)
{
    for (int i = 0; i < session->filter_count; i++)
        if (!strcmp(session->filters[i], family) || !fnmatch(session->filters[i], name, 0))
            return 1;
    return session->filter_count == 0;
}

static void pass_or_fail(struct session *session, const char *name, int bad, const char *message)
{
    if (bad) {
        session->failed++;
        printf("FAIL %s: %s\n", name, message);
        if (session->device.hung) { /* what was recorded so far stays */
            printf("%zu passed, %zu failed, the rest not run\n", session->passed, session->failed);
            fflush(NULL);
            _exit(1);
        }
    } else {
        session->passed++;
    }
}

/* ---- generated variants ---- */

static void run_variant(struct session *session, struct record_file *records, FILE *out, const struct variant *variant,
                        CUmodule module, const char *entry, int *launch_failed)
{
    char message[4096] = "";
    memset(session->inputs, 0, sizeof *session->inputs * MAX_OPERANDS * TUPLES);
    int count = operands_generate(variant, session->inputs);
    int results = variant->operand_count - count;
    int bad =
        device_run(&session->device, module, entry, TUPLES / 128, 128, 0, session->inputs, (size_t)count * TUPLES * 8,
                   session->outputs, (size_t)results * TUPLES * 8, message, sizeof message);
    *launch_failed = bad;
    if (!bad && out) {
        static unsigned char packed[TUPLES * MAX_OPERANDS * 8];
        record_variant(out, variant, session->inputs, session->outputs);
        size_t size = outputs_pack(variant, session->outputs, packed);
        bad = full_write(&session->full_out, variant->spelling, packed, size);
    } else if (!bad) {
        const char *fields = record_find(records, variant->spelling);
        if (fields)
            bad = check_variant(variant, fields, session->inputs, session->outputs, &session->full_in, message,
                                sizeof message);
        else
            bad = snprintf(message, sizeof message, "no recorded vector");
    }
    pass_or_fail(session, variant->spelling, bad, message);
}

static void make_module(struct text *ptx, struct variant **batch, size_t count)
{
    char name[32];
    emit_header(ptx);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "k%zu", i);
        emit_kernel(ptx, batch[i], name);
    }
}

/* Loads the kernels as one module; when it is refused, or a launch fails, the rest go one by one so that the culprit is
 * named. */
static void run_batch(struct session *session, struct record_file *records, FILE *out, struct variant **batch,
                      size_t count)
{
    struct text ptx = {0};
    CUmodule module;
    char message[4096], name[32];
    int launch_failed = 0;
    size_t done = 0;
    if (!count)
        return;
    make_module(&ptx, batch, count);
    int bad = device_load(&module, ptx.data, message, sizeof message);
    text_free(&ptx);
    if (bad && count == 1)
        pass_or_fail(session, batch[0]->spelling, 1, message);
    if (!bad) {
        for (; done < count && !launch_failed; done++) {
            snprintf(name, sizeof name, "k%zu", done);
            run_variant(session, records, out, batch[done], module, name, &launch_failed);
        }
        if (!launch_failed)
            cuModuleUnload(module);
    }
    for (; count > 1 && done < count; done++)
        run_batch(session, records, out, batch + done, 1);
}

static void report_stale(struct session *session, const struct record_file *records, const char *family)
{
    for (size_t r = 0; r < records->count && !session->filter_count; r++) {
        int found = 0;
        for (size_t i = 0; i < session->spec.count && !found; i++)
            found = !strcmp(session->spec.variants[i].family, family) &&
                    !strcmp(session->spec.variants[i].spelling, records->records[r].name);
        for (size_t i = 0; i < session->kernels.count && !found; i++)
            found = !strcmp(session->kernels.kernels[i].family, family) &&
                    !strcmp(session->kernels.kernels[i].name, records->records[r].name);
        if (!found)
            pass_or_fail(session, records->records[r].name, 1, "recorded, but not in the spec");
    }
}

static FILE *open_vec(const struct session *session, const char *family)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s.vec", session->out_directory, family);
    FILE *out = fopen(path, "w");
    if (!out)
        perror(path);
    return out;
}

static int run_family(struct session *session, size_t first, size_t end)
{
    const char *family = session->spec.variants[first].family;
    struct record_file records = {0};
    FILE *out = NULL;
    struct variant *batch[BATCH];
    size_t count = 0, any = 0;
    for (size_t i = first; i < end; i++)
        any += wanted(session, family, session->spec.variants[i].spelling);
    if (!any)
        return 0;
    if (session->out_directory ? !(out = open_vec(session, family))
                               : record_file_read(&records, session->vec_directory, family))
        return -1;
    for (size_t i = first; i < end; i++) {
        if (!wanted(session, family, session->spec.variants[i].spelling))
            continue;
        batch[count++] = &session->spec.variants[i];
        if (count == BATCH) {
            run_batch(session, &records, out, batch, count);
            count = 0;
        }
    }
    run_batch(session, &records, out, batch, count);
    report_stale(session, &records, family);
    record_file_free(&records);
    return out ? fclose(out) : 0;
}

/* ---- kernels ---- */

static void run_kernel(struct session *session, const struct record_file *records, FILE *out,
                       const struct kernel *kernel)
{
    char message[4096] = "";
    CUmodule module;
    unsigned char *in = calloc(1, kernel->in_bytes + 8), *result = calloc(1, kernel->out_bytes);
    int is_texture = !strcmp(kernel->family, "textures");
    int bad = kernel_fill(kernel, in) || device_load(&module, kernel->ptx, message, sizeof message);
    if (!bad) {
        bad = is_texture
                  ? textures_run(&session->device, kernel, module, result, message, sizeof message)
                  : device_run(&session->device, module, "kernel", kernel->grid, kernel->block, kernel->shared_bytes,
                               in, kernel->in_bytes, result, kernel->out_bytes, message, sizeof message);
        if (!bad)
            cuModuleUnload(module);
    }
    if (!bad && out) {
        record_kernel(out, kernel, result);
        bad = full_write(&session->full_out, kernel->name, result, kernel->out_bytes);
    } else if (!bad) {
        const char *fields = record_find(records, kernel->name);
        if (fields)
            bad = check_kernel(kernel, fields, result, &session->full_in, message, sizeof message);
        else
            bad = snprintf(message, sizeof message, "no recorded vector");
    }
    pass_or_fail(session, kernel->name, bad, message);
    free(in);
    free(result);
}

static int run_kernels(struct session *session, const char *family)
{
    struct record_file records = {0};
    FILE *out = NULL;
    const struct kernel *kernels = session->kernels.kernels;
    size_t any = 0;
    for (size_t i = 0; i < session->kernels.count; i++)
        any += !strcmp(kernels[i].family, family) && wanted(session, family, kernels[i].name);
    if (!any)
        return 0;
    if (session->out_directory ? !(out = open_vec(session, family))
                               : record_file_read(&records, session->vec_directory, family))
        return -1;
    for (size_t i = 0; i < session->kernels.count; i++)
        if (!strcmp(kernels[i].family, family) && wanted(session, family, kernels[i].name))
            run_kernel(session, &records, out, &kernels[i]);
    report_stale(session, &records, family);
    record_file_free(&records);
    return out ? fclose(out) : 0;
}

static int run_all(struct session *session)
{
    int bad = device_open(&session->device);
    session->inputs = calloc(MAX_OPERANDS * TUPLES, sizeof *session->inputs);
    session->outputs = calloc(MAX_OPERANDS * TUPLES, sizeof *session->outputs);
    for (size_t first = 0, end; !bad && first < session->spec.count; first = end) {
        for (end = first; end < session->spec.count; end++)
            if (strcmp(session->spec.variants[first].family, session->spec.variants[end].family))
                break;
        bad |= run_family(session, first, end);
    }
    if (!bad)
        bad |= run_kernels(session, "kernels") || run_kernels(session, "textures");
    if (!bad)
        device_close(&session->device);
    full_close(&session->full_out);
    free(session->inputs);
    free(session->outputs);
    printf("%zu passed, %zu failed\n", session->passed, session->failed);
    return bad || session->failed || !session->passed ? 1 : 0;
}

/* ---- list, dump ---- */

static int list_all(const struct session *session)
{
    for (size_t i = 0; i < session->spec.count; i++)
        printf("%s %s\n", session->spec.variants[i].family, session->spec.variants[i].spelling);
    for (size_t i = 0; i < session->kernels.count; i++)
        printf("%s %s\n", session->kernels.kernels[i].family, session->kernels.kernels[i].name);
    return 0;
}

static int write_text(const char *directory, const char *name, const char *text)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s.ptx", directory, name);
    for (char *c = path + strlen(directory) + 1; *c; c++)
        *c = *c == '/' ? '-' : *c;
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return -1;
    }
    fputs(text, file);
    return fclose(file);
}

static int dump_all(struct session *session, const char *directory)
{
    int bad = 0;
    for (size_t first = 0, end; first < session->spec.count; first = end) {
        struct text ptx = {0};
        char name[256];
        emit_header(&ptx);
        for (end = first; end < session->spec.count && end < first + BATCH; end++) {
            if (strcmp(session->spec.variants[first].family, session->spec.variants[end].family))
                break;
            snprintf(name, sizeof name, "k%zu", end - first);
            emit_kernel(&ptx, &session->spec.variants[end], name);
        }
        snprintf(name, sizeof name, "spec-%s-%05zu", session->spec.variants[first].family, first);
        bad |= write_text(directory, name, ptx.data);
        text_free(&ptx);
    }
    for (size_t i = 0; i < session->kernels.count; i++)
        bad |= write_text(directory, session->kernels.kernels[i].name, session->kernels.kernels[i].ptx);
    return bad ? 1 : 0;
}

/* ---- main ---- */

static int usage(void)
{
    fprintf(stderr, "usage: vectors list SPECDIR\n       vectors dump SPECDIR OUTDIR\n       vectors record SPECDIR "
                    "OUTDIR [NAME...]\n"
                    "       vectors check SPECDIR VECDIR [--full DIR] [NAME...]\n       vectors table INSTRUCTIONS_DEF "
                    "SPECDIR VECDIR\n");
    return 2;
}

/* Reads the directory behind --full, wherever it stands, and closes the gap it leaves. */
static int take_full_option(struct session *session, int *count, char **arguments)
{
    for (int i = 0; i < *count; i++) {
        if (strcmp(arguments[i], "--full"))
            continue;
        if (i + 1 == *count || full_read_directory(&session->full_in, arguments[i + 1]))
            return -1;
        memmove(arguments + i, arguments + i + 2, (*count - i - 2) * sizeof *arguments);
        *count -= 2;
        return 0;
    }
    return 0;
}

static int run_mode(struct session *session, const char *mode, int count, char **arguments)
{
    if (!strcmp(mode, "list"))
        return list_all(session);
    if (count < 1)
        return usage();
    const char *directory = arguments[0];
    arguments++;
    count--;
    if (!strcmp(mode, "check"))
        session->vec_directory = directory;
    else if (mkdir(directory, 0777) && errno != EEXIST)
        perror(directory);
    if (!strcmp(mode, "dump"))
        return dump_all(session, directory);
    if (!strcmp(mode, "record")) {
        session->out_directory = directory;
        snprintf(session->full_out.directory, sizeof session->full_out.directory, "%s", directory);
    } else if (take_full_option(session, &count, arguments)) {
        return 2;
    }
    session->filters = arguments;
    session->filter_count = count;
    return run_all(session);
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"list", "dump", "record", "check", "table"};
    struct session session = {0};
    char kernels[2048], textures[2048], untestable[2048];
    int known = 0, result;
    for (size_t i = 0; argc > 2 && i < sizeof modes / sizeof *modes; i++)
        known |= !strcmp(argv[1], modes[i]);
    int is_table = known && !strcmp(argv[1], "table");
    if (!known || (is_table && argc != 5))
        return usage();
    const char *spec_directory = is_table ? argv[3] : argv[2];
    snprintf(kernels, sizeof kernels, "%s/../kernels", spec_directory);
    snprintf(textures, sizeof textures, "%s/../textures", spec_directory);
    snprintf(untestable, sizeof untestable, "%s/../untestable.txt", spec_directory);
    if (spec_read_directory(&session.spec, spec_directory) ||
        kernels_read_directory(&session.kernels, kernels, "kernels") ||
        kernels_read_directory(&session.kernels, textures, "textures"))
        return 2;
    if (is_table)
        result = table_check(&session.spec, &session.kernels, argv[2], untestable, argv[4]);
    else
        result = run_mode(&session, argv[1], argc - 3, argv + 3);
    full_free(&session.full_in);
    spec_free(&session.spec);
    kernels_free(&session.kernels);
    return result;
}

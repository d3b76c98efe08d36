/*
 * compiled: runs kernels that real compilers made (ptx/NAME.BUILD.ptx, from NAME.cu) through the CUDA driver API, and
 * records their output or compares it with a recording. A recording is text: a line `kernel FILE NAME HASH`, the first
 * words of the output (all of them where a tolerance is allowed), and what the kernel printed. `differs` on a line says
 * that silicon gave other bits with optimisation: the assembler contracts a mul and an add that have no rounding
 * modifier. What it gave without optimisation is recorded then: the instructions as they are
 * written. */
#include "compiled.h"
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_WORDS = 8, LINE_WORDS = 16, MAX_FILES = 1024 };

struct run {
    const char *ptx_folder;
    const char *full_folder; /* whole outputs, for a look at differences; not in the repository */
    const char *pattern;     /* of FILE/KERNEL, or NULL */
    FILE *record;
    unsigned passed, failed;
};

static uint64_t hash_bytes(const void *data, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const unsigned char *p = data, *end = p + size; p < end; p++)
        hash = (hash ^ *p) * 0x100000001b3u;
    return hash;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_of_source(const char *file, const char *source)
{
    size_t length = strlen(source);
    return strncmp(file, source, length) == 0 && file[length] == '.';
}

/* Does the text declare this entry? Some kernels are left out of builds for older targets. */
static bool has_entry(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = text; (p = strstr(p, ".entry ")); p++) {
        const char *at = p + 7 + strspn(p + 7, " \t");
        if (strncmp(at, name, length) == 0 && (at[length] == '(' || at[length] == '\n' || at[length] == ' '))
            return true;
    }
    return false;
}

static size_t recorded_words(const struct kernel *kernel)
{
    size_t words = kernel->out_bytes / 4;
    return kernel->compare != COMPARE_BITS || words < FIRST_WORDS ? words : FIRST_WORDS;
}

static void write_text(FILE *file, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        fprintf(file, "| %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void write_full(const struct run *run, const char *file, const struct kernel *kernel, const void *out)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s.bin", run->full_folder, file, kernel->name);
    FILE *full = fopen(path, "wb");
    if (!full)
        return;
    fwrite(out, 1, kernel->out_bytes, full);
    fclose(full);
}

static void record_kernel(struct run *run, CUmodule fast, CUmodule slow, const char *file, const struct kernel *kernel)
{
    struct result result, again;
    bool bad = device_run(fast, kernel, &result) != 0;
    bad = device_run(slow, kernel, &again) != 0 || bad;
    if (bad) {
        printf("FAILED %s %s\n", file, kernel->name);
        run->failed++;
    } else {
        bool same = memcmp(result.out, again.out, kernel->out_bytes) == 0 &&
                    (!result.text || strcmp(result.text, again.text) == 0);
        memcpy(result.out, again.out, kernel->out_bytes);
        fprintf(run->record, "kernel %s %s %016llx%s\n", file, kernel->name,
                (unsigned long long)hash_bytes(result.out, kernel->out_bytes), same ? "" : " differs");
        for (size_t k = 0; k < recorded_words(kernel); k++)
            fprintf(run->record, "%08x%s", ((uint32_t *)result.out)[k],
                    k % LINE_WORDS == LINE_WORDS - 1 || k + 1 == recorded_words(kernel) ? "\n" : " ");
        if (result.text)
            write_text(run->record, result.text);
        if (run->full_folder)
            write_full(run, file, kernel, result.out);
        run->passed++;
    }
    result_free(&result);
    result_free(&again);
}

static int record_file(struct run *run, const char *path)
{
    const char *file = base_name(path);
    size_t size;
    char *text = read_file(path, &size);
    CUmodule fast, slow;
    if (!text || device_load(&fast, path, 4) || device_load(&slow, path, 0)) {
        printf("FAILED %s is not loaded\n", file);
        run->failed++;
        free(text);
        return -1;
    }
    for (const struct kernel *kernel = kernels; kernel < kernels + kernel_count; kernel++)
        if (is_of_source(file, kernel->source) &&
            (has_entry(text, kernel->name) || strcmp(kernel->source, "link") == 0))
            record_kernel(run, fast, slow, file, kernel);
    cuModuleUnload(fast);
    cuModuleUnload(slow);
    free(text);
    return 0;
}

/* Representable values between two floats; UINT64_MAX where only one is a NaN. */
static uint64_t ulps_apart(uint32_t a, uint32_t b)
{
    int64_t x = a & 0x80000000u ? -(int64_t)(a & 0x7fffffff) : (int64_t)a;
    int64_t y = b & 0x80000000u ? -(int64_t)(b & 0x7fffffff) : (int64_t)b;
    bool x_nan = (a & 0x7fffffff) > 0x7f800000, y_nan = (b & 0x7fffffff) > 0x7f800000;
    if (x_nan || y_nan)
        return x_nan && y_nan ? 0 : UINT64_MAX;
    return (uint64_t)(x > y ? x - y : y - x);
}

static bool words_agree(const struct kernel *kernel, uint32_t expected, uint32_t got)
{
    float a, b;
    if (expected == got)
        return true;
    if (kernel->compare == COMPARE_ULPS)
        return ulps_apart(expected, got) <= kernel->tolerance;
    memcpy(&a, &expected, 4);
    memcpy(&b, &got, 4);
    double difference = (double)a - (double)b;
    return kernel->compare == COMPARE_ABSOLUTE && difference <= kernel->tolerance / 8388608.0 &&
           -difference <= kernel->tolerance / 8388608.0;
}

/* Says where words differ; returns how many. */
static size_t compare_words(const struct kernel *kernel, const char *file, const uint32_t *expected,
                            const uint32_t *got, size_t words)
{
    size_t differ = 0;
    for (size_t k = 0; k < words; k++)
        if (!words_agree(kernel, expected[k], got[k]) && differ++ < 6)
            printf("    %s %s: word %zu is %08x, recorded %08x\n", file, kernel->name, k, got[k], expected[k]);
    return differ;
}

static bool full_agrees(const struct run *run, const char *file, const struct kernel *kernel, const void *out)
{
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/%s.%s.bin", run->full_folder, file, kernel->name);
    char *full = read_file(path, &size);
    if (!full || size != kernel->out_bytes) {
        free(full);
        return false;
    }
    size_t differ = compare_words(kernel, file, (uint32_t *)full, out, size / 4);
    printf("    %s %s: %zu of %zu words differ\n", file, kernel->name, differ, size / 4);
    free(full);
    return differ == 0;
}

/* One `kernel` line of a recording with the lines that belong to it. */
struct record {
    char file[256], name[128];
    unsigned long long hash;
    uint32_t *words;
    size_t word_count;
    char *text;
};

static void record_free(struct record *record)
{
    free(record->words);
    free(record->text);
    memset(record, 0, sizeof *record);
}

static void add_line(struct record *record, const char *line)
{
    if (line[0] == '|') {
        size_t have = record->text ? strlen(record->text) : 0, more = strlen(line + 2);
        record->text = realloc(record->text, have + more + 2);
        snprintf(record->text + have, more + 2, "%s\n", line + 2);
        return;
    }
    char *end;
    for (uint32_t word = (uint32_t)strtoul(line, &end, 16); end != line; word = (uint32_t)strtoul(line, &end, 16)) {
        record->words = realloc(record->words, (record->word_count + 1) * sizeof *record->words);
        record->words[record->word_count++] = word;
        line = end;
    }
}

static const struct kernel *find_kernel(const char *name)
{
    for (const struct kernel *kernel = kernels; kernel < kernels + kernel_count; kernel++)
        if (strcmp(kernel->name, name) == 0)
            return kernel;
    return NULL;
}

static bool output_agrees(const struct run *run, const struct record *record, const struct kernel *kernel,
                          const struct result *result)
{
    if (kernel->compare == COMPARE_BITS && hash_bytes(result->out, kernel->out_bytes) != record->hash) {
        if (run->full_folder)
            full_agrees(run, record->file, kernel, result->out);
        else if (compare_words(kernel, record->file, record->words, result->out, recorded_words(kernel)) == 0)
            printf("    %s %s: a word after the first %zu differs\n", record->file, kernel->name,
                   recorded_words(kernel));
        return false;
    }
    if (kernel->compare != COMPARE_BITS &&
        compare_words(kernel, record->file, record->words, result->out, record->word_count) != 0)
        return false;
    if (kernel->flags & RUN_PRINTS && strcmp(record->text ? record->text : "", result->text ? result->text : "") != 0) {
        printf("    %s %s printed:\n%s    recorded:\n%s", record->file, kernel->name, result->text,
               record->text ? record->text : "");
        return false;
    }
    return true;
}

static bool check_record(const struct run *run, const struct record *record, CUmodule module, bool *spoilt)
{
    const struct kernel *kernel = find_kernel(record->name);
    struct result result;
    if (!kernel || record->word_count != recorded_words(kernel)) {
        printf("    the recording of %s is not one of this program\n", record->name);
        return false;
    }
    *spoilt = device_run(module, kernel, &result) != 0;
    bool good = !*spoilt && output_agrees(run, record, kernel, &result);
    result_free(&result);
    return good;
}

/* The module of the record's file: kept until another file's turn comes. */
static CUmodule module_of(const struct run *run, const struct record *record, char *current, size_t size,
                          CUmodule module)
{
    char path[4096];
    if (strcmp(current, record->file) == 0)
        return module;
    if (module)
        cuModuleUnload(module);
    snprintf(current, size, "%s", record->file);
    snprintf(path, sizeof path, "%s/%s", run->ptx_folder, record->file);
    return device_load(&module, path, 4) ? NULL : module;
}

static void finish_record(struct run *run, struct record *record, char *current, size_t size, CUmodule *module)
{
    char name[512];
    snprintf(name, sizeof name, "%s/%s", record->file, record->name);
    if (record->name[0] && (!run->pattern || fnmatch(run->pattern, name, 0) == 0)) {
        *module = module_of(run, record, current, size, *module);
        bool spoilt = false;
        if (*module && check_record(run, record, *module, &spoilt)) {
            run->passed++;
        } else {
            printf("FAILED %s %s\n", record->file, record->name);
            run->failed++;
        }
        if (spoilt) {
            *module = NULL;
            current[0] = 0;
            device_renew();
        }
    }
    record_free(record);
}

static int check_all(struct run *run, const char *recording)
{
    FILE *file = fopen(recording, "r");
    struct record record = {0};
    char current[256] = "", *line = NULL;
    size_t size = 0;
    ssize_t length;
    CUmodule module = NULL;
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", recording);
        return -1;
    }
    while ((length = getline(&line, &size, file)) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "kernel ", 7) == 0) {
            finish_record(run, &record, current, sizeof current, &module);
            if (sscanf(line, "kernel %255s %127s %llx", record.file, record.name, &record.hash) != 3)
                fprintf(stderr, "a line of %s is not understood: %s\n", recording, line);
        } else {
            add_line(&record, line);
        }
    }
    finish_record(run, &record, current, sizeof current, &module);
    free(line);
    fclose(file);
    return 0;
}

/* Every entry of every PTX file must be in the recording. */
static void check_complete(struct run *run, const char *recording)
{
    size_t size;
    char *recorded = read_file(recording, &size), path[4096], line[512];
    DIR *folder = opendir(run->ptx_folder);
    struct dirent *entry;
    while (recorded && folder && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "%s/%s", run->ptx_folder, entry->d_name);
        char *text = strstr(entry->d_name, ".ptx") ? read_file(path, &size) : NULL;
        for (char *p = text; p && (p = strstr(p, ".entry ")); p++) {
            char *name = p + 7;
            int length = (int)strcspn(name, "( \n");
            bool second = strstr(entry->d_name, "_second.") != NULL;
            snprintf(line, sizeof line, "%s %.*s ", second ? "" : entry->d_name, length, name);
            if (!strstr(recorded, line)) {
                printf("FAILED %s has no record of %.*s\n", entry->d_name, length, name);
                run->failed++;
            }
        }
        free(text);
    }
    if (folder)
        closedir(folder);
    free(recorded);
}

static int usage(void)
{
    fprintf(stderr, "usage: compiled record RECORDING [--full DIR] FILE.ptx...\n"
                    "       compiled check RECORDING PTXDIR [--full DIR] [PATTERN]     PATTERN: of FILE/KERNEL\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct run run = {0};
    const char *plain[MAX_FILES];
    int count = 0;
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--full") == 0 && k + 1 < argc)
            run.full_folder = argv[++k];
        else if (count < MAX_FILES)
            plain[count++] = argv[k];
    }
    if (count < 3 || (strcmp(plain[0], "record") != 0 && strcmp(plain[0], "check") != 0))
        return usage();
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (device_open())
        return 1;
    if (strcmp(plain[0], "record") == 0) {
        run.record = fopen(plain[1], "w");
        if (!run.record)
            return usage();
        for (int k = 2; k < count; k++)
            if (!strstr(base_name(plain[k]), "_second."))
                record_file(&run, plain[k]);
        fclose(run.record);
    } else {
        run.ptx_folder = plain[2];
        run.pattern = count > 3 ? plain[3] : NULL;
        if (check_all(&run, plain[1]))
            return 1;
        if (!run.pattern)
            check_complete(&run, plain[1]);
    }
    printf("%u passed, %u failed\n", run.passed, run.failed);
    return run.failed != 0 || run.passed == 0;
}

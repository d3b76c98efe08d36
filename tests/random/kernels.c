/*
 * The command line of the random kernels.
 *   random print SEED                             the kernel's PTX
 *   random write FIRST COUNT DIRECTORY            the PTX of many, for an assembler to judge
 *   random record FIRST COUNT OUT                 run them on the device: OUT/recorded.txt, OUT/full.bin,
 * OUT/differ.txt random check FIRST COUNT FILE [FULL [DIR]]    run them and compare with a recording; FULL: the outputs
 * in full random mixed FIRST COUNT FILE LEAST           the same under a divergence unit that mixes the warps of a
 * block Kernels with instructions of the warp as a whole must be refused there at launch: they are counted apart. All
 * others must run, at least LEAST of them. A kernel is recorded only if the driver's compiler gives the same results
 * with and without optimisation. Failing kernels' PTX goes to
 * DIR. */
#include "random.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct range {
    uint64_t first, count;
};

static struct range parse_range(char **words)
{
    return (struct range){strtoull(words[0], NULL, 0), strtoull(words[1], NULL, 0)};
}

static FILE *open_in(const char *directory, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
        exit(2);
    }
    return file;
}

static void write_kernel(const char *directory, const struct kernel *kernel)
{
    char name[64];
    snprintf(name, sizeof name, "random-%llu.ptx", (unsigned long long)kernel->seed);
    FILE *file = open_in(directory, name);
    fwrite(kernel->ptx.data, 1, kernel->ptx.size, file);
    fclose(file);
}

static int print_one(uint64_t seed)
{
    struct kernel kernel;
    kernel_generate(&kernel, seed);
    printf("// grid %u %u %u, block %u %u %u, %u bytes of dynamic shared memory, %u columns, %zu bytes of output\n",
           kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2],
           kernel.dynamic_shared_bytes, kernel.columns, kernel.out_bytes);
    fputs(kernel.ptx.data, stdout);
    kernel_free(&kernel);
    return 0;
}

static int write_all(struct range range, const char *directory)
{
    for (uint64_t i = 0; i < range.count; i++) {
        struct kernel kernel;
        kernel_generate(&kernel, range.first + i);
        write_kernel(directory, &kernel);
        kernel_free(&kernel);
    }
    return 0;
}

static size_t first_difference(const unsigned char *a, const unsigned char *b, const struct kernel *kernel)
{
    /* The columns first: they are in the order of the program, and say most. */
    for (size_t i = kernel->columns_at; i < kernel->out_bytes; i += 4)
        if (memcmp(a + i, b + i, 4))
            return i;
    for (size_t i = 0; i < kernel->columns_at; i += 4)
        if (memcmp(a + i, b + i, 4))
            return i;
    return kernel->out_bytes;
}

static uint32_t word_at(const unsigned char *out, size_t offset)
{
    uint32_t word;
    memcpy(&word, out + offset, sizeof word);
    return word;
}

static void report_difference(FILE *file, const struct kernel *kernel, const char *left, const unsigned char *a,
                              const char *right, const unsigned char *b)
{
    char message[1024];
    size_t at = first_difference(a, b, kernel);
    if (at == kernel->out_bytes)
        return;
    kernel_describe(kernel, at, message, sizeof message);
    fprintf(file, "seed %llu: %s %08x, %s %08x: %s\n", (unsigned long long)kernel->seed, left, word_at(a, at), right,
            word_at(b, at), message);
}

struct outputs {
    FILE *rows, *full, *differ;
    unsigned recorded, differing, failing;
};

static void record_one(struct device *device, struct outputs *to, uint64_t seed)
{
    struct kernel kernel;
    char message[4096];
    kernel_generate(&kernel, seed);
    unsigned char *fast = malloc(kernel.out_bytes), *plain = malloc(kernel.out_bytes);
    if (device_run(device, &kernel, 4, fast, message, sizeof message) ||
        device_run(device, &kernel, 0, plain, message, sizeof message)) {
        fprintf(to->differ, "seed %llu: does not run: %s\n", (unsigned long long)seed, message);
        to->failing++;
    } else if (memcmp(fast, plain, kernel.out_bytes)) {
        report_difference(to->differ, &kernel, "optimised", fast, "plain", plain);
        full_write(to->full, seed | 1ull << 63, plain, kernel.out_bytes);
        full_write(to->full, seed, fast, kernel.out_bytes);
        to->differing++;
    } else {
        struct recorded row;
        recorded_fill(&row, &kernel, fast);
        recorded_write(to->rows, &row);
        full_write(to->full, seed, fast, kernel.out_bytes);
        to->recorded++;
    }
    free(fast);
    free(plain);
    kernel_free(&kernel);
}

static int record_all(struct range range, const char *directory)
{
    struct device device;
    mkdir(directory, 0777);
    struct outputs to = {
        open_in(directory, "recorded.txt"), open_in(directory, "full.bin"), open_in(directory, "differ.txt"), 0, 0, 0};
    if (device_open(&device))
        return 2;
    for (uint64_t i = 0; i < range.count; i++)
        record_one(&device, &to, range.first + i);
    device_close(&device);
    fclose(to.rows);
    fclose(to.full);
    fclose(to.differ);
    printf("%u recorded, %u differ between optimisation levels, %u do not run\n", to.recorded, to.differing,
           to.failing);
    return 0;
}

static void explain(const struct kernel *kernel, const struct recorded *expected, const unsigned char *out,
                    const char *full_path)
{
    uint64_t size = 0;
    unsigned char *full = full_path ? full_find(full_path, kernel->seed, &size) : NULL;
    if (full && size == kernel->out_bytes) {
        report_difference(stdout, kernel, "silicon", full, "got", out);
    } else {
        int shown = 0;
        for (int i = 0; i < 4 && !shown; i++) {
            uint32_t word = word_at(out, kernel->columns_at + (size_t)i * 4);
            shown = word != expected->words[i];
            if (shown)
                printf("seed %llu: first column, thread %d: silicon %08x, got %08x\n", (unsigned long long)kernel->seed,
                       i, expected->words[i], word);
        }
        if (!shown)
            printf("seed %llu: the output's hash differs\n", (unsigned long long)kernel->seed);
    }
    free(full);
}

enum outcome { PASSED, FAILED, LEFT_OUT };

struct check {
    const char *full_path, *directory; /* NULL: none */
    int mixed;
};

/* What a launch came to that the unit refused, or that it should have refused. */
static enum outcome judge_refusal(const struct kernel *kernel, int refused)
{
    const char *line = kernel_needs_warps(kernel);
    if (refused && line)
        return LEFT_OUT;
    if (refused)
        printf("seed %llu: refused, though no instruction needs its warp whole\n", (unsigned long long)kernel->seed);
    else
        printf("seed %llu: not refused, though it has%.*s\n", (unsigned long long)kernel->seed,
               (int)strcspn(line + 3, "\n"), line + 3);
    return FAILED;
}

static enum outcome check_one(struct device *device, const struct recorded *expected, const struct check *check)
{
    struct kernel kernel;
    struct recorded row;
    char message[4096];
    enum outcome outcome = FAILED;
    kernel_generate(&kernel, expected->seed);
    if ((kernel_text_hash(&kernel) & 0xffffffff) != expected->text_hash) {
        printf("seed %llu: was recorded with another kernel: record again\n", (unsigned long long)expected->seed);
        kernel_free(&kernel);
        return FAILED;
    }
    unsigned char *out = malloc(kernel.out_bytes);
    int stopped = device_run(device, &kernel, -1, out, message, sizeof message);
    int refused = stopped && strcmp(message, "cuLaunchKernel: CUDA_ERROR_NOT_SUPPORTED") == 0;
    if (check->mixed && (refused || (!stopped && kernel_needs_warps(&kernel)))) {
        outcome = judge_refusal(&kernel, refused);
    } else if (stopped) {
        printf("seed %llu: does not run: %s\n", (unsigned long long)expected->seed, message);
    } else {
        recorded_fill(&row, &kernel, out);
        outcome = row.hash == expected->hash ? PASSED : FAILED;
        if (outcome == FAILED)
            explain(&kernel, expected, out, check->full_path);
    }
    if (outcome == FAILED && check->directory)
        write_kernel(check->directory, &kernel);
    free(out);
    kernel_free(&kernel);
    return outcome;
}

static int check_all(struct range range, const char *path, const struct check *check, unsigned least)
{
    struct recording recording;
    struct device device;
    unsigned counts[3] = {0};
    if (recording_read(&recording, path) || device_open(&device))
        return 2;
    for (size_t i = 0; i < recording.count; i++) {
        const struct recorded *row = &recording.rows[i];
        if (row->seed < range.first || row->seed - range.first >= range.count)
            continue;
        counts[check_one(&device, row, check)]++;
        fflush(stdout);
    }
    device_close(&device);
    free(recording.rows);
    if (check->mixed)
        printf("note %u kernels with warp-wide instructions, calls or other barriers left out\n", counts[LEFT_OUT]);
    if (counts[PASSED] < least)
        printf("%u kernels passed, at least %u should have\n", counts[PASSED], least);
    printf("%u passed, %u failed\n", counts[PASSED], counts[FAILED]);
    return counts[FAILED] || counts[PASSED] < least;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "print") == 0 && argc == 3)
        return print_one(strtoull(argv[2], NULL, 0));
    if (strcmp(mode, "write") == 0 && argc == 5)
        return write_all(parse_range(argv + 2), argv[4]);
    if (strcmp(mode, "record") == 0 && argc == 5)
        return record_all(parse_range(argv + 2), argv[4]);
    if (strcmp(mode, "check") == 0 && argc >= 5 && argc <= 7)
        return check_all(parse_range(argv + 2), argv[4],
                         &(struct check){argc > 5 ? argv[5] : NULL, argc > 6 ? argv[6] : NULL, 0}, 1);
    if (strcmp(mode, "mixed") == 0 && argc == 6)
        return check_all(parse_range(argv + 2), argv[4], &(struct check){.mixed = 1},
                         (unsigned)strtoul(argv[5], NULL, 0));
    fprintf(stderr, "usage: random print SEED | write FIRST COUNT DIRECTORY | record FIRST COUNT OUT | check FIRST "
                    "COUNT FILE [FULL [DIRECTORY]] |\n"
                    "       mixed FIRST COUNT FILE LEAST\n");
    return 2;
}

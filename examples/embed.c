/* Adds two vectors on a simulated GPU: embed PTX-FILE [RESULTS.json]. */
#include <heddle/heddle.h>

#include <stdlib.h>

enum { COUNT = 5000, BLOCK = 256 };

static struct heddle_error error;

static void must(bool ok)
{
    if (ok)
        return;
    fprintf(stderr, "%s\n", error.message);
    exit(1);
}

int main(int argc, char **argv)
{
    static float a[COUNT], b[COUNT], c[COUNT];
    int count = COUNT, wrong = 0;
    for (int i = 0; i < COUNT; i++)
        a[i] = i, b[i] = 2 * i;

    struct heddle_options options = {
        .machine = "gtx480", .scheduler = "gto", .set = (const char *const[]){"l1d.ways=8", NULL}};
    struct heddle *gpu = heddle_open(&options, &error);
    must(gpu);
    struct heddle_module *module = heddle_load_file(gpu, argc > 1 ? argv[1] : "vectoradd.ptx", &error);
    must(module);

    uint64_t a_memory = heddle_alloc(gpu, sizeof a), b_memory = heddle_alloc(gpu, sizeof b);
    must(heddle_write(gpu, a_memory, a, sizeof a, &error) && heddle_write(gpu, b_memory, b, sizeof b, &error));
    uint64_t c_memory = heddle_alloc(gpu, sizeof c);
    struct heddle_launch launch = {.grid = {(COUNT + BLOCK - 1) / BLOCK, 1, 1},
                                   .block = {BLOCK, 1, 1},
                                   .arguments = (void *[]){&a_memory, &b_memory, &c_memory, &count}};
    must(heddle_launch(gpu, heddle_kernel(module, "vectoradd"), &launch, &error));
    must(heddle_read(gpu, c, c_memory, sizeof c, &error));

    for (int i = 0; i < COUNT; i++)
        wrong += c[i] != a[i] + b[i];
    printf("%d of %d sums are wrong\n", wrong, COUNT);
    printf("%.0f cycles, %.2f instructions per cycle, %.0f L1 misses\n", heddle_metric(gpu, 0, "cycles"),
           heddle_metric(gpu, 0, "ipc"), heddle_metric(gpu, 0, "l1d.misses"));
    if (argc > 2)
        must(heddle_save(gpu, argv[2], &error)); /* as heddle run --stats writes it */
    heddle_close(gpu);
    return wrong != 0;
}

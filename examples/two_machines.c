/* The same launch on two machines at once, and what each took for it: two_machines PTX-FILE. */
#include <heddle/heddle.h>

#include <stdlib.h>

enum { COUNT = 20000, BLOCK = 256 };

static struct heddle_error error;

static void must(bool ok)
{
    if (ok)
        return;
    fprintf(stderr, "%s\n", error.message);
    exit(1);
}

static void launch(struct heddle *gpu, const char *ptx)
{
    int count = COUNT;
    uint64_t memory[3];
    struct heddle_module *module = heddle_load_file(gpu, ptx, &error);
    must(module);
    for (int i = 0; i < 3; i++)
        memory[i] = heddle_alloc(gpu, COUNT * sizeof(float));
    struct heddle_launch launch = {.grid = {(COUNT + BLOCK - 1) / BLOCK, 1, 1},
                                   .block = {BLOCK, 1, 1},
                                   .arguments = (void *[]){&memory[0], &memory[1], &memory[2], &count}};
    must(heddle_launch(gpu, heddle_kernel(module, "vectoradd"), &launch, &error));
}

int main(int argc, char **argv)
{
    const char *const machines[] = {"gtx480", "ccws"};
    struct heddle *gpus[2];
    for (int i = 0; i < 2; i++) {
        gpus[i] = heddle_open(&(struct heddle_options){.machine = machines[i]}, &error);
        must(gpus[i]);
    }
    for (int i = 0; i < 2; i++)
        launch(gpus[i], argc > 1 ? argv[1] : "vectoradd.ptx");
    for (int i = 0; i < 2; i++) {
        printf("%s: %.0f cycles\n", machines[i], heddle_metric(gpus[i], HEDDLE_TOTAL, "cycles"));
        heddle_close(gpus[i]);
    }
    return 0;
}

/* The ways in which nvcc packs and divides device code: compressions, debugging information, two modules with the same
 * names, three that are linked, variables and constants, function pointers, and a barrier of the whole grid. */
#include "recorded.h"

RECORDED(compressed_none);
RECORDED(compressed_speed);
RECORDED(compressed_size);
RECORDED(compressed_debug);
RECORDED(units);
RECORDED(units_second);
RECORDED(constant_memory);
/* A program with relocatable code registers one wrapper, whose image has machine code alone, with the images of its
 * files behind it. */
RECORDED_IMAGE(separate, "__nv_relfatbin");
RECORDED_IMAGE(separate_second, "__nv_relfatbin");
RECORDED_IMAGE(separate_third, "__nv_relfatbin");
static const void *const separate_parts[] = {image_separate, image_separate_second, image_separate_third, NULL};
IMAGE_OF(linked, KIND_ELF, "\177ELF, of no use here");
WRAPPER_OF(wrapper_separate, 2, &linked, separate_parts);
RECORDED(virtual_functions);
RECORDED(grid_sync);

#define PACKED 4
static struct recorded_kernel measure[PACKED] = {{"_Z7measurev"}, {"_Z7measurev"}, {"_Z7measurev"}, {"_Z7measurev"}};
static struct recorded_variable lengths[PACKED] = {
    {"lengths", 12, false}, {"lengths", 12, false}, {"lengths", 12, false}, {"lengths", 12, false}};
static const struct fat_wrapper *const packed[PACKED] = {&wrapper_compressed_none, &wrapper_compressed_speed,
                                                         &wrapper_compressed_size, &wrapper_compressed_debug};

static struct recorded_kernel work[2] = {{"_Z4workPi"}, {"_Z4workPi"}};
static struct recorded_variable counters[2] = {{"counter", 4, false}, {"counter", 4, false}};

static struct recorded_kernel look = {"_Z4lookPii"};
enum { PRIMES, OPTIONS, DEVICE_COPY };
static struct recorded_variable constants[] = {{"primes", 32, true}, {"options", 16, true}, {"device_copy", 32, false}};

enum { ACROSS, THROUGH_POINTER, THROUGH_OBJECT, TRIPLE };
static struct recorded_kernel separate[] = {
    {"_Z6acrossPi"}, {"_Z15through_pointerPii"}, {"_Z14through_objectPi"}, {"_Z6triplePi"}};
static struct recorded_variable shared_counter = {"shared_counter", 4, false};

enum { ZOO, APPLY, RECURSION };
static struct recorded_kernel objects[] = {{"_Z3zooPi"}, {"_Z5applyPFfffEPf"}, {"_Z9recursionPj"}};
static struct recorded_variable chosen = {"chosen", 8, false};

static struct recorded_kernel scan = {"_Z4scanPiS_i"};

/* Two groups, since a handful is what a program has: the others are registered after main began, as those of a library
 * that is opened late. */
__attribute__((constructor)) static void start(void)
{
    for (int i = 0; i < PACKED; i++)
        recorded_register(packed[i], &measure[i], 1, &lengths[i], 1);
    recorded_register(&wrapper_separate, separate, COUNT(separate), &shared_counter, 1);
}

static void test_packed(void)
{
    for (int i = 0; i < PACKED; i++) {
        int got[3] = {0};
        OK(launch(&measure[i], ONE, THREADS(3), 0, NULL));
        OK(cudaMemcpyFromSymbol(got, &lengths[i], sizeof got, 0, DEVICE_TO_HOST));
        TRUE(got[0] == 3 && got[1] == 3 && got[2] == 5);
    }
}

static void test_units(void)
{
    int *out = zeros(4), count[2] = {0};
    for (int i = 0; i < 2; i++) {
        OK(launch(&work[i], ONE, THREADS(32), 0, ARGUMENTS(&out)));
        TRUE(int_at(out) == i + 1);
        OK(cudaMemcpyFromSymbol(&count[i], &counters[i], sizeof count[i], 0, DEVICE_TO_HOST));
    }
    TRUE(count[0] == 96 && count[1] == 160);
}

static void test_constants(void)
{
    struct {
        float scale;
        int offset;
        char name[8];
    } changed = {2.0f, 9, "second"};
    int *out = zeros(16), i = 6, host[4], more[2] = {101, 103}, back[8];
    OK(launch(&look, ONE, THREADS(8), 0, ARGUMENTS(&out, &i)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    TRUE(host[0] == 17 && host[1] == 5 && host[2] == 19 && host[3] == 'f');
    OK(cudaMemcpyToSymbol(&constants[PRIMES], more, sizeof more, 24, HOST_TO_DEVICE));
    OK(cudaMemcpyToSymbol(&constants[OPTIONS], &changed, sizeof changed, 0, HOST_TO_DEVICE));
    OK(launch(&look, ONE, THREADS(8), 0, ARGUMENTS(&out, &i)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    TRUE(host[0] == 101 && host[1] == 5 && host[2] == 29 && host[3] == 's');
    OK(cudaMemcpyFromSymbol(back, &constants[DEVICE_COPY], sizeof back, 0, DEVICE_TO_HOST));
    TRUE(back[0] == 4 && back[7] == 206);
    EXPECT(INVALID_VALUE, cudaMemcpyToSymbol(&constants[PRIMES], back, sizeof back + 4, 0, HOST_TO_DEVICE));
    cudaGetLastError();
}

static void test_linked(void)
{
    int *out = zeros(128), host[32], wrong = 0, counter = 0;
    OK(launch(&separate[ACROSS], ONE, THREADS(32), 0, ARGUMENTS(&out)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    for (int i = 0; i < 32; i++)
        wrong += host[i] != 2 * i + i * i * i + (i % 4 + 1) * 100;
    OK(cudaMemcpyFromSymbol(&counter, &shared_counter, sizeof counter, 0, DEVICE_TO_HOST));
    TRUE(counter == 15);
    OK(launch(&separate[TRIPLE], ONE, ONE, 0, ARGUMENTS(&out)));
    TRUE(int_at(out) == 45);
    for (int which = 0; which < 3; which++) {
        OK(launch(&separate[THROUGH_POINTER], ONE, THREADS(32), 0, ARGUMENTS(&out, &which)));
        OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
        for (int i = 0; i < 32; i++)
            wrong += host[i] != (which == 0 ? 2 * i : which == 1 ? i * i * i : i * i);
    }
    OK(launch(&separate[THROUGH_OBJECT], ONE, THREADS(32), 0, ARGUMENTS(&out)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    for (int i = 0; i < 32; i++)
        wrong += host[i] != (i % 2 ? 3 * i : i * i);
    TRUE(wrong == 0);
}

static void test_objects(void)
{
    int *out = zeros(128), host[32], wrong = 0;
    float *reals = zeros(128), got[32];
    void *function = NULL;
    OK(launch(&objects[ZOO], ONE, THREADS(32), 0, ARGUMENTS(&out)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    for (int i = 0; i < 32; i++)
        wrong += host[i] != (i % 2 ? i * 10000 + 6 : i * 1000 + 4 * i);
    OK(cudaMemcpyFromSymbol(&function, &chosen, sizeof function, 0, DEVICE_TO_HOST));
    OK(launch(&objects[APPLY], ONE, THREADS(32), 0, ARGUMENTS(&function, &reals)));
    OK(cudaMemcpy(got, reals, sizeof got, DEVICE_TO_HOST));
    for (int i = 0; i < 32; i++)
        wrong += got[i] != (float)((i % 3 == 0 ? i + 2 : i % 3 == 1 ? i - 2 : i * 2) + i * 100);
    OK(launch(&objects[RECURSION], ONE, THREADS(32), 0, ARGUMENTS(&out)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    for (int i = 0; i < 32; i++)
        wrong += host[i] != 2 * (i % 4) + 3;
    TRUE(wrong == 0);
}

static void test_grid(void)
{
    enum { ITEMS = 1000 };
    int host[ITEMS], got[ITEMS], count = ITEMS, sum = 0, wrong = 0;
    for (int i = 0; i < ITEMS; i++)
        host[i] = i * 31 % 97;
    int *a = upload(host, sizeof host), *b = zeros(sizeof host);
    OK(cudaLaunchCooperativeKernel(&scan, THREADS(8), THREADS(64), ARGUMENTS(&a, &b, &count), 0, NULL));
    OK(cudaMemcpy(got, a, sizeof got, DEVICE_TO_HOST));
    for (int i = 0; i < ITEMS; i++) {
        sum += host[i];
        wrong += got[i] != sum;
    }
    TRUE(wrong == 0);
    EXPECT(TOO_LARGE,
           cudaLaunchCooperativeKernel(&scan, THREADS(60000), THREADS(64), ARGUMENTS(&a, &b, &count), 0, NULL));
    cudaGetLastError();
}

int main(void)
{
    test_packed();
    test_linked();
    unregister_all();
    recorded_register(&wrapper_units, &work[0], 1, &counters[0], 1);
    recorded_register(&wrapper_units_second, &work[1], 1, &counters[1], 1);
    recorded_register(&wrapper_constant_memory, &look, 1, constants, COUNT(constants));
    recorded_register(&wrapper_virtual_functions, objects, COUNT(objects), &chosen, 1);
    recorded_register(&wrapper_grid_sync, &scan, 1, NULL, 0);
    test_units();
    test_constants();
    test_objects();
    test_grid();
    return done();
}

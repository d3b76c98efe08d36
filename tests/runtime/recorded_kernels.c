/* Kernels of several recorded programs: arguments and shapes, template instances, atomics, lockstep within a warp,
 * warps and blocks that wait for one another. */
#include "recorded.h"

RECORDED(launch_forms);
RECORDED(templates);
RECORDED(atomics);
RECORDED(warp_synchronous);
RECORDED(interleaved_warps);
RECORDED(resident_blocks);

enum { INDICES, MIXED };
static struct recorded_kernel forms[] = {{"_Z7indicesPj"}, {"_Z5mixedPdc5smalli5largesPKfbx"}};
enum { SCALE_INT, SCALE_DOUBLE, FOLD_SUM, FOLD_LARGER, NESTED, PACK };
static struct recorded_kernel instances[] = {{"_Z5scaleIiLi3EEvPT_i"},      {"_Z5scaleIdLin1EEvPT_i"},
                                             {"_Z4foldIf4plusEvPKT_PS1_i"}, {"_Z4foldIf6largerEvPKT_PS1_i"},
                                             {"_ZN5outer5inner4nameEPi"},   {"_Z4packIJLi1ELi2ELi3ELi4EEEvPi"}};
enum { HISTOGRAM, TICKETS };
static struct recorded_kernel atomics[] = {{"_Z9histogramPKhiPj"}, {"_Z7ticketsPiS_"}};
enum { SUMS, SCAN, BITONIC };
static struct recorded_kernel lockstep[] = {{"_Z4sumsPKiPi"}, {"_Z4scanPKiPi"}, {"_Z7bitonicPi"}};
enum { RING, RELAY, NAMED };
static struct recorded_kernel warps[] = {{"_Z4ringPii"}, {"_Z5relayPi"}, {"_Z5namedPi"}};
enum { ROUNDS, CHAIN, LOCKED };
static struct recorded_kernel blocks[] = {{"_Z6roundsPiS_i"}, {"_Z5chainPViPi"}, {"_Z6lockedPiPVi"}};
enum { ARRIVED, RELEASED };
static struct recorded_variable barrier[] = {{"arrived", 4, false}, {"released", 4, false}};

__attribute__((constructor)) static void start(void)
{
    recorded_register(&wrapper_launch_forms, forms, COUNT(forms), NULL, 0);
    recorded_register(&wrapper_templates, instances, COUNT(instances), NULL, 0);
    recorded_register(&wrapper_atomics, atomics, COUNT(atomics), NULL, 0);
    recorded_register(&wrapper_warp_synchronous, lockstep, COUNT(lockstep), NULL, 0);
    recorded_register(&wrapper_interleaved_warps, warps, COUNT(warps), NULL, 0);
    recorded_register(&wrapper_resident_blocks, blocks, COUNT(blocks), barrier, COUNT(barrier));
}

static void test_shapes(void)
{
    enum { THREADS_OF_ALL = 60 * 64 };
    unsigned *out = zeros(THREADS_OF_ALL * sizeof *out), host[THREADS_OF_ALL], wrong = 0;
    OK(launch(&forms[INDICES], (struct dim3){3, 4, 5}, (struct dim3){8, 4, 2}, 0, ARGUMENTS(&out)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    for (unsigned i = 0; i < THREADS_OF_ALL; i++)
        wrong += host[i] != i / 64 * 1000 + i % 64;
    TRUE(wrong == 0);
    EXPECT(BAD_SHAPE, launch(&forms[INDICES], ONE, THREADS(4096), 0, ARGUMENTS(&out)));
    EXPECT(BAD_SHAPE, cudaGetLastError());
    OK(cudaGetLastError());
}

static void test_arguments(void)
{
    struct {
        char letter;
        short number;
    } b = {3, -40};
    struct {
        double values[32];
        int tag;
    } d = {.tag = 7};
    double *out = zeros(4 * sizeof *out), host[4];
    float f = 0.25f, *device_f = upload(&f, sizeof f);
    char a = 'a';
    int c = 100000;
    short e = -5;
    bool g = true;
    long long h = 1ll << 40;
    d.values[31] = 3.5;
    OK(launch(&forms[MIXED], ONE, ONE, 0, ARGUMENTS(&out, &a, &b, &c, &d, &e, &device_f, &g, &h)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    TRUE(host[0] == 'a' + 3 - 40 && host[1] == 100010.5 && host[2] == -4.25 && host[3] == 1099511627776.0);
}

static void test_instances(void)
{
    int integers[100], count = 100, wrong = 0;
    double doubles[100];
    for (int i = 0; i < 100; i++)
        doubles[i] = integers[i] = i;
    int *device_integers = upload(integers, sizeof integers);
    double *device_doubles = upload(doubles, sizeof doubles);
    OK(launch(&instances[SCALE_INT], THREADS(2), THREADS(32), 0, ARGUMENTS(&device_integers, &count)));
    OK(launch(&instances[SCALE_DOUBLE], THREADS(2), THREADS(32), 0, ARGUMENTS(&device_doubles, &count)));
    OK(cudaMemcpy(integers, device_integers, sizeof integers, DEVICE_TO_HOST));
    OK(cudaMemcpy(doubles, device_doubles, sizeof doubles, DEVICE_TO_HOST));
    for (int i = 0; i < 100; i++)
        wrong += integers[i] != 3 * i + 1 || doubles[i] != 1 - i;
    TRUE(wrong == 0);
    float numbers[4] = {3, 9, -2, 4}, *in = upload(numbers, sizeof numbers), *out = zeros(sizeof *out), sum = 0,
          most = 0;
    int four = 4, *integer = zeros(sizeof *integer);
    OK(launch(&instances[FOLD_SUM], ONE, ONE, 0, ARGUMENTS(&in, &out, &four)));
    OK(cudaMemcpy(&sum, out, sizeof sum, DEVICE_TO_HOST));
    OK(launch(&instances[FOLD_LARGER], ONE, ONE, 0, ARGUMENTS(&in, &out, &four)));
    OK(cudaMemcpy(&most, out, sizeof most, DEVICE_TO_HOST));
    TRUE(sum == 14 && most == 9);
    OK(launch(&instances[NESTED], ONE, ONE, 0, ARGUMENTS(&integer)));
    TRUE(int_at(integer) == 11);
    OK(launch(&instances[PACK], ONE, ONE, 0, ARGUMENTS(&integer)));
    TRUE(int_at(integer) == 40);
}

static void test_atomics(void)
{
    enum { SAMPLES = 5000 };
    unsigned char data[SAMPLES];
    unsigned wanted[256] = {0}, got[256];
    int count = SAMPLES, taken[256], wrong = 0;
    for (int i = 0; i < SAMPLES; i++)
        wanted[data[i] = (unsigned char)(i * i % 251)]++;
    void *in = upload(data, sizeof data), *bins = zeros(sizeof wanted), *next = zeros(4),
         *tickets = zeros(sizeof taken);
    OK(launch(&atomics[HISTOGRAM], THREADS(4), THREADS(128), 0, ARGUMENTS(&in, &count, &bins)));
    OK(cudaMemcpy(got, bins, sizeof got, DEVICE_TO_HOST));
    TRUE(!memcmp(got, wanted, sizeof got));
    OK(launch(&atomics[TICKETS], THREADS(4), THREADS(64), 0, ARGUMENTS(&next, &tickets)));
    OK(cudaMemcpy(taken, tickets, sizeof taken, DEVICE_TO_HOST));
    for (int i = 0; i < 256; i++)
        wrong += taken[i] != 1;
    TRUE(wrong == 0);
}

static void test_lockstep(void)
{
    int data[512], sums[2], scan[128], wrong = 0, sum = 0;
    for (int i = 0; i < 512; i++)
        data[i] = i * 37 % 101;
    int *in = upload(data, sizeof data), *out = zeros(512);
    OK(launch(&lockstep[SUMS], THREADS(2), THREADS(256), 0, ARGUMENTS(&in, &out)));
    OK(cudaMemcpy(sums, out, sizeof sums, DEVICE_TO_HOST));
    for (int i = 0; i < 512; i++)
        sums[i / 256] -= data[i];
    TRUE(sums[0] == 0 && sums[1] == 0);
    OK(launch(&lockstep[SCAN], ONE, THREADS(128), 0, ARGUMENTS(&in, &out)));
    OK(cudaMemcpy(scan, out, sizeof scan, DEVICE_TO_HOST));
    for (int i = 0; i < 128; i++) {
        sum = i % 32 ? sum + data[i] : data[i];
        wrong += scan[i] != sum;
    }
    OK(launch(&lockstep[BITONIC], ONE, THREADS(32), 0, ARGUMENTS(&in)));
    OK(cudaMemcpy(scan, in, 32 * sizeof(int), DEVICE_TO_HOST));
    for (int i = 1; i < 32; i++)
        wrong += scan[i - 1] > scan[i];
    TRUE(wrong == 0);
}

static void test_warps(void)
{
    int count = 100, host[128], wrong = 0, wanted = 0;
    int *out = zeros(sizeof host);
    OK(launch(&warps[RING], ONE, THREADS(64), 0, ARGUMENTS(&out, &count)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    for (int i = 0; i < count; i++)
        wrong += host[i] != i * i;
    out = zeros(sizeof host);
    OK(launch(&warps[RELAY], ONE, THREADS(256), 0, ARGUMENTS(&out)));
    for (int warp = 7; warp >= 0; warp--)
        wanted = wanted * 2 + warp;
    TRUE(int_at(out) == wanted);
    OK(launch(&warps[NAMED], ONE, THREADS(128), 0, ARGUMENTS(&out)));
    OK(cudaMemcpy(host, out, sizeof host, DEVICE_TO_HOST));
    for (int i = 0; i < 128; i++)
        wrong += host[i] != (i < 64 ? 63 - i : -1);
    TRUE(wrong == 0);
}

static void test_blocks(void)
{
    enum { BLOCKS = 12, BLOCK = 64, ALL = BLOCKS * BLOCK };
    int host[ALL], count = 4, wrong = 0, wanted = 0;
    unsigned arrived = 0, nothing = 0;
    for (int i = 0; i < ALL; i++)
        host[i] = i;
    int *a = upload(host, sizeof host), *b = zeros(sizeof host), *flags = zeros(BLOCKS * sizeof *flags),
        *out = zeros(sizeof *out), *lock = zeros(sizeof *lock), *value = zeros(sizeof *value);
    for (int round = 0; round < 2; round++) {
        OK(cudaMemcpyToSymbol(&barrier[ARRIVED], &nothing, sizeof nothing, 0, HOST_TO_DEVICE));
        OK(cudaMemcpyToSymbol(&barrier[RELEASED], &nothing, sizeof nothing, 0, HOST_TO_DEVICE));
        OK(launch(&blocks[ROUNDS], THREADS(BLOCKS), THREADS(BLOCK), 0, ARGUMENTS(&a, &b, &count)));
    }
    OK(cudaMemcpyFromSymbol(&arrived, &barrier[ARRIVED], sizeof arrived, 0, DEVICE_TO_HOST));
    TRUE(arrived == BLOCKS * 4);
    OK(cudaMemcpy(host, a, sizeof host, DEVICE_TO_HOST));
    for (int i = 0; i < ALL; i++)
        wrong += host[i] != (i + 2 * count * BLOCK) % ALL + 2 * count;
    TRUE(wrong == 0);
    OK(launch(&blocks[CHAIN], THREADS(BLOCKS), THREADS(32), 0, ARGUMENTS(&flags, &out)));
    for (int i = BLOCKS - 1; i >= 0; i--)
        wanted = wanted * 3 % 1000 + i;
    TRUE(int_at(out) == wanted);
    OK(launch(&blocks[LOCKED], THREADS(50), THREADS(32), 0, ARGUMENTS(&lock, &value)));
    TRUE(int_at(value) == 50);
}

int main(void)
{
    test_shapes();
    test_arguments();
    test_instances();
    test_atomics();
    test_lockstep();
    test_warps();
    test_blocks();
    return done();
}

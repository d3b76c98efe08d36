/* What fat binaries may hold: modules to be linked, machine code alone, kernels that cannot run beside kernels that
 * can, managed variables. */
#include "fat_binary.h"

#define PTX_CALLEE                                                   \
    PTX_HEAD                                                         \
    ".visible .global .align 4 .u32 seen = 9;\n"                     \
    ".visible .func (.param .u32 result) twice(.param .u32 value)\n" \
    "{ .reg .u32 %r<3>; ld.param.u32 %r0, [value]; add.u32 %r1, %r0, %r0; st.param.u32 [result], %r1; ret; }\n"
#define PTX_CALLER                                                                                                 \
    PTX_HEAD ".extern .global .align 4 .u32 seen;\n.extern .func (.param .u32 result) twice(.param .u32 value);\n" \
             ".visible .entry call(.param .u64 where)\n"                                                           \
             "{\n"                                                                                                 \
             " .reg .u32 %r<4>; .reg .u64 %d<2>; .param .u32 a, b;\n"                                              \
             " ld.param.u64 %d0, [where]; ld.global.u32 %r0, [seen];\n"                                            \
             " st.param.u32 [a], %r0; call (b), twice, (a); ld.param.u32 %r1, [b];\n"                              \
             " st.global.u32 [%d0], %r1; ret;\n"                                                                   \
             "}\n"
#define PTX_MIXED                                                                                                   \
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .u32 managed = " \
    "77;\n"                                                                                                         \
    ".visible .entry bad() { wgmma.fence.sync.aligned; ret; }\n"                                                    \
    ".visible .entry good() { .reg .u32 %r<3>; ld.global.u32 %r0, [managed]; add.u32 %r1, %r0, 1; st.global.u32 "   \
    "[managed], %r1; ret; }\n"

IMAGE_OF(callee_image, KIND_PTX, PTX_CALLEE);
IMAGE_OF(caller_image, KIND_PTX, PTX_CALLER);
IMAGE_OF(code_image, KIND_ELF, "\177ELF.................................");
IMAGE_OF(mixed_image, KIND_PTX, PTX_MIXED);
static const void *const linked_images[] = {&callee_image, &caller_image, NULL};
WRAPPER_OF(linked_wrapper, 2, &code_image, linked_images);
WRAPPER_OF(code_wrapper, 1, &code_image, NULL);
WRAPPER_OF(mixed_wrapper, 1, &mixed_image, NULL);

static char call, no_ptx, bad, good;
static unsigned int *managed;

static void check_linked(void)
{
    unsigned int *where, got = 0;
    void *params[] = {&where};
    OK(cudaMalloc((void **)&where, sizeof *where));
    OK(cudaLaunchKernel(&call, ONE, ONE, params, 0, NULL));
    OK(cudaMemcpy(&got, where, sizeof got, DEVICE_TO_HOST));
    TRUE(got == 18);
    OK(cudaFree(where));
}

static void check_machine_code(void)
{
    CUkernel kernel = NULL;
    EXPECT(NO_KERNEL_IMAGE, cudaLaunchKernel(&no_ptx, ONE, ONE, NULL, 0, NULL));
    OK(__cudaGetKernel(&kernel, &no_ptx)); /* as compiled code asks, which looks at the launch alone */
    EXPECT(NO_KERNEL_IMAGE, __cudaLaunchKernel(kernel, ONE, ONE, NULL, 0, NULL));
    EXPECT(NO_KERNEL_IMAGE, cudaGetLastError());
    OK(cudaGetLastError());
}

static void check_mixed(void **handle)
{
    OK(cudaLaunchKernel(&good, ONE, ONE, NULL, 0, NULL));
    EXPECT(NOT_SUPPORTED, cudaLaunchKernel(&bad, ONE, ONE, NULL, 0, NULL));
    OK(cudaLaunchKernel(&good, ONE, ONE, NULL, 0, NULL));
    TRUE(!managed);
    TRUE(__cudaInitModule(handle));
    TRUE(managed && *managed == 79);
    *managed = 5;
    OK(cudaLaunchKernel(&good, ONE, ONE, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    TRUE(*managed == 6);
    unsigned int got = 0;
    void *address = NULL;
    OK(cudaMemcpyFromSymbol(&got, managed, sizeof got, 0,
                            DEVICE_TO_HOST)); /* to the program, the variable is where the pointer points */
    TRUE(got == 6);
    OK(cudaGetSymbolAddress(&address, managed));
    TRUE(address == managed);
    OK(cudaDeviceReset());
    OK(cudaLaunchKernel(&good, ONE, ONE, NULL, 0, NULL)); /* all is as at the start, and the pointer is right again */
    OK(cudaDeviceSynchronize());
    TRUE(managed && *managed == 78);
}

int main(void)
{
    void **linked = __cudaRegisterFatBinary(&linked_wrapper), **code = __cudaRegisterFatBinary(&code_wrapper),
         **mixed = __cudaRegisterFatBinary(&mixed_wrapper);
    register_function(linked, &call, "call");
    register_function(code, &no_ptx, "no_ptx");
    register_function(mixed, &bad, "bad");
    register_function(mixed, &good, "good");
    __cudaRegisterManagedVar(mixed, (void **)&managed, "managed", "managed", 0, sizeof *managed, 0, 0);
    check_linked();
    check_machine_code();
    check_mixed(mixed);
    __cudaUnregisterFatBinary(linked);
    __cudaUnregisterFatBinary(code);
    __cudaUnregisterFatBinary(mixed);
    return done();
}

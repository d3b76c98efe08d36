/* What is not PTX and is loaded as a module: does every call say what it was given, how to get PTX instead, and give
 * the error of a real driver? The images are made here by hand, headers alone, which a real driver had better not see.
 */
#include "check.h"

#include <stdint.h>
#include <unistd.h>

enum { IMAGE_BYTES = 4096 };

struct image {
    size_t size;
    _Alignas(16) uint8_t bytes[IMAGE_BYTES]; /* zeros follow */
};

static void put(struct image *im, size_t at, uint64_t value, int bytes)
{
    memcpy(im->bytes + at, &value, (size_t)bytes);
    if (im->size < at + (size_t)bytes)
        im->size = at + (size_t)bytes;
}

static struct image of_text(const char *text)
{
    struct image im = {.size = strlen(text)};
    memcpy(im.bytes, text, im.size);
    return im;
}

/* The first 64 bytes of an ELF file, as nvcc -cubin writes them. */
static struct image elf(int abi_version, int machine, uint32_t flags)
{
    struct image im = of_text("\177ELF\2\1\1\101");
    put(&im, 8, (uint64_t)abi_version, 1);
    put(&im, 16, 2, 2);
    put(&im, 18, (uint64_t)machine, 2);
    put(&im, 20, 1, 4);
    put(&im, 48, flags, 4);
    put(&im, 52, 64, 2);
    put(&im, 62, 0, 2);
    return im;
}

static struct image fat_binary(void)
{
    struct image im = {.size = 0};
    put(&im, 0, 0xBA55ED50, 4);
    put(&im, 4, 1, 2);
    put(&im, 6, 16, 2);
    put(&im, 8, 0, 8);
    return im;
}

enum { PTX = 1, CUBIN = 2, LTO = 8 };

static void add_entry(struct image *im, int kind, uint32_t architecture, const char *payload)
{
    size_t at = im->size, bytes = (strlen(payload) + 8) & ~(size_t)7;
    put(im, at, (uint64_t)kind, 2);
    put(im, at + 4, 64, 4);
    put(im, at + 8, bytes, 8);
    put(im, at + 0x1c, architecture, 4);
    put(im, at + 0x38, 0, 8);
    memcpy(im->bytes + im->size, payload, strlen(payload));
    im->size += bytes;
    put(im, 8, im->size - 16, 8);
}

/* The calls */

static const char *path;
static CUmodule module;
static CUlibrary library;

static CUresult load_data(const struct image *im) { return cuModuleLoadData(&module, im->bytes); }
static CUresult load_data_ex(const struct image *im) { return cuModuleLoadDataEx(&module, im->bytes, 0, NULL, NULL); }
static CUresult load_fat_binary(const struct image *im) { return cuModuleLoadFatBinary(&module, im->bytes); }

static CUresult load_library(const struct image *im)
{
    return cuLibraryLoadData(&library, im->bytes, NULL, NULL, 0, NULL, NULL, 0);
}

static void write_file(const struct image *im)
{
    FILE *file = fopen(path, "wb");
    TRUE(file && fwrite(im->bytes, 1, im->size, file) == im->size);
    if (file)
        fclose(file);
}

static CUresult load_file(const struct image *im)
{
    write_file(im);
    return cuModuleLoad(&module, path);
}

static CUresult load_library_file(const struct image *im)
{
    write_file(im);
    return cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0);
}

static CUresult link_with(const struct image *im, CUjitInputType type, int from_file)
{
    CUlinkState s;
    size_t size = im->size ? im->size : 1; /* a linker is not to be given nothing */
    MUST(cuLinkCreate(0, NULL, NULL, &s));
    if (from_file)
        write_file(im);
    CUresult r = from_file ? cuLinkAddFile(s, type, path, 0, NULL, NULL)
                           : cuLinkAddData(s, type, (void *)im->bytes, size, "input", 0, NULL, NULL);
    OK(cuLinkDestroy(s));
    return r;
}

static CUresult link_ptx(const struct image *im) { return link_with(im, CU_JIT_INPUT_PTX, 0); }
static CUresult link_cubin(const struct image *im) { return link_with(im, CU_JIT_INPUT_CUBIN, 0); }
static CUresult link_fat_binary(const struct image *im) { return link_with(im, CU_JIT_INPUT_FATBINARY, 0); }
static CUresult link_file(const struct image *im) { return link_with(im, CU_JIT_INPUT_CUBIN, 1); }

static const struct {
    const char *name;
    CUresult (*load)(const struct image *im);
} calls[] = {
    {"cuModuleLoadData", load_data},
    {"cuModuleLoadDataEx", load_data_ex},
    {"cuModuleLoad", load_file},
    {"cuModuleLoadFatBinary", load_fat_binary},
    {"cuLibraryLoadData", load_library},
    {"cuLibraryLoadFromFile", load_library_file},
    {"cuLinkAddData, PTX", link_ptx},
    {"cuLinkAddData, cubin", link_cubin},
    {"cuLinkAddData, fat", link_fat_binary},
    {"cuLinkAddFile", link_file},
};

/* Runs a call and keeps what it writes to the standard error. */
static CUresult said_by(CUresult (*load)(const struct image *), const struct image *im, char *said, size_t size)
{
    FILE *kept = tmpfile();
    int before = dup(2);
    TRUE(kept && before >= 0);
    dup2(fileno(kept), 2);
    CUresult r = load(im);
    dup2(before, 2);
    close(before);
    rewind(kept);
    said[fread(said, 1, size - 1, kept)] = '\0';
    fclose(kept);
    return r;
}

/* what: words that the message has, up to a NULL. */
static void refused(struct image im, CUresult wanted, const char *const *what)
{
    char said[4000];
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        check_result(said_by(calls[i].load, &im, said, sizeof said), wanted, calls[i].name, __LINE__);
        for (const char *const *word = what; *word; word++)
            if (!strstr(said, *word)) {
                fprintf(stderr, "%s does not say '%s': %s\n", calls[i].name, *word, said);
                failures++;
            }
    }
}
#define WORDS(...) \
    (const char *const[]) { __VA_ARGS__, NULL }

static void cubins(void)
{
    /* as of CUDA 13, and before */
    refused(elf(8, 190, 0x6005004), CUDA_ERROR_NO_BINARY_FOR_GPU,
            WORDS("this is a cubin, machine code for sm_80; Heddle runs PTX", "--gpu-architecture=compute_80",
                  "nvrtcGetPTX gives, not nvrtcGetCUBIN", "nvcc: use -ptx", "arch=compute_80,code=compute_80"));
    refused(elf(7, 190, 0x00560556), CUDA_ERROR_NO_BINARY_FOR_GPU,
            WORDS("machine code for sm_86;", "--gpu-architecture=compute_86 (sm_86 makes a cubin)"));
    refused(elf(8, 190, 0x6007802), CUDA_ERROR_NO_BINARY_FOR_GPU,
            WORDS("machine code for sm_120;", "--gpu-architecture=compute_90 (sm_120 makes a cubin)"));
}

static void fat_binaries(void)
{
    struct image im = fat_binary();
    refused(im, CUDA_ERROR_NO_BINARY_FOR_GPU, WORDS("fat binary with nothing in it", "-gencode"));
    add_entry(&im, CUBIN, 86, "machine code");
    add_entry(&im, CUBIN, 90, "machine code");
    add_entry(&im, CUBIN, 86, "machine code");
    refused(im, CUDA_ERROR_NO_BINARY_FOR_GPU,
            WORDS("fat binary with machine code (sm_86, sm_90) and no PTX", "arch=compute_86,code=compute_86"));
    add_entry(&im, LTO, 80, "for later");
    refused(im, CUDA_ERROR_NO_BINARY_FOR_GPU, WORDS("machine code (sm_86, sm_90), LTO IR and no PTX"));
    im = fat_binary();
    add_entry(&im, LTO, 80, "for later");
    refused(im, CUDA_ERROR_NO_BINARY_FOR_GPU, WORDS("fat binary with LTO IR (-dlto) and no PTX", "-gencode"));
    put(&im, 16 + 8, 1 << 20, 8);
    refused(im, CUDA_ERROR_INVALID_IMAGE, WORDS("the fat binary is damaged: an entry is longer"));
}

static void a_fat_binary_with_ptx_is_taken(void)
{
    struct image im = fat_binary();
    add_entry(&im, CUBIN, 80, "machine code");
    add_entry(&im, PTX, 60, PTX_HEAD PTX_RAMP);
    OK(load_data(&im));
    OK(cuModuleUnload(module));
    OK(load_fat_binary(&im));
    OK(cuModuleUnload(module));
    OK(load_file(&im));
    OK(cuModuleUnload(module));
    OK(load_library(&im));
    OK(cuLibraryUnload(library));
    OK(load_library_file(&im));
    OK(cuLibraryUnload(library));
    OK(link_fat_binary(&im));
    char said[4000];
    EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU, said_by(link_ptx, &im, said, sizeof said));
    TRUE(strstr(said, "CU_JIT_INPUT_FATBINARY"));
}

static void other_code(void)
{
    char said[4000];
    refused(elf(0, 62, 0), CUDA_ERROR_INVALID_IMAGE,
            WORDS("this is an ELF file for x86-64, not for NVIDIA's GPUs", "nvcc -ptx"));
    refused(elf(0, 183, 0), CUDA_ERROR_INVALID_IMAGE, WORDS("an ELF file for AArch64"));
    refused(elf(0, 21, 0), CUDA_ERROR_INVALID_IMAGE, WORDS("an ELF file for machine 21"));
    refused(of_text("\xED\x43\x4E\x7F\x01"), CUDA_ERROR_INVALID_IMAGE,
            WORDS("this is LTO IR", "without -dlto", "nvrtcGetPTX gives, not nvrtcGetLTOIR", "nvJitLinkGetLinkedPtx"));
    refused(of_text("BC\xC0\xDE"), CUDA_ERROR_INVALID_IMAGE, WORDS("LLVM bitcode (NVVM IR)", "nvvmGetCompiledResult"));
    refused(of_text("!<arch>\nk.o/"), CUDA_ERROR_INVALID_IMAGE, WORDS("an archive of object files", "nvcc -fatbin"));
    refused(of_text(""), CUDA_ERROR_INVALID_IMAGE, WORDS("it is empty", "nvrtcGetPTX", "compute_XX"));
    refused(of_text("\1\2\3\4"), CUDA_ERROR_INVALID_IMAGE,
            WORDS("neither PTX nor a fat binary: it begins with the bytes 01 02 03 04"));
    refused(of_text("nonsense"), CUDA_ERROR_INVALID_IMAGE, WORDS("expected '.version'", "found 'nonsense'"));
    struct image cut = elf(8, 190, 0x6005004);
    cut.size = 40;
    EXPECT(CUDA_ERROR_INVALID_IMAGE, said_by(load_file, &cut, said, sizeof said));
    TRUE(strstr(said, "an ELF file that is cut off in its header"));
}

/* The message is in the log that a program asks for as well. */
static void the_log_has_it_too(void)
{
    char text[1000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {text, (void *)sizeof text};
    struct image im = elf(8, 190, 0x6005004);
    EXPECT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadDataEx(&module, im.bytes, 2, options, values));
    TRUE(strstr(text, "this is a cubin") && strstr(text, "nvrtcGetPTX"));
}

int main(void)
{
    char made[] = "/tmp/driver-test-XXXXXX";
    CUcontext ctx = new_context();
    int fd = mkstemp(made);
    path = made;
    TRUE(fd >= 0);
    if (fd >= 0 && on_heddle()) {
        close(fd);
        cubins();
        fat_binaries();
        a_fat_binary_with_ptx_is_taken();
        other_code();
        the_log_has_it_too();
    }
    remove(made);
    OK(cuCtxDestroy(ctx));
    return done();
}

/* Images by their first bytes, and what to say of those that hold nothing to run.
 *
 * A cubin is an ELF file of machine 190. Its flags hold the architecture: in the lowest byte up to CUDA 12, in the one
 * above since (version 8 of its ABI). The advice names those that make such images: NVRTC, nvcc, nvJitLink, libNVVM. */
#include "ptx/image.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { MACHINE_CUDA = 190, MACHINE_AMD_GPU = 224, ABI_WITH_SECOND_BYTE = 8 };
enum { ANY_ARCHITECTURE = 75, OLDEST_ARCHITECTURE = 20 };

static bool begins(const struct image *image, const char *magic, size_t size)
{
    return image->first_count >= size && memcmp(image->first, magic, size) == 0;
}

static void recognise_elf(struct image *image, const void *data, size_t limit)
{
    Elf64_Ehdr h;
    Elf32_Ehdr small;
    if (limit < sizeof h) {
        image->kind = IMAGE_DAMAGED;
        error_set(&image->damage, ERROR_SYNTAX, "an ELF file that is cut off in its header");
        return;
    }
    memcpy(&h, data, sizeof h);
    memcpy(&small, data, sizeof small);
    uint32_t flags = h.e_ident[EI_CLASS] == ELFCLASS32 ? small.e_flags : h.e_flags;
    image->elf_machine = h.e_machine;
    image->kind = h.e_machine == MACHINE_CUDA ? IMAGE_CUBIN : IMAGE_HOST_ELF;
    image->architecture = h.e_ident[EI_ABIVERSION] >= ABI_WITH_SECOND_BYTE ? flags >> 8 & 0xff : flags & 0xff;
}

static void recognise_fatbin(struct image *image, const void *data, size_t limit)
{
    if (!fatbin_list(data, limit, &image->contents, &image->damage))
        image->kind = IMAGE_DAMAGED;
    else
        image->kind = image->contents.has_ptx ? IMAGE_FATBIN : IMAGE_NO_PTX;
}

static bool is_text(const struct image *image)
{
    for (uint32_t i = 0; i < image->first_count; i++) {
        uint8_t c = image->first[i];
        if (c == 127 || (c < 32 && (c < '\t' || c > '\r')))
            return false;
    }
    return image->first[0] < 128;
}

void image_recognise(struct image *image, const void *data, size_t limit)
{
    *image = (struct image){.kind = IMAGE_UNKNOWN};
    image->first_count = (uint32_t)strnlen(data, limit < sizeof image->first ? limit : sizeof image->first);
    memcpy(image->first, data, image->first_count);
    if (!image->first_count)
        image->kind = IMAGE_EMPTY;
    else if (fatbin_is(image->first, image->first_count))
        recognise_fatbin(image, data, limit);
    else if (begins(image, ELFMAG, SELFMAG))
        recognise_elf(image, data, limit);
    else if (begins(image, "\xED\x43\x4E\x7F", 4))
        image->kind = IMAGE_LTO_IR;
    else if (begins(image, "BC\xC0\xDE", 4) || begins(image, "\xDE\xC0\x17\x0B", 4))
        image->kind = IMAGE_BITCODE;
    else if (begins(image, "!<arch>\n", 8))
        image->kind = IMAGE_ARCHIVE;
    else if (is_text(image))
        image->kind = IMAGE_TEXT;
}

/* The architecture to name in advice: a known one that Heddle executes. */
static uint32_t advised(uint32_t architecture)
{
    if (architecture < OLDEST_ARCHITECTURE)
        return ANY_ARCHITECTURE;
    return architecture < FATBIN_ARCHITECTURE ? architecture : FATBIN_ARCHITECTURE;
}

static void refuse_cubin(const struct image *image, const char *name, struct error *e)
{
    uint32_t sm = image->architecture, to = advised(sm);
    error_set(e, ERROR_UNSUPPORTED, "%s: this is a cubin, machine code for sm_%u; Heddle runs PTX", name, sm);
    error_note(e,
               "made with NVRTC: compile with --gpu-architecture=compute_%u (sm_%u makes a cubin) and load what "
               "nvrtcGetPTX gives, not nvrtcGetCUBIN",
               to, sm);
    error_note(e, "made with nvcc: use -ptx, or -fatbin -gencode arch=compute_%u,code=compute_%u", to, to);
}

/* " (sm_75, sm_80)"; nothing where no entry says what it is for. */
static void list_architectures(const struct fatbin_contents *c, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < c->architecture_count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%u", i ? ", sm_" : " (sm_", c->architectures[i]);
    if (used && used < size)
        snprintf(out + used, size - used, "%s", c->architecture_count == FATBIN_LISTED ? ", ...)" : ")");
}

static void refuse_fatbin(const struct image *image, const char *name, struct error *e)
{
    const struct fatbin_contents *c = &image->contents;
    char list[FATBIN_LISTED * 20];
    uint32_t to = advised(c->architecture_count ? c->architectures[0] : 0);
    list_architectures(c, list, sizeof list);
    if (c->cubins)
        error_set(e, ERROR_UNSUPPORTED, "%s: this is a fat binary with machine code%s%s and no PTX; Heddle runs PTX",
                  name, list, c->lto_texts ? ", LTO IR" : "");
    else if (c->lto_texts)
        error_set(e, ERROR_UNSUPPORTED, "%s: this is a fat binary with LTO IR (-dlto) and no PTX; Heddle runs PTX",
                  name);
    else
        error_set(e, ERROR_UNSUPPORTED, "%s: this is a fat binary with nothing in it", name);
    error_note(e, "build it with PTX included, as in nvcc -gencode arch=compute_%u,code=compute_%u", to, to);
}

static void refuse_elf(const struct image *image, const char *name, struct error *e)
{
    const char *machine = image->elf_machine == EM_X86_64         ? "x86-64"
                          : image->elf_machine == EM_AARCH64      ? "AArch64"
                          : image->elf_machine == MACHINE_AMD_GPU ? "AMD's GPUs"
                                                                  : NULL;
    char number[32];
    snprintf(number, sizeof number, "machine %u", image->elf_machine);
    error_set(e, ERROR_SYNTAX, "%s: this is an ELF file for %s, not for NVIDIA's GPUs", name,
              machine ? machine : number);
    error_note(e, "a module is PTX (nvcc -ptx) or a fat binary with PTX (nvcc -fatbin)");
}

static void refuse_unknown(const struct image *image, const char *name, struct error *e)
{
    char bytes[sizeof image->first * 3 + 1] = "";
    for (uint32_t i = 0; i < image->first_count; i++)
        snprintf(bytes + 3 * i, 4, " %02x", image->first[i]);
    error_set(e, ERROR_SYNTAX, "%s: neither PTX nor a fat binary: it begins with the bytes%s", name, bytes);
}

bool image_refuse(const struct image *image, const char *name, struct error *e)
{
    switch (image->kind) {
    case IMAGE_TEXT:
    case IMAGE_FATBIN: break;
    case IMAGE_EMPTY:
        error_set(e, ERROR_SYNTAX, "%s: neither PTX nor a fat binary: it is empty", name);
        error_note(e, "made with NVRTC: load what nvrtcGetPTX gives (without -dlto); nvrtcGetCUBIN gives nothing where "
                      "the architecture is compute_XX");
        break;
    case IMAGE_NO_PTX: refuse_fatbin(image, name, e); break;
    case IMAGE_DAMAGED: error_set(e, image->damage.kind, "%s: %s", name, image->damage.text); break;
    case IMAGE_CUBIN: refuse_cubin(image, name, e); break;
    case IMAGE_HOST_ELF: refuse_elf(image, name, e); break;
    case IMAGE_LTO_IR:
        error_set(e, ERROR_UNSUPPORTED, "%s: this is LTO IR, for link-time optimisation; Heddle runs PTX", name);
        error_note(e,
                   "made with NVRTC: compile without -dlto and load what nvrtcGetPTX gives, not nvrtcGetLTOIR; linked "
                   "with nvJitLink: give it -lto -ptx and load what nvJitLinkGetLinkedPtx gives");
        error_note(e, "made with nvcc: use -ptx");
        break;
    case IMAGE_BITCODE:
        error_set(e, ERROR_UNSUPPORTED, "%s: this is LLVM bitcode (NVVM IR); Heddle runs PTX", name);
        error_note(e, "load what nvvmGetCompiledResult of libNVVM, or llc -march=nvptx64, makes of it");
        break;
    case IMAGE_ARCHIVE:
        error_set(e, ERROR_SYNTAX, "%s: this is an archive of object files; Heddle runs PTX", name);
        error_note(e, "a module is PTX (nvcc -ptx) or a fat binary with PTX (nvcc -fatbin)");
        break;
    case IMAGE_UNKNOWN: refuse_unknown(image, name, e); break;
    }
    return false;
}

/* Reads what is wanted of a 64-bit little-endian ELF file, by its section headers; what of it is loaded: elf_loaded.c.
 * Every offset is checked before it is followed. */
#include "program/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __aarch64__
enum { OWN_MACHINE = EM_AARCH64 };
#elif defined __x86_64__
enum { OWN_MACHINE = EM_X86_64 };
#else
enum { OWN_MACHINE = EM_NONE }; /* unknown: not checked */
#endif

static const char *machine_name(unsigned machine)
{
    return machine == EM_AARCH64  ? "arm64"
           : machine == EM_X86_64 ? "x86-64"
           : machine == EM_PPC64  ? "POWER"
           : machine == EM_RISCV  ? "RISC-V"
                                  : "another machine";
}

/* The bytes [offset, offset + size) of the file, or NULL. */
static const void *bytes_at(const struct elf_program *p, uint64_t offset, uint64_t size)
{
    return offset <= p->file.size && size <= p->file.size - offset ? p->file.data + offset : NULL;
}

struct sections {
    const struct elf_program *program;
    uint64_t table;
    uint32_t count, names;
    struct elf_bytes symbol_versions, needed_versions; /* .gnu.version, .gnu.version_r */
    uint32_t version_names;                            /* section of the strings of the latter */
};

static bool section_at(const struct sections *s, uint32_t index, Elf64_Shdr *out)
{
    const void *at =
        index < s->count ? bytes_at(s->program, s->table + (uint64_t)index * sizeof *out, sizeof *out) : NULL;
    if (at)
        memcpy(out, at, sizeof *out);
    return at != NULL;
}

static struct elf_bytes section_bytes(const struct sections *s, const Elf64_Shdr *h)
{
    const void *data = h->sh_type == SHT_NOBITS ? NULL : bytes_at(s->program, h->sh_offset, h->sh_size);
    return (struct elf_bytes){data, data ? (size_t)h->sh_size : 0};
}

/* A string of a string table; "" where there is none. */
static const char *string_at(const struct sections *s, uint32_t table, uint64_t offset)
{
    Elf64_Shdr h;
    if (!section_at(s, table, &h) || h.sh_type != SHT_STRTAB)
        return "";
    struct elf_bytes b = section_bytes(s, &h);
    return offset < b.size && memchr(b.data + offset, '\0', b.size - offset) ? (const char *)b.data + offset : "";
}

static void read_needed(struct elf_program *p, const struct sections *s, const Elf64_Shdr *h)
{
    struct elf_bytes b = section_bytes(s, h);
    size_t count = b.size / sizeof(Elf64_Dyn);
    p->needed = arena_array(&p->arena, const char *, count + 1);
    p->needed_count = 0;
    for (size_t i = 0; i < count; i++) {
        Elf64_Dyn d;
        memcpy(&d, b.data + i * sizeof d, sizeof d);
        if (d.d_tag == DT_NULL)
            break;
        if (d.d_tag == DT_NEEDED)
            p->needed[p->needed_count++] = string_at(s, h->sh_link, d.d_un.d_val);
        else if (d.d_tag == DT_RPATH)
            p->rpath = string_at(s, h->sh_link, d.d_un.d_val);
        else if (d.d_tag == DT_RUNPATH)
            p->runpath = string_at(s, h->sh_link, d.d_un.d_val);
    }
}

static bool read_at(const struct elf_bytes *b, uint64_t offset, void *out, size_t size)
{
    if (offset > b->size || size > b->size - offset)
        return false;
    memcpy(out, b->data + offset, size);
    return true;
}

/* The library whose version a symbol asks for; NULL: none is named. */
static const char *library_of_symbol(const struct sections *s, size_t symbol)
{
    uint16_t wanted;
    Elf64_Verneed need;
    Elf64_Vernaux version;
    if (!read_at(&s->symbol_versions, symbol * sizeof wanted, &wanted, sizeof wanted) || wanted <= VER_NDX_GLOBAL)
        return NULL;
    for (uint64_t at = 0; read_at(&s->needed_versions, at, &need, sizeof need); at += need.vn_next) {
        uint64_t aux = at + need.vn_aux;
        for (uint32_t i = 0; i < need.vn_cnt && read_at(&s->needed_versions, aux, &version, sizeof version);
             i++, aux += version.vna_next)
            if (version.vna_other == (wanted & 0x7fff))
                return string_at(s, s->version_names, need.vn_file);
        if (!need.vn_next)
            break;
    }
    return NULL;
}

static void read_versions(struct sections *s)
{
    Elf64_Shdr h;
    for (uint32_t i = 0; i < s->count && section_at(s, i, &h); i++) {
        if (h.sh_type == SHT_GNU_versym)
            s->symbol_versions = section_bytes(s, &h);
        if (h.sh_type != SHT_GNU_verneed)
            continue;
        s->needed_versions = section_bytes(s, &h);
        s->version_names = h.sh_link;
    }
}

static void read_symbols(struct elf_program *p, const struct sections *s, const Elf64_Shdr *h)
{
    struct elf_bytes b = section_bytes(s, h);
    size_t count = b.size / sizeof(Elf64_Sym);
    bool dynamic = h->sh_type == SHT_DYNSYM;
    if (dynamic) {
        p->imports = arena_array(&p->arena, const char *, count + 1);
        p->import_libraries = arena_array(&p->arena, const char *, count + 1);
        p->exports = arena_array(&p->arena, const char *, count + 1);
        p->import_count = p->export_count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, b.data + i * sizeof symbol, sizeof symbol);
        const char *name = string_at(s, h->sh_link, symbol.st_name);
        if (!*name)
            continue;
        bool defined = symbol.st_shndx != SHN_UNDEF;
        if (defined && !strcmp(name, "__cudaRegisterFatBinary"))
            p->defines_cudart = true;
        if (dynamic && defined) {
            p->exports[p->export_count++] = name;
        } else if (dynamic && ELF64_ST_BIND(symbol.st_info) != STB_WEAK) {
            p->import_libraries[p->import_count] = library_of_symbol(s, i);
            p->imports[p->import_count++] = name;
        }
    }
}

static void read_section(struct elf_program *p, const struct sections *s, const Elf64_Shdr *h)
{
    const char *name = string_at(s, s->names, h->sh_name);
    if (h->sh_type == SHT_DYNAMIC)
        read_needed(p, s, h);
    else if (h->sh_type == SHT_DYNSYM || h->sh_type == SHT_SYMTAB)
        read_symbols(p, s, h);
    else if (!strcmp(name, ".interp"))
        p->has_interpreter = true;
    else if (!strcmp(name, ".nvFatBinSegment"))
        p->has_fatbin_segment = true;
    else if (!strcmp(name, ".nv_fatbin"))
        p->fatbins = section_bytes(s, h);
    else if (!strcmp(name, "__nv_relfatbin"))
        p->relocatable = section_bytes(s, h);
}

static bool read_elf(struct elf_program *p, const char *path, struct error *e)
{
    Elf64_Ehdr h;
    const void *at = bytes_at(p, 0, sizeof h);
    if (!at)
        return error_set(e, ERROR_IO, "%s is cut off in its ELF header", path);
    memcpy(&h, at, sizeof h);
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
        return error_set(e, ERROR_UNSUPPORTED, "%s is not a 64-bit little-endian program", path);
    if (OWN_MACHINE != EM_NONE && h.e_machine != OWN_MACHINE)
        return error_set(e, ERROR_UNSUPPORTED, "%s was built for %s; this machine is %s", path,
                         machine_name(h.e_machine), machine_name(OWN_MACHINE));
    if (h.e_type != ET_EXEC && h.e_type != ET_DYN)
        return error_set(e, ERROR_IO, "%s is not an executable: link it first", path);
    struct sections s = {.program = p, .table = h.e_shoff, .count = h.e_shnum, .names = h.e_shstrndx};
    Elf64_Shdr section;
    if (h.e_shoff && h.e_shentsize == sizeof section && !h.e_shnum && bytes_at(p, h.e_shoff, sizeof section)) {
        s.count = 1; /* so many sections that the first one holds their number */
        s.count = section_at(&s, 0, &section) ? (uint32_t)section.sh_size : 0;
    }
    if (s.count && (h.e_shentsize != sizeof section || !bytes_at(p, h.e_shoff, (uint64_t)s.count * sizeof section)))
        return error_set(e, ERROR_IO, "%s is cut off: its section headers lie beyond its end", path);
    if (s.names == SHN_XINDEX && section_at(&s, 0, &section))
        s.names = section.sh_link;
    read_versions(&s);
    p->rpath = p->runpath = "";
    for (uint32_t i = 0; i < s.count; i++)
        if (section_at(&s, i, &section))
            read_section(p, &s, &section);
    p->is_elf = true;
    return true;
}

bool elf_map_file(struct elf_bytes *file, const char *path, struct error *e)
{
    struct stat status;
    *file = (struct elf_bytes){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0) {
        error_set(e, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        close(fd);
        return error_set(e, ERROR_IO, "%s is %s, not a program", path,
                         S_ISDIR(status.st_mode) ? "a folder" : "not a regular file");
    }
    bool ok = true;
    if (status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = data != MAP_FAILED || error_set(e, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
        if (ok)
            *file = (struct elf_bytes){data, (size_t)status.st_size};
    }
    close(fd);
    return ok;
}

void elf_unmap_file(struct elf_bytes *file)
{
    if (file->size)
        munmap((void *)(uintptr_t)file->data, file->size);
    *file = (struct elf_bytes){0};
}

bool elf_program_open(struct elf_program *p, const char *path, struct error *e)
{
    *p = (struct elf_program){0};
    if (!elf_map_file(&p->file, path, e))
        return false;
    const void *magic = bytes_at(p, 0, SELFMAG);
    if (!magic || memcmp(magic, ELFMAG, SELFMAG))
        return true;
    if (read_elf(p, path, e))
        return true;
    elf_program_close(p);
    return false;
}

void elf_program_close(struct elf_program *p)
{
    arena_free(&p->arena);
    elf_unmap_file(&p->file);
    *p = (struct elf_program){0};
}

const char *elf_program_needs(const struct elf_program *p, const char *prefix)
{
    for (uint32_t i = 0; i < p->needed_count; i++)
        if (!strncmp(p->needed[i], prefix, strlen(prefix)))
            return p->needed[i];
    return NULL;
}

bool elf_program_imports(const struct elf_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->import_count; i++)
        if (!strcmp(p->imports[i], name))
            return true;
    return false;
}

/* What of an ELF file is loaded when it is executed: its PT_LOAD segments, less two things that differ between builds
 * of the same code. These are the ELF header, which says where the section headers are (after debugging information,
 * if there is any), and the build identifier. */
#include "program/elf.h"

#include <elf.h>
#include <string.h>

enum { MOST_HOLES = 8 };

struct hole {
    uint64_t start, end;
}; /* file offsets */

struct holes {
    struct hole list[MOST_HOLES];
    uint32_t count;
};

static const void *bytes_at(const struct elf_program *p, uint64_t offset, uint64_t size)
{
    return offset <= p->file.size && size <= p->file.size - offset ? p->file.data + offset : NULL;
}

static bool segment_at(const struct elf_program *p, const Elf64_Ehdr *h, uint32_t index, Elf64_Phdr *out)
{
    const void *at = bytes_at(p, h->e_phoff + (uint64_t)index * sizeof *out, sizeof *out);
    if (at)
        memcpy(out, at, sizeof *out);
    return at != NULL;
}

static uint64_t round_up(uint64_t n, uint64_t align) { return (n + align - 1) / align * align; }

/* Holes are kept in the order of their places. */
static void add_hole(struct holes *holes, uint64_t start, uint64_t end)
{
    if (holes->count == MOST_HOLES || start >= end)
        return;
    uint32_t i = holes->count++;
    for (; i > 0 && holes->list[i - 1].start > start; i--)
        holes->list[i] = holes->list[i - 1];
    holes->list[i] = (struct hole){start, end};
}

/* The build identifiers among the notes of a segment. */
static void find_identifiers(const struct elf_program *p, const Elf64_Phdr *notes, struct holes *holes)
{
    uint64_t align = notes->p_align == 8 ? 8 : 4;
    for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes->p_filesz;) {
        Elf64_Nhdr note;
        const void *header = bytes_at(p, notes->p_offset + at, sizeof note);
        if (!header)
            return;
        memcpy(&note, header, sizeof note);
        uint64_t name = at + sizeof note, text = name + round_up(note.n_namesz, align),
                 next = text + round_up(note.n_descsz, align);
        const void *owner = bytes_at(p, notes->p_offset + name, note.n_namesz);
        if (next > round_up(notes->p_filesz, align) || !owner)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(owner, "GNU", 4))
            add_hole(holes, notes->p_offset + text, notes->p_offset + text + note.n_descsz);
        at = next;
    }
}

static void visit_piece(const struct elf_program *p, const Elf64_Phdr *segment, uint64_t start, uint64_t end,
                        elf_loaded_visitor *visit, void *user)
{
    if (start < end)
        visit(user, &(struct elf_loaded){segment->p_vaddr + (start - segment->p_offset),
                                         segment->p_flags,
                                         {p->file.data + start, (size_t)(end - start)}});
}

static bool visit_segment(const struct elf_program *p, const Elf64_Phdr *segment, const struct holes *holes,
                          elf_loaded_visitor *visit, void *user)
{
    uint64_t at = segment->p_offset, end = segment->p_offset + segment->p_filesz;
    if (!bytes_at(p, segment->p_offset, segment->p_filesz))
        return false;
    for (uint32_t i = 0; i < holes->count; i++) {
        const struct hole *hole = &holes->list[i];
        if (hole->end <= at || hole->start >= end)
            continue;
        visit_piece(p, segment, at, hole->start, visit, user);
        at = hole->end;
    }
    visit_piece(p, segment, at, end, visit, user);
    return true;
}

bool elf_program_visit_loaded(const struct elf_program *p, elf_loaded_visitor *visit, void *user)
{
    Elf64_Ehdr h;
    Elf64_Phdr segment;
    struct holes holes = {0};
    bool any = false;
    const void *at = p->is_elf ? bytes_at(p, 0, sizeof h) : NULL;
    if (!at)
        return false;
    memcpy(&h, at, sizeof h);
    if (h.e_phentsize != sizeof segment)
        return false;
    add_hole(&holes, 0, sizeof h);
    for (uint32_t i = 0; i < h.e_phnum; i++)
        if (segment_at(p, &h, i, &segment) && segment.p_type == PT_NOTE)
            find_identifiers(p, &segment, &holes);
    for (uint32_t i = 0; i < h.e_phnum; i++) {
        if (!segment_at(p, &h, i, &segment))
            return false;
        if (segment.p_type != PT_LOAD)
            continue;
        if (!visit_segment(p, &segment, &holes, visit, user))
            return false;
        any = true;
    }
    return any;
}

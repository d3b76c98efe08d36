/*
 * Recorded files. FAMILY.vec has one line a spelling:
 *   SPELLING tuples hash-of-inputs hash-of-outputs 16-bit-hash-of-every-64-tuples first-outputs
 * and for the family `approx`, which is compared with a tolerance:
 *   SPELLING tuples hash-of-inputs classes-of-all-results samples
 * kernels.vec and textures.vec have: NAME out-bytes hash-of-output first-words, and 8-bit hashes of all 16-byte pieces
 * where some may differ. full-N.bin holds all outputs (name length, name, byte count, bytes) and is for debugging; it
 * is not
 * committed. */
#include "vectors.h"
#include <stdlib.h>
#include <string.h>

enum { FULL_LIMIT = 15 << 20, KERNEL_WORDS = 8, PIECE = 16 };

struct full_entry {
    const char *name;
    const unsigned char *data;
    size_t size;
};

/* ---- reading .vec ---- */

static int compare_record(const void *a, const void *b)
{
    return strcmp(((const struct record *)a)->name, ((const struct record *)b)->name);
}

int record_file_read(struct record_file *file, const char *directory, const char *family)
{
    char path[2048];
    size_t capacity = 0;
    memset(file, 0, sizeof *file);
    snprintf(path, sizeof path, "%s/%s.vec", directory, family);
    file->text = read_text_file(path);
    if (!file->text)
        return -1;
    for (char *line = file->text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        char *space = strchr(line, ' ');
        if (line[0] == '#' || !space)
            continue;
        *space = 0;
        file->records = grow(file->records, &capacity, file->count + 1, sizeof *file->records);
        file->records[file->count++] = (struct record){line, space + 1};
    }
    if (file->count)
        qsort(file->records, file->count, sizeof *file->records, compare_record);
    return 0;
}

void record_file_free(struct record_file *file)
{
    free(file->text);
    free(file->records);
}

const char *record_find(const struct record_file *file, const char *name)
{
    struct record key = {.name = (char *)name};
    if (!file->count)
        return NULL;
    const struct record *found = bsearch(&key, file->records, file->count, sizeof key, compare_record);
    return found ? found->fields : NULL;
}

/* ---- full outputs ---- */

int full_write(struct full_writer *writer, const char *name, const void *data, size_t size)
{
    uint32_t lengths[2] = {(uint32_t)strlen(name), (uint32_t)size};
    if (writer->file && writer->bytes + size > FULL_LIMIT)
        full_close(writer);
    if (!writer->file) {
        char path[2048];
        snprintf(path, sizeof path, "%s/full-%d.bin", writer->directory, writer->number++);
        writer->file = fopen(path, "wb");
        writer->bytes = 0;
        if (!writer->file) {
            perror(path);
            return -1;
        }
    }
    writer->bytes += sizeof lengths + lengths[0] + size;
    return fwrite(lengths, sizeof lengths, 1, writer->file) == 1 && fwrite(name, lengths[0], 1, writer->file) == 1 &&
                   fwrite(data, size, 1, writer->file) == 1
               ? 0
               : -1;
}

void full_close(struct full_writer *writer)
{
    if (writer->file)
        fclose(writer->file);
    writer->file = NULL;
}

static int compare_full(const void *a, const void *b)
{
    return strcmp(((const struct full_entry *)a)->name, ((const struct full_entry *)b)->name);
}

static int read_full_file(struct full_reader *reader, size_t *capacity, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    uint32_t lengths[2];
    while (fread(lengths, sizeof lengths, 1, file) == 1 && lengths[0] < 4096 && lengths[1] < FULL_LIMIT) {
        unsigned char *block = malloc(lengths[0] + 1 + lengths[1]);
        if (!block || fread(block, lengths[0], 1, file) != 1 ||
            fread(block + lengths[0] + 1, lengths[1], 1, file) != 1) {
            free(block);
            break;
        }
        block[lengths[0]] = 0;
        reader->entries = grow(reader->entries, capacity, reader->count + 1, sizeof *reader->entries);
        reader->entries[reader->count++] = (struct full_entry){(char *)block, block + lengths[0] + 1, lengths[1]};
    }
    fclose(file);
    return 0;
}

int full_read_directory(struct full_reader *reader, const char *directory)
{
    size_t count, capacity = 0;
    char **names = list_directory(directory, ".bin", &count);
    int bad = names ? 0 : -1;
    for (size_t i = 0; i < count; i++) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        bad |= read_full_file(reader, &capacity, path);
    }
    free_list(names, count);
    if (reader->count)
        qsort(reader->entries, reader->count, sizeof *reader->entries, compare_full);
    return bad;
}

const unsigned char *full_find(const struct full_reader *reader, const char *name, size_t *size)
{
    struct full_entry key = {.name = name};
    if (!reader || !reader->count)
        return NULL;
    const struct full_entry *found = bsearch(&key, reader->entries, reader->count, sizeof key, compare_full);
    *size = found ? found->size : 0;
    return found ? found->data : NULL;
}

void full_free(struct full_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++)
        free((void *)reader->entries[i].name);
    free(reader->entries);
}

/* ---- variants ---- */

static int output_bytes(const struct operand *operand)
{
    int bits = operand_class_bits(operand->class);
    return bits == 1 ? 1 : bits / 8;
}

static size_t tuple_bytes(const struct variant *variant)
{
    size_t size = 0;
    for (int i = 0; i < variant->operand_count; i++)
        if (variant->operands[i].is_output)
            size += output_bytes(&variant->operands[i]);
    return size;
}

/* Tuple after tuple, each output in as many bytes as it is wide. */
size_t outputs_pack(const struct variant *variant, const uint64_t *outputs, unsigned char *packed)
{
    unsigned char *at = packed;
    for (int t = 0; t < TUPLES; t++) {
        int k = 0;
        for (int i = 0; i < variant->operand_count; i++) {
            if (!variant->operands[i].is_output)
                continue;
            memcpy(at, &outputs[k++ * TUPLES + t], output_bytes(&variant->operands[i]));
            at += output_bytes(&variant->operands[i]);
        }
    }
    return at - packed;
}

static uint64_t hash_inputs(const struct variant *variant, const uint64_t *inputs)
{
    int count = 0;
    for (int i = 0; i < variant->operand_count; i++)
        count += !variant->operands[i].is_output;
    return hash_bytes(HASH_START, inputs, (size_t)count * TUPLES * sizeof *inputs);
}

static unsigned fold(uint64_t hash) { return (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) & 0xffff; }

/* Outputs of one tuple as hexadecimal, joined by '/'. */
static void text_tuple(struct text *text, const struct variant *variant, const unsigned char *packed)
{
    int first = 1;
    for (int i = 0; i < variant->operand_count; i++) {
        if (!variant->operands[i].is_output)
            continue;
        uint64_t value = 0;
        memcpy(&value, packed, output_bytes(&variant->operands[i]));
        packed += output_bytes(&variant->operands[i]);
        text_add(text, first ? "%llx" : "/%llx", (unsigned long long)value);
        first = 0;
    }
}

static int sample_index(int sample)
{
    return sample < APPROX_SAMPLES / 2 ? sample
                                       : (sample - APPROX_SAMPLES / 2) * ((TUPLES - 64) / (APPROX_SAMPLES / 2)) + 64;
}

static void text_fields(struct text *text, const struct variant *variant, const uint64_t *inputs,
                        const uint64_t *outputs, const unsigned char *packed)
{
    int approximate = !strcmp(variant->family, "approx");
    size_t size = tuple_bytes(variant);
    text_add(text, "%d %04x ", TUPLES, fold(hash_inputs(variant, inputs)));
    if (approximate) {
        approx_classes(variant, outputs, text);
        for (int i = 0; i < APPROX_SAMPLES; i++) {
            text_add(text, i ? "," : " ");
            text_tuple(text, variant, packed + sample_index(i) * size);
        }
        return;
    }
    text_add(text, "%016llx ", (unsigned long long)hash_bytes(HASH_START, packed, size * TUPLES));
    for (int c = 0; c < TUPLES / CHUNK; c++)
        text_add(text, "%04x", fold(hash_bytes(HASH_START, packed + c * CHUNK * size, CHUNK * size)));
    for (int i = 0; i < FIRST_OUTPUTS; i++) {
        text_add(text, i ? "," : " ");
        text_tuple(text, variant, packed + i * size);
    }
}

void record_variant(FILE *file, const struct variant *variant, const uint64_t *inputs, const uint64_t *outputs)
{
    static unsigned char packed[TUPLES * MAX_OPERANDS * 8];
    struct text text = {0};
    outputs_pack(variant, outputs, packed);
    text_fields(&text, variant, inputs, outputs, packed);
    fprintf(file, "%s %s\n", variant->spelling, text.data);
    text_free(&text);
}

static void describe_tuple(struct text *text, const struct variant *variant, int tuple, const uint64_t *inputs)
{
    int k = 0;
    text_add(text, "tuple %d:", tuple);
    for (int i = 0; i < variant->operand_count; i++)
        if (!variant->operands[i].is_output)
            text_add(text, " %s=0x%llx", variant->operands[i].name, (unsigned long long)inputs[k++ * TUPLES + tuple]);
}

static const char *field(const char *fields, int index)
{
    for (; index && fields; index--) {
        fields = strchr(fields, ' ');
        fields += fields != NULL;
    }
    return fields;
}

static void describe_chunk(struct text *text, const char *recorded, const char *now)
{
    const char *old_chunks = field(recorded, 3), *new_chunks = field(now, 3);
    for (int c = 0; c < TUPLES / CHUNK && old_chunks && strlen(old_chunks) > 4 * TUPLES / CHUNK; c++)
        if (memcmp(old_chunks + 4 * c, new_chunks + 4 * c, 4)) {
            text_add(text, "first difference in tuples %d to %d", c * CHUNK, c * CHUNK + CHUNK - 1);
            return;
        }
    text_add(text, "the hashes differ");
}

/* Where the difference is: exactly with the full outputs, else by the plain first outputs or the chunk hashes. */
static void describe_mismatch(struct text *text, const struct variant *variant, const uint64_t *inputs,
                              const unsigned char *packed, const char *recorded, const char *now,
                              const struct full_reader *full)
{
    size_t bytes, size = tuple_bytes(variant);
    const unsigned char *wanted = full_find(full, variant->spelling, &bytes);
    if (wanted && bytes == size * TUPLES) {
        int wrong = 0, first = -1;
        for (int t = 0; t < TUPLES; t++)
            if (memcmp(wanted + t * size, packed + t * size, size)) {
                first = first < 0 ? t : first;
                wrong++;
            }
        if (first < 0) {
            text_add(text, "the full outputs are another recording's");
            return;
        }
        describe_tuple(text, variant, first, inputs);
        text_add(text, ": expected ");
        text_tuple(text, variant, wanted + first * size);
        text_add(text, ", got ");
        text_tuple(text, variant, packed + first * size);
        text_add(text, " (%d of %d differ)", wrong, TUPLES);
        return;
    }
    const char *old_plain = strrchr(recorded, ' '), *new_plain = strrchr(now, ' ');
    for (int i = 0; i < FIRST_OUTPUTS && old_plain && new_plain; i++) {
        size_t old_size = strcspn(old_plain + 1, ","), new_size = strcspn(new_plain + 1, ",");
        if (old_size != new_size || memcmp(old_plain + 1, new_plain + 1, old_size)) {
            describe_tuple(text, variant, i, inputs);
            text_add(text, ": expected %.*s, got %.*s", (int)old_size, old_plain + 1, (int)new_size, new_plain + 1);
            return;
        }
        old_plain += 1 + old_size;
        new_plain += 1 + new_size;
    }
    describe_chunk(text, recorded, now);
}

int check_variant(const struct variant *variant, const char *fields, const uint64_t *inputs, const uint64_t *outputs,
                  const struct full_reader *full, char *message, size_t message_size)
{
    static unsigned char packed[TUPLES * MAX_OPERANDS * 8];
    struct text now = {0}, text = {0};
    int bad = 0;
    outputs_pack(variant, outputs, packed);
    text_fields(&now, variant, inputs, outputs, packed);
    const char *old_inputs = field(fields, 1), *new_inputs = field(now.data, 1);
    if (!old_inputs || strncmp(old_inputs, new_inputs, 4)) {
        snprintf(message, message_size, "the recorded operands are not those generated now: record again");
        bad = -1;
    } else if (!strcmp(variant->family, "approx")) {
        bad = approx_check(variant, inputs, outputs, field(fields, 2), message, message_size);
    } else if (strcmp(fields, now.data)) {
        describe_mismatch(&text, variant, inputs, packed, fields, now.data, full);
        snprintf(message, message_size, "%s", text.data ? text.data : "differs");
        bad = -1;
    }
    text_free(&now);
    text_free(&text);
    return bad;
}

/* ---- kernels ---- */

static void text_kernel(struct text *text, const struct kernel *kernel, const unsigned char *out)
{
    size_t words = kernel->out_bytes / 4;
    text_add(text, "%zu %016llx ", kernel->out_bytes,
             (unsigned long long)hash_bytes(HASH_START, out, kernel->out_bytes));
    for (size_t i = 0; i < words && i < KERNEL_WORDS; i++) {
        uint32_t word;
        memcpy(&word, out + i * 4, 4);
        text_add(text, i ? ",%x" : "%x", word);
    }
    for (size_t at = 0; kernel->allowed && at + PIECE <= kernel->out_bytes; at += PIECE)
        text_add(text, at ? "%02x" : " %02x", fold(hash_bytes(HASH_START, out + at, PIECE)) & 0xff);
}

/* The pieces whose hashes differ. */
static size_t differing_pieces(const char *recorded, const char *now)
{
    size_t count = 0;
    recorded = strrchr(recorded, ' ');
    now = strrchr(now, ' ');
    if (!recorded || !now || strlen(recorded) != strlen(now))
        return (size_t)-1;
    for (recorded++, now++; recorded[0] && recorded[1]; recorded += 2, now += 2)
        count += memcmp(recorded, now, 2) != 0;
    return count;
}

void record_kernel(FILE *file, const struct kernel *kernel, const unsigned char *out)
{
    struct text text = {0};
    text_kernel(&text, kernel, out);
    fprintf(file, "%s %s\n", kernel->name, text.data);
    text_free(&text);
}

int check_kernel(const struct kernel *kernel, const char *fields, const unsigned char *out,
                 const struct full_reader *full, char *message, size_t message_size)
{
    struct text now = {0};
    size_t size;
    text_kernel(&now, kernel, out);
    int bad = strcmp(fields, now.data) != 0;
    if (bad && kernel->allowed && differing_pieces(fields, now.data) <= kernel->allowed)
        bad = 0;
    if (bad) {
        const unsigned char *wanted = full_find(full, kernel->name, &size);
        snprintf(message, message_size, "expected %s, got %s", fields, now.data);
        for (size_t i = 0, wrong = 0; wanted && size == kernel->out_bytes && i + 4 <= size; i += 4) {
            uint32_t expected, got;
            memcpy(&expected, wanted + i, 4);
            memcpy(&got, out + i, 4);
            if (expected != got && !wrong++)
                snprintf(message, message_size, "word %zu: expected 0x%x, got 0x%x", i / 4, expected, got);
        }
    }
    text_free(&now);
    return bad ? -1 : 0;
}

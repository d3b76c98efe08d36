/*
 * The recorded files. One line a seed: seed, hash of the kernel's text, hash of its output, first four words of the
 * columns. Beside it, for finding what differs and not kept in the repository, the outputs in
 * full. */
#include "random.h"
#include <stdlib.h>
#include <string.h>

int recording_read(struct recording *recording, const char *path)
{
    char line[256];
    size_t capacity = 0;
    FILE *file = fopen(path, "r");
    memset(recording, 0, sizeof *recording);
    if (!file) {
        fprintf(stderr, "cannot read %s\n", path);
        return -1;
    }
    while (fgets(line, sizeof line, file)) {
        unsigned long long seed, text_hash, hash;
        struct recorded row;
        if (line[0] == '#')
            continue;
        if (sscanf(line, "%llu %llx %llx %x %x %x %x", &seed, &text_hash, &hash, &row.words[0], &row.words[1],
                   &row.words[2], &row.words[3]) != 7) {
            fprintf(stderr, "%s: bad line: %s", path, line);
            fclose(file);
            return -1;
        }
        row.seed = seed;
        row.text_hash = text_hash;
        row.hash = hash;
        if (recording->count == capacity) {
            capacity = capacity * 2 + 64;
            recording->rows = realloc(recording->rows, capacity * sizeof *recording->rows);
            if (!recording->rows)
                abort();
        }
        recording->rows[recording->count++] = row;
    }
    fclose(file);
    return 0;
}

void recorded_fill(struct recorded *row, const struct kernel *kernel, const unsigned char *out)
{
    row->seed = kernel->seed;
    row->text_hash = kernel_text_hash(kernel) & 0xffffffff;
    row->hash = hash_bytes(out, kernel->out_bytes);
    memcpy(row->words, out + kernel->columns_at, sizeof row->words);
}

void recorded_write(FILE *file, const struct recorded *row)
{
    fprintf(file, "%llu %08llx %016llx %x %x %x %x\n", (unsigned long long)row->seed,
            (unsigned long long)row->text_hash, (unsigned long long)row->hash, row->words[0], row->words[1],
            row->words[2], row->words[3]);
}

int full_write(FILE *file, uint64_t seed, const unsigned char *out, uint64_t size)
{
    return fwrite(&seed, 8, 1, file) == 1 && fwrite(&size, 8, 1, file) == 1 && fwrite(out, 1, size, file) == size ? 0
                                                                                                                  : -1;
}

unsigned char *full_find(const char *path, uint64_t seed, uint64_t *size)
{
    uint64_t header[2];
    unsigned char *out = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    while (!out && fread(header, 8, 2, file) == 2) {
        if (header[0] != seed) {
            fseek(file, (long)header[1], SEEK_CUR);
            continue;
        }
        out = malloc(header[1]);
        *size = header[1];
        if (!out || fread(out, 1, header[1], file) != header[1]) {
            free(out);
            out = NULL;
            break;
        }
    }
    fclose(file);
    return out;
}

/* disparity_check STATS WARPS.csv: does the probe `disparity` say of the warps of blocks what the rows of the same run
 * say? Times (all reasons but drain) and instructions are the same. The reasons of cycles are looked up at other times:
 * by the probe before the schedulers choose, for the rows at the end of the cycle, when others have issued and
 * instructions have been fetched. So for each warp:
 *
 *   memory, rows less probe        at least 0, at most its fetches: the cycle in which an instruction comes
 *   barrier, probe less rows       at least 0, at most its barriers: the cycle in which others open it
 *   not picked                     at most not_picked + held + pipeline of the rows (in a part of these it found its
 *                                  unit free, and another warp took it in the same cycle); at least not_picked + held,
 *                                  less its fetches and barriers
 *
 * where fetches and barriers are at most its instructions. Exit status 0 yes, 1 no. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCH, BLOCK, WARP, INSTRUCTIONS = 8, STALLS = 10, NUMBERS = STALLS + 11, WARPS = 64 };
enum { NOT_PICKED = STALLS + 1, MEMORY = STALLS + 4, PIPELINE, BARRIER, HELD = STALLS + 9, DRAIN };

struct row {
    long long n[NUMBERS];
};

static int bad;
static long long blocks, slowest, fastest, time_by[WARPS], sums[WARPS][NUMBERS];

static void expect(const char *what, int rank, long long least, long long got, long long most)
{
    if (got >= least && got <= most)
        return;
    fprintf(stderr, "%s, rank %d: %lld is not from %lld to %lld\n", what, rank, got, least, most);
    bad = 1;
}

static int parse(char *line, struct row *row)
{
    char *save = NULL, *field = strtok_r(line, ",\n", &save);
    int count = 0;
    for (int i = 0; field && count < NUMBERS; field = strtok_r(NULL, ",\n", &save), i++)
        if (i != 1) /* the kernel's name */
            row->n[count++] = strtoll(field, NULL, 10);
    return count == NUMBERS && !field;
}

static long long time_of(const struct row *r)
{
    long long sum = 0;
    for (int i = STALLS; i < DRAIN; i++)
        sum += r->n[i];
    return sum;
}

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return time_of(x) != time_of(y) ? (time_of(x) < time_of(y) ? -1 : 1) : (int)(x->n[WARP] - y->n[WARP]);
}

static void add_block(struct row *rows, int count)
{
    if (count < 2)
        return;
    qsort(rows, (size_t)count, sizeof *rows, by_time);
    blocks++;
    fastest += time_of(&rows[0]);
    slowest += time_of(&rows[count - 1]);
    for (int rank = 0; rank < count; rank++) {
        time_by[rank] += time_of(&rows[rank]);
        for (int i = 0; i < NUMBERS; i++)
            sums[rank][i] += rows[rank].n[i];
    }
}

static void check(json_t *probe)
{
#define NUMBER(name)  json_integer_value(json_object_get(probe, name))
#define OF_RANK(name) json_integer_value(json_array_get(json_object_get(probe, name), (size_t)rank))
    expect("blocks", -1, blocks, NUMBER("blocks"), blocks);
    expect("slowest_cycles", -1, slowest, NUMBER("slowest_cycles"), slowest);
    expect("fastest_cycles", -1, fastest, NUMBER("fastest_cycles"), fastest);
    for (int rank = 0; rank < WARPS; rank++) {
        const long long *n = sums[rank];
        long long slack = n[INSTRUCTIONS], not_picked = n[NOT_PICKED] + n[HELD];
        expect("cycles", rank, time_by[rank], OF_RANK("cycles_by_rank"), time_by[rank]);
        expect("instructions", rank, slack, OF_RANK("instructions_by_rank"), slack);
        expect("memory", rank, n[MEMORY] - slack, OF_RANK("memory_by_rank"), n[MEMORY]);
        expect("barrier", rank, n[BARRIER], OF_RANK("barrier_by_rank"), n[BARRIER] + slack);
        expect("not_picked", rank, not_picked - slack, OF_RANK("not_picked_by_rank"), not_picked + n[PIPELINE]);
    }
}

int main(int argc, char **argv)
{
    char line[4096];
    static struct row rows[WARPS + 1];
    int count = 0;
    json_error_t e;
    json_t *root = argc == 3 ? json_load_file(argv[1], 0, &e) : NULL;
    json_t *probe = json_object_get(json_object_get(root, "total"), "disparity");
    FILE *f = argc == 3 ? fopen(argv[2], "r") : NULL;
    if (!probe || !f || !fgets(line, sizeof line, f)) {
        fprintf(stderr, "usage: disparity_check STATS WARPS.csv\n");
        return 1;
    }
    while (fgets(line, sizeof line, f)) { /* in order of launch, block and warp */
        struct row *row = &rows[count];
        if (!parse(line, row))
            return 1;
        if (count && (row->n[LAUNCH] != rows[0].n[LAUNCH] || row->n[BLOCK] != rows[0].n[BLOCK])) {
            struct row next = *row;
            add_block(rows, count);
            rows[0] = next;
            count = 0;
        }
        count++;
    }
    add_block(rows, count);
    fclose(f);
    check(probe);
    json_decref(root);
    return bad || !blocks;
}

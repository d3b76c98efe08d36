/*
 * mummer: host program; see mummer.cu for what the kernel does. The tree is built here, suffix by suffix; the reference
 * solution does not use it, but narrows down a sorted list of the suffixes letter by
 * letter. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { BLOCK = 256, COLUMNS = 1024, NOTHING = 0, ROOT = 1, READ_LENGTH = 25, LEAST = 20 };
enum { MATCHES_PER_READ = READ_LENGTH - LEAST + 1, NATIVE_ONE_IN = 256, END_OF_TEXT = '$' };

struct problem {
    long letters; /* of the reference */
    long reads;
};

static const struct problem problems[SIZE_COUNT] = {{3000, 2000}, {20000, 50000}, {20000, 50000}};

struct match {
    uint32_t length;
    uint32_t node;
};

/* As the kernel fetches them; the letters' order in `children` is A, C, G, T, as in letter_index. */
struct edge {
    uint32_t first;
    uint32_t behind; /* the last one's number, plus 1 */
    uint32_t link;
    uint32_t unused;
};

struct tree {
    const char *text; /* the reference, closed by END_OF_TEXT, so that every suffix ends in a leaf of its own */
    long letters;     /* that one included */
    uint32_t nodes;   /* the first two are NOTHING and ROOT */
    struct edge *edges;
    uint32_t (*children)[4];
    uint32_t *depths;  /* letters from the root to the node */
    uint32_t *closing; /* of a node: the leaf that END_OF_TEXT leads to */
};

static int letter_index(char letter) { return letter == 'A' ? 0 : letter == 'C' ? 1 : letter == 'G' ? 2 : 3; }

static uint32_t *child_slot(const struct tree *tree, uint32_t node, char letter)
{
    return letter == END_OF_TEXT ? &tree->closing[node] : &tree->children[node][letter_index(letter)];
}

static uint32_t node_new(struct tree *tree, uint32_t first, uint32_t behind, uint32_t depth)
{
    tree->edges[tree->nodes] = (struct edge){first, behind, NOTHING, 0};
    tree->depths[tree->nodes] = depth;
    return tree->nodes++;
}

/* Walks down from the root as far as the tree goes, and adds the rest of the suffix as a leaf. */
static void tree_insert(struct tree *tree, uint32_t suffix)
{
    uint32_t node = ROOT;
    uint32_t at = suffix;

    for (;;) {
        uint32_t *slot = child_slot(tree, node, tree->text[at]);
        uint32_t child = *slot;
        if (child == NOTHING) {
            *slot = node_new(tree, at, tree->letters, tree->letters - suffix);
            return;
        }
        struct edge *edge = &tree->edges[child];
        uint32_t position = edge->first;
        while (position < edge->behind && tree->text[position] == tree->text[at]) {
            position++;
            at++;
        }
        if (position < edge->behind) {
            /* The edge is cut in two: a new node in its middle. */
            *slot = node_new(tree, edge->first, position, at - suffix);
            *child_slot(tree, *slot, tree->text[position]) = child;
            edge->first = position;
            child = *slot;
        }
        node = child;
    }
}

/* The node for what is left of this node's letters without the first: of an inner node there always is one. */
static uint32_t link_of(const struct tree *tree, uint32_t node)
{
    uint32_t depth = tree->depths[node];
    uint32_t at = tree->edges[node].behind - depth + 1;
    uint32_t link = ROOT;

    while (tree->depths[link] + 1 < depth) {
        link = *child_slot(tree, link, tree->text[at]);
        at += tree->edges[link].behind - tree->edges[link].first;
    }
    return link;
}

static void tree_build(struct tree *tree, const char *text, long letters)
{
    size_t most = 2 * letters + 2;
    size_t texels = (most + COLUMNS - 1) / COLUMNS * COLUMNS;

    *tree = (struct tree){text,
                          letters,
                          ROOT,
                          workload_alloc(texels, sizeof *tree->edges),
                          workload_alloc(texels, sizeof *tree->children),
                          workload_alloc(texels, sizeof *tree->depths),
                          workload_alloc(texels, sizeof *tree->closing)};
    node_new(tree, 0, 0, 0);
    for (long suffix = 0; suffix < letters; suffix++)
        tree_insert(tree, suffix);
    for (uint32_t node = ROOT + 1; node < tree->nodes; node++) {
        if (tree->edges[node].behind != letters)
            tree->edges[node].link = link_of(tree, node);
    }
}

static void tree_free(struct tree *tree)
{
    free(tree->edges);
    free(tree->children);
    free(tree->depths);
    free(tree->closing);
}

/* Two letters of three are A or T, as in the genome that the papers match. */
static char random_letter(uint64_t *state) { return "AATTCG"[random_below(state, 6)]; }

/* Rows of the texture are filled up. */
static char *reference_random(long letters, uint64_t *state)
{
    char *text = workload_alloc((letters + 1 + COLUMNS - 1) / COLUMNS * COLUMNS, 1);

    for (long i = 0; i < letters; i++)
        text[i] = random_letter(state);
    text[letters] = END_OF_TEXT;
    return text;
}

/*
 * Reads come from a whole genome, of which the reference is about one part in 256; the others match by chance alone. Of
 * the reads from the reference, half have one letter
 * changed. */
static void reads_random(char *reads, long count, const char *text, long letters, uint64_t *state)
{
    for (long read = 0; read < count; read++) {
        char *own = reads + read * READ_LENGTH;
        if (random_below(state, NATIVE_ONE_IN) != 0) {
            for (int i = 0; i < READ_LENGTH; i++)
                own[i] = random_letter(state);
        } else {
            memcpy(own, text + random_below(state, letters - READ_LENGTH + 1), READ_LENGTH);
            if (random_below(state, 2)) {
                uint32_t place = random_below(state, READ_LENGTH);
                own[place] = random_letter(state);
            }
        }
    }
}

static int compare_suffixes(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The first of the suffixes from `low` to `high` whose letter at `depth` is not below `letter`. */
static long first_not_below(const char *const *suffixes, long low, long high, int depth, int letter)
{
    while (low < high) {
        long middle = (low + high) / 2;
        if (suffixes[middle][depth] < letter)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Length of the longest beginning of `letters` that the text has, and where it has it first. */
static void match_reference(const char *text, const char *const *suffixes, long count, const char *letters, int limit,
                            uint32_t *length, uint32_t *place)
{
    long low = 0;
    long high = count;
    int depth = 0;

    while (depth < limit) {
        long first = first_not_below(suffixes, low, high, depth, letters[depth]);
        long behind = first_not_below(suffixes, first, high, depth, letters[depth] + 1);
        if (first == behind)
            break;
        low = first;
        high = behind;
        depth++;
    }
    *length = depth;
    *place = count;
    for (long i = low; i < high; i++) {
        if (suffixes[i] - text < *place)
            *place = suffixes[i] - text;
    }
}

/* Lengths and places alternate: matches of a read one after the other. */
static void matches_reference(const char *text, long letters, const char *reads, long count, uint32_t *expected)
{
    const char **suffixes = workload_alloc(letters, sizeof *suffixes);

    for (long i = 0; i < letters; i++)
        suffixes[i] = text + i;
    qsort(suffixes, letters, sizeof *suffixes, compare_suffixes);
    for (long i = 0; i < count * MATCHES_PER_READ; i++) {
        long start = i % MATCHES_PER_READ;
        const char *own = reads + i / MATCHES_PER_READ * READ_LENGTH + start;
        match_reference(text, suffixes, letters, own, READ_LENGTH - start, &expected[2 * i], &expected[2 * i + 1]);
    }
    free(suffixes);
}

/*
 * Where the text has a match first. An edge's letters are those of the first suffix that took it: later ones branch
 * off, and cutting an edge leaves both parts where they
 * are. */
static void matches_resolve(const struct tree *tree, const struct match *matches, size_t count, uint32_t *resolved)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t node = matches[i].node < tree->nodes ? matches[i].node : NOTHING;
        resolved[2 * i] = matches[i].length;
        resolved[2 * i + 1] = tree->edges[node].behind - tree->depths[node];
    }
}

static void match_on_device(const struct gpu *gpu, const struct tree *tree, const char *reads, const int *offsets,
                            int count, struct match *matches)
{
    size_t match_bytes = (size_t)count * MATCHES_PER_READ * sizeof *matches;
    size_t rows = (tree->nodes + COLUMNS - 1) / COLUMNS;
    int least = LEAST;
    struct gpu_texture_2d edges, children, reference;

    gpu_texture_2d_open(&edges, tree->edges, COLUMNS, rows, 4, sizeof(uint32_t));
    gpu_texture_2d_open(&children, tree->children, COLUMNS, rows, 4, sizeof(uint32_t));
    gpu_texture_2d_open(&reference, tree->text, COLUMNS, (tree->letters + COLUMNS - 1) / COLUMNS, 1, 1);
    CUtexObject textures[] = {edges.object, children.object, reference.object};
    CUdeviceptr read_memory = gpu_upload(reads, (size_t)count * READ_LENGTH);
    CUdeviceptr offset_memory = gpu_upload(offsets, (count + 1) * sizeof *offsets);
    CUdeviceptr match_memory = gpu_alloc_zeroed(match_bytes);
    void *arguments[] = {textures, &read_memory, &offset_memory, &count, &least, &match_memory};

    gpu_launch(gpu_kernel(gpu, "mummer_match"), (struct shape){gpu_blocks(count, BLOCK), 1}, (struct shape){BLOCK, 1},
               arguments);
    gpu_download(matches, match_memory, match_bytes);
    gpu_free(read_memory);
    gpu_free(offset_memory);
    gpu_free(match_memory);
    gpu_texture_2d_close(&edges);
    gpu_texture_2d_close(&children);
    gpu_texture_2d_close(&reference);
}

int main(int argc, char **argv)
{
    struct problem given = {0, 0};
    const struct workload_option options[] = {
        {"reads", "reads to match", &given.reads, 10000000},
        {"letters", "letters of the reference, 25 at least", &given.letters, 4000000},
        {NULL, NULL, NULL, 0},
    };
    const struct workload workload = {
        .name = "mummer",
        .summary = "Reads of 25 letters of DNA matched against a reference through its suffix tree.",
        .inputs = {"2,000 reads, 3,000 letters", "50,000 reads, 20,000 letters", "50,000 reads, 20,000 letters"},
        .options = options,
    };
    struct problem problem = problems[workload_parse(&workload, argc, argv)];
    struct tree tree;
    struct gpu gpu;

    if (given.reads)
        problem.reads = given.reads;
    if (given.letters)
        problem.letters = given.letters < READ_LENGTH ? READ_LENGTH : given.letters;
    uint64_t state = workload_seed(READ_LENGTH);
    size_t count = problem.reads * MATCHES_PER_READ;
    char *reads = workload_alloc(problem.reads, READ_LENGTH);
    int *offsets = workload_alloc(problem.reads + 1, sizeof *offsets);
    struct match *matches = workload_alloc(count, sizeof *matches);
    uint32_t *resolved = workload_alloc(count, 2 * sizeof *resolved);
    uint32_t *expected = workload_alloc(count, 2 * sizeof *expected);
    char *text = reference_random(problem.letters, &state);
    reads_random(reads, problem.reads, text, problem.letters, &state);
    for (long i = 0; i <= problem.reads; i++)
        offsets[i] = i * READ_LENGTH;
    tree_build(&tree, text, problem.letters + 1);
    gpu_open(&gpu);
    match_on_device(&gpu, &tree, reads, offsets, problem.reads, matches);
    gpu_close(&gpu);
    matches_resolve(&tree, matches, count, resolved);
    matches_reference(text, problem.letters + 1, reads, problem.reads, expected);
    size_t mismatches = compare_u32("length or place", resolved, expected, 2 * count);
    tree_free(&tree);
    free(text);
    free(reads);
    free(offsets);
    free(matches);
    free(resolved);
    free(expected);
    return workload_verdict(&workload, mismatches, 2 * count, "lengths and places of matches");
}

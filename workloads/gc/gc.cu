/*
 * gc: the mark phase of a tracing garbage collector: one thread an object of the work list, a launch a list.
 *
 * A thread looks up the address of its object and its number of fields (two tables, random places, used once), then loops over
 * the fields: the kind of the field, its value and the object's own length, at three places of one record that covers one or two lines.
 * All are read again or have neighbours read in the next trip. A field that refers to an object has that one's mark
 * read (a random place); who sets it first puts the object on the next list. Objects differ in length, so lanes leave the
 * loop one by one.
 */
#include "device.h"

enum { REFERENCE = 1, NOTHING = -1 };

/* An object is its length, the kinds of its fields, and their values: a word each. */
struct heap {
    const int *addresses; /* of each object, in words */
    const int *lengths;   /* of each object, in fields */
    const int *words;
    int *marks;
};

extern "C" __global__ void gc_mark(const int *list, int count, heap heap, int *next_list, int *next_count)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;

    if (tid < count) {
        int object = list[tid];
        const int *record = heap.words + heap.addresses[object];
        int fields = heap.lengths[object];
#pragma unroll 1
        for (int i = 0; i < fields; i++) {
            int kind = record[1 + i];
            int value = record[1 + fields + i];
            bool refers = (kind == REFERENCE) & (value != NOTHING); /* one branch: kind and value are loaded in any case */
            if (refers && heap.marks[value] == 0 && atomicExch(&heap.marks[value], 1) == 0)
                next_list[atomicAdd(next_count, 1)] = value;
            forget_loaded_values();
            fields = record[0];
        }
    }
}

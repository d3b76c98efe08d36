/* A program that has nothing to do with CUDA; its exit status is its argument. */
#include <stdlib.h>

int main(int argc, char **argv) { return argc > 1 ? atoi(argv[1]) : 0; }

// Kernels in a shared library that is opened while the program runs, called, closed, and opened again.
// nvcc: -arch=compute_75
// library: parts/library_kernels.cu
#include "check.h"
#include <dlfcn.h>
#include <string>

__global__ void own(int *out) { *out += 1; }

int main(int, char **argv)
{
    std::string path = std::string(argv[0]) + ".so";
    int *out = zeros<int>(1);
    own<<<1, 1>>>(out);
    for (int round = 0; round < 2; round++) {
        void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library)
            printf("%s\n", dlerror());
        check(library != nullptr, "opened");
        if (!library)
            return 1;
        int (*add)(int *, int) = (int (*)(int *, int))dlsym(library, "library_add");
        check(add && add(out, 10) == 0, "a kernel of the library");
        int (*count)() = (int (*)())dlsym(library, "library_count");
        check(count && count() == 1, "its variable is new each time");
        own<<<1, 1>>>(out);
        CUDA(cudaDeviceSynchronize());
        check(dlclose(library) == 0, "closed");
    }
    check(download(out, 1)[0] == 23, "kernels of the program, in between");
    return finish();
}

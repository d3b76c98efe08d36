#include "base/out_of_memory.h"

#include <unistd.h>

_Noreturn void out_of_memory(void)
{
    static const char text[] = "heddle: out of host memory\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1); /* nothing here may need memory */
    (void)written;
    _exit(1);
}

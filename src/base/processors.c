/* See processors.h. The processors that the host lets this process run on count, which taskset and batch systems limit;
 * a limit on its share of time does not. */
#include "base/processors.h"

#include <sched.h>
#include <unistd.h>

uint32_t processors_usable(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)online;
    return usable > 0 ? (uint32_t)usable : 1;
}

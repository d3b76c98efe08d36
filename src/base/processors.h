/* How many processors this process may use. */
#ifndef HEDDLE_BASE_PROCESSORS_H
#define HEDDLE_BASE_PROCESSORS_H

#include <stdint.h>

uint32_t processors_usable(void); /* at least 1 */

#endif

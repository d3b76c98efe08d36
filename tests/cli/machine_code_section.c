/* See machine_code_only.c. */
#define IN_SECTION 1
#include "machine_code_only.c"

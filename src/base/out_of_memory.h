/* The host has no memory left for one of our own tables, whose size no guest decides. Memory whose size a guest decides
 * is refused with an error instead, where it is reserved. */
#ifndef HEDDLE_BASE_OUT_OF_MEMORY_H
#define HEDDLE_BASE_OUT_OF_MEMORY_H

/* Says so and ends the process with status 1, at once: functions that run at exit may need the caller's locks. */
_Noreturn void out_of_memory(void);

#endif

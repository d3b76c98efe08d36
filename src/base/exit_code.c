/* The exit code of each kind of error. */
#include "base/exit_code.h"

int exit_code_of(enum error_kind kind)
{
    switch (kind) {
    case ERROR_NONE: return EXIT_DONE;
    case ERROR_VERSION:
    case ERROR_UNSUPPORTED: return EXIT_UNSUPPORTED;
    case ERROR_DEADLOCK:
    case ERROR_LIMIT:
    case ERROR_LAUNCH_LIMIT:
    case ERROR_INTERRUPTED: return EXIT_STUCK;
    case ERROR_ADDRESS:
    case ERROR_POINTER:
    case ERROR_MISALIGNED:
    case ERROR_TRAP:
    case ERROR_ASSERT:
    case ERROR_INSTRUCTION: return EXIT_ILLEGAL;
    case ERROR_NOT_FOUND:
    case ERROR_IO: return EXIT_USAGE;
    default: return EXIT_FAILED;
    }
}

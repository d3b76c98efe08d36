/* Compiled again when the commit changes; mk/build.mk says how it is found. */
#include "base/version.h"

#ifndef HEDDLE_COMMIT
#define HEDDLE_COMMIT VERSION_NO_COMMIT
#endif

const char version_commit[] = HEDDLE_COMMIT;
const char version_with_commit[] = HEDDLE_VERSION "+" HEDDLE_COMMIT;

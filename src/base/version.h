/* Which Heddle this is. The version number is HEDDLE_VERSION, which mk/config.mk holds and nothing else. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define VERSION_NO_COMMIT "none" /* built outside git */

/* The first 12 digits of the commit that was built, with "-changed" where files differed from it; or VERSION_NO_COMMIT.
 * Part of the build, not of a run: all runs of one build have the same. */
extern const char version_commit[];

/* Version and commit, as semantic versioning writes them: "0.2.0+0123456789ab". */
extern const char version_with_commit[];

#endif

# Compiler, flags and where things go. MODE: release (default), debug, asan (AddressSanitizer and UBSan), tsan
# (ThreadSanitizer; only the driver and its tests are asked for, see mk/test.mk).
MODE ?= release
BUILD ?= $(if $(filter release,$(MODE)),build,build-$(MODE))
# Semantic versioning (CONTRIBUTING.md). docs/changes.md and CITATION.cff have the same number; tests/cli/version.sh checks.
VERSION := 0.2.0
# The commit that is built; empty outside git. A .git further up is another project's.
COMMIT := $(if $(wildcard .git),$(shell git describe --always --abbrev=12 --exclude='*' --dirty=-changed 2>/dev/null))

# pass-failed: clang says so when a loop over lanes did not vectorise, as it never does without optimisation.
WARNINGS := -Wall -Wextra -Wvla -Wstrict-prototypes -Wno-pass-failed
ifdef WERROR
WARNINGS += -Werror
endif
OPTIMISE_release := -O2 -g
OPTIMISE_debug := -O0 -g3 -DHEDDLE_CHECKED
OPTIMISE_asan := -O1 -g -DHEDDLE_CHECKED -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
OPTIMISE_tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
# With -Og, exec and ptx take the compiler two thirds of the time that -O1 takes, and tests are as fast. (The rooms that run
# once per cycle would be slower by a fifth.)
FASTER_asan := -Og
FASTER_tsan := -Og
CFLAGS ?=
# Lanes are read as integers and as floats (no strict aliasing), and a*b+c must stay two roundings unless PTX says fma (no contraction).
ALL_CFLAGS := -std=gnu11 $(OPTIMISE_$(MODE)) $(WARNINGS) -fno-strict-aliasing -ffp-contract=off -fPIC -Isrc -Iinclude \
              -D_GNU_SOURCE -DHEDDLE_VERSION='"$(VERSION)"' $(CFLAGS)
comma := ,
# What runs once per cycle is optimised across its files when the libraries are linked (gcc alone, where that works; LTO=
# leaves it out). Objects are complete without it: tests, the command and others' programs are linked as ever.
ifeq ($(origin LTO),undefined)
LTO := $(if $(filter release,$(MODE)),$(shell sh mk/lto-works.sh "$(BUILD)" $(CC)))
endif
LTO_CFLAGS := $(if $(LTO),-flto=auto -ffat-lto-objects -fno-semantic-interposition)
SANITIZE_asan := -fsanitize=address$(comma)undefined
SANITIZE_tsan := -fsanitize=thread
# Places that UBSan may report are pointers, some 400,000, which the linker of a position-independent program writes down
# and which are relocated whenever the program starts.
PLACED_asan := -no-pie
PLAIN_LDFLAGS := $(SANITIZE_$(MODE)) $(LDFLAGS)
ALL_LDFLAGS := $(if $(LTO),-fno-lto) $(PLAIN_LDFLAGS)
LIBRARY_LDFLAGS := $(if $(LTO),-flto=auto -O3) $(PLAIN_LDFLAGS)
# What only the command needs: the results store, content keys.
COMMAND_LIBS := -lsqlite3 -lxxhash
LIBS := -ljansson -linih -lzstd -llz4 -lm -lpthread -ldl

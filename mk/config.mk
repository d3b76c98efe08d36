# Compiler, flags and where things go. MODE: release (default), debug, asan (AddressSanitizer and UBSan).
MODE ?= release
BUILD ?= $(if $(filter release,$(MODE)),build,build-$(MODE))
VERSION := 0.1.0

# pass-failed: clang says so when a loop over lanes did not vectorise, as it never does without optimisation.
WARNINGS := -Wall -Wextra -Wvla -Wstrict-prototypes -Wno-pass-failed
ifdef WERROR
WARNINGS += -Werror
endif
OPTIMISE_release := -O2 -g
OPTIMISE_debug := -O0 -g3
OPTIMISE_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
CFLAGS ?=
# Lanes are read as integers and as floats (no strict aliasing), and a*b+c must stay two roundings unless PTX says fma (no contraction).
ALL_CFLAGS := -std=gnu11 $(OPTIMISE_$(MODE)) $(WARNINGS) -fno-strict-aliasing -ffp-contract=off -fPIC -Isrc -Iinclude \
              -D_GNU_SOURCE -DHEDDLE_VERSION='"$(VERSION)"' $(CFLAGS)
comma := ,
ALL_LDFLAGS := $(if $(filter asan,$(MODE)),-fsanitize=address$(comma)undefined) $(LDFLAGS)
# What only the command needs: the results store, content keys.
LAB_LIBS := -lsqlite3 -lxxhash
LIBS := -ljansson -linih -lzstd -llz4 -lm -lpthread -ldl

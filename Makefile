# Heddle. `make help` lists the targets; ./heddle sets up and runs everything for you.
.DEFAULT_GOAL := all
include mk/config.mk
include mk/build.mk
include mk/model.mk
include mk/workloads.mk
# Workloads follow MODE and WERROR as all else does; a library with sanitizers needs a program with them.
$(WORKLOAD_OBJ)/%.o: private CFLAGS := -std=gnu11 $(OPTIMISE_$(MODE)) $(WARNINGS) -D_GNU_SOURCE $(CFLAGS)
$(WORKLOAD_BINS): private LDFLAGS := $(ALL_LDFLAGS)
include mk/twin.mk
include mk/test.mk
include mk/machines.mk
include mk/fuzz.mk
include mk/bench.mk
include mk/install.mk

.PHONY: all help clean format format-check
all: $(ALL_BUT_MODEL) $(MODEL_LIBRARY)

help:
	@echo "make [MODE=release|debug|asan] [CC=gcc|clang]   build into build/ (release), build-debug/ or build-asan/"
	@echo "make test          all tests of ./heddle test (which has a shorter one, and single ones: ./heddle test --help)"
	@echo "make portable      every workload built for the other architecture (x86-64, arm64) and emulated: the same results"
	@echo "make lockstep      every workload on all machines: with and without cores that run ahead, 1 to 3 threads"
	@echo "make golden        whole results of 4,678 runs against recorded hashes"
	@echo "make twin-all      the core against the model (tests/twin): every workload on six machines; an hour or two"
	@echo "make random-machines  10,000 machines from the ends of all keys, each in three ways; ten minutes"
	@echo "make soak          every test of every workload, random-machines, golden, lockstep, twin-all: hours"
	@echo "make tsan          the driver's tests under ThreadSanitizer, in build-tsan/"
	@echo "make bench         thousand warp instructions a second, a workload; JSON in \$$(BUILD)/bench.json"
	@echo "make fuzz          all fuzzers, FUZZ_SECONDS (default 60) each, those that run kernels five times that"
	@echo "make ptx           compile workloads/*/*.cu to PTX again (clang; the PTX is committed)"
	@echo "make install PREFIX=/usr/local (and uninstall)"
	@echo "make format        clang-format over all sources; make format-check says what differs"

clean:
	rm -rf build build-debug build-asan build-tsan build-ci build-clang build-fuzz

# Another version of clang-format breaks lines elsewhere: the tree is as version 14 (Debian 12) writes it.
CLANG_FORMAT := $(firstword $(shell command -v clang-format-14) clang-format)
FORMATTED = $(shell git ls-files '*.c' '*.h')
format:
	$(CLANG_FORMAT) -i $(FORMATTED)

format-check:
	@$(CLANG_FORMAT) --version | grep -q 'version 14\.' || { echo "format-check needs clang-format 14" >&2; exit 1; }
	@$(CLANG_FORMAT) --dry-run -Werror $(FORMATTED)
	@awk 'length > 120 && /[\x80-\xff]/ == 0 { print FILENAME ":" FNR ": over 120 columns"; n = 1 } END { exit n }' $(FORMATTED)

# libFuzzer targets for what reads foreign bytes: PTX text, fat binaries, experiment files, traces. Needs clang.
FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,build-fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SANITIZERS := address,undefined -fno-sanitize-recover=undefined
FUZZ_CFLAGS := -std=gnu11 -O1 -g -Wno-pass-failed -fno-strict-aliasing -ffp-contract=off -D_GNU_SOURCE -DHEDDLE_VERSION='"$(VERSION)"' -Isrc -Iinclude
FUZZ_OBJECTS := $(patsubst %.c,build-fuzz/obj/%.o,$(CORE_SOURCES) src/cuda/fatbin.c $(wildcard src/lab/experiment*.c src/lab/expand*.c) src/lab/expression.c src/lab/figure_layout.c src/lab/figure_claim.c src/lab/slabs.c $(wildcard src/lab/trace_*.c src/lab/replay*.c))

build-fuzz/obj/%.o: %.c mk/fuzz.mk
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZERS) -MMD -MP -c $< -o $@

build-fuzz/%: tests/fuzz/%.c $(FUZZ_OBJECTS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer,$(FUZZ_SANITIZERS) $< $(FUZZ_OBJECTS) -o $@ $(LIBS)

.PHONY: fuzz
fuzz: $(FUZZ_TARGETS)
	sh tests/fuzz/run.sh build-fuzz $(FUZZ_SECONDS)

-include $(FUZZ_OBJECTS:.o=.d)

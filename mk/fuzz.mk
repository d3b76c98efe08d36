# libFuzzer targets for what reads foreign bytes: PTX text and fat binaries. Needs clang.
FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,build-fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

build-fuzz/%: tests/fuzz/%.c $(CORE_SOURCES) src/cuda/fatbin.c
	@mkdir -p $(@D)
	$(FUZZ_CC) -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -fno-strict-aliasing -ffp-contract=off -Wno-pass-failed -D_GNU_SOURCE \
	  -DHEDDLE_VERSION='"$(VERSION)"' -Isrc -Iinclude $< $(CORE_SOURCES) src/cuda/fatbin.c -o $@ $(LIBS)

.PHONY: fuzz
fuzz: $(FUZZ_TARGETS)
	sh tests/fuzz/run.sh build-fuzz $(FUZZ_SECONDS)

# libFuzzer targets for what reads foreign bytes (PTX text, fat binaries, experiment files, traces), runs foreign kernels, or
# is called by foreign programs. Needs clang.
# Five times as long for those that run kernels. FUZZ="fuzz_run ..." picks some.
FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,build-fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SANITIZERS := address,undefined -fno-sanitize-recover=undefined
FUZZ_CFLAGS := -std=gnu11 -O1 -gline-tables-only -Wno-pass-failed -fno-strict-aliasing -ffp-contract=off -D_GNU_SOURCE -DHEDDLE_VERSION='"$(VERSION)"' -Isrc -Iinclude
fuzz_objects = $(patsubst %.c,build-fuzz/obj/%.o,$(1))
FUZZ_COMMAND := $(filter-out src/experiment/stored.c,$(wildcard src/experiment/*.c src/replay/*.c))
FUZZ_OBJECTS := $(call fuzz_objects,$(CORE_SOURCES) $(FUZZ_COMMAND))
# Those whose input is PTX change it by its words.
FUZZ_PTX_OBJECTS := $(call fuzz_objects,$(addprefix tests/fuzz/,plan.c mutate.c mutator.c))
FUZZ_PTX_TARGETS := $(addprefix build-fuzz/fuzz_,ptx load run agree)
$(FUZZ_PTX_TARGETS): $(FUZZ_PTX_OBJECTS)
FUZZ_RANDOM := $(filter-out %/device.c %/recording.c %/kernels.c,$(wildcard tests/random/*.c))
build-fuzz/fuzz_schedules: $(call fuzz_objects,tests/fuzz/plan.c $(FUZZ_RANDOM))
build-fuzz/fuzz_schedules $(call fuzz_objects,$(FUZZ_RANDOM)): FUZZ_ROOM := -Iinclude/heddle
# The driver's is linked with all of the driver.
build-fuzz/fuzz_driver: $(call fuzz_objects,$(CUDA_SOURCES))
build-fuzz/fuzz_driver: FUZZ_ROOM := -Iinclude/heddle

# What runs kernels meets no magic numbers: comparisons are not recorded there, which would take a third of the time. Nor does
# UBSan look there, which would take half of the compiler's: the tests under sanitizers run thousands of kernels with it.
$(foreach room,exec mem sm policy gpu,build-fuzz/obj/src/$(room)/%.o): FUZZ_ROOM := -O2 -fno-sanitize=undefined -fno-sanitize-coverage=trace-cmp
build-fuzz/obj/%.o: %.c mk/config.mk
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZERS) $(FUZZ_ROOM) -Itests/fuzz -MMD -MP -c $< -o $@

build-fuzz/%: tests/fuzz/%.c $(FUZZ_OBJECTS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer,$(FUZZ_SANITIZERS) $(FUZZ_ROOM) $< $(filter %.o,$^) -o $@ $(LIBS)

.PHONY: fuzz
fuzz: $(FUZZ_TARGETS)
	sh tests/fuzz/run.sh build-fuzz $(FUZZ_SECONDS) $(FUZZ)

-include $(patsubst %.o,%.d,$(FUZZ_OBJECTS) $(FUZZ_PTX_OBJECTS) $(call fuzz_objects,$(CUDA_SOURCES) $(FUZZ_RANDOM)))

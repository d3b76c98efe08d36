# Tests: rooms (includes and calls run downward), unit (cmocka), semantics (vectors recorded from silicon), compiled (CUDA C++ through real compilers), driver (C programs against cuda.h), runtime (C programs with fat binaries made by hand), timing (cycles against another simulator's),
# twin (the core against the model: mk/twin.mk), policy (shared objects outside the repository), cli (what a person types), lab (a real cluster's daemons, a real browser).
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
DRIVER_TESTS := $(patsubst tests/driver/%.c,$(BUILD)/tests/driver/%,$(wildcard tests/driver/*.c))
CLI_PROGRAMS := $(patsubst tests/cli/%.c,$(BUILD)/tests/cli/%,$(wildcard tests/cli/*.c))
RUNTIME_TESTS := $(foreach version,11.0 12 13,$(patsubst tests/runtime/%.c,$(BUILD)/tests/runtime/$(version)/%,$(wildcard tests/runtime/*.c)))
TIMING_PROGRAMS := $(patsubst tests/timing/%.c,$(BUILD)/tests/timing/%,$(wildcard tests/timing/*.c))
SEMANTICS_SOURCES := $(wildcard tests/semantics/*.c)
RANDOM_SOURCES := $(wildcard tests/random/*.c)
COMPILED_SOURCES := $(wildcard tests/compiled/*.c)

# Test programs wait for the libraries, which are optimised; compiling is most of what they cost, but for those with a long
# loop of their own.
TEST_CFLAGS = $(ALL_CFLAGS) -O0
BUSY_TESTS := policy_daws_random coalesce replay texture_lanes compaction
$(BUSY_TESTS:%=$(BUILD)/tests/test_%): TEST_CFLAGS = $(ALL_CFLAGS)

# What unit tests alone are linked with, as -fuse-ld=gold.
UNIT_LDFLAGS ?=
LEAK_CHECK := $(if $(filter asan,$(MODE)),$(BUILD)/obj/tests/unit/leak_check.o)
.SECONDARY: $(LEAK_CHECK)
# An archive, so that a test is linked with what it asks for, not with all of the command and the driver.
UNIT_ARCHIVE := $(BUILD)/tests/units.a
$(UNIT_ARCHIVE): $(CUDA_OBJECTS) $(COMMAND_OBJECTS)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/lib/libheddle.a $(UNIT_ARCHIVE) $(LEAK_CHECK)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Itests -MMD -MP $< $(LEAK_CHECK) $(UNIT_ARCHIVE) $(BUILD)/lib/libheddle.a -o $@ $(PLACED_$(MODE)) $(ALL_LDFLAGS) $(UNIT_LDFLAGS) -lcmocka -lmpfr -lgmp $(COMMAND_LIBS) $(LIBS)

$(BUILD)/tests/driver/%: tests/driver/%.c $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Iinclude/heddle $< $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../../lib' -lm -lpthread

# The driver with every function in another order (tests/cli/reordered.sh).
REORDERED := $(BUILD)/tests/reordered/libcuda.so.1
$(REORDERED): tests/reordered/parse.c src/ptx/lowering.h $(CUDA_OBJECTS) $(BUILD)/lib/libheddle.a mk/libcuda.map
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -c tests/reordered/parse.c -o $(@D)/parse.o
	$(CC) -shared -Wl,-soname,libcuda.so.1 -Wl,--wrap=ptx_parse -Wl,--version-script=mk/libcuda.map $(CUDA_OBJECTS) $(@D)/parse.o $(BUILD)/lib/libheddle.a -o $@ $(ALL_LDFLAGS) $(LIBS)

# Each with the library of every generation.
define runtime_test
$(BUILD)/tests/runtime/$(1)/%: tests/runtime/%.c $(wildcard tests/runtime/*.h tests/runtime/recorded/*) $(BUILD)/lib/libcudart.so.$(1)
	@mkdir -p $$(@D)
	$$(CC) $$(TEST_CFLAGS) -Iinclude/heddle $$< $(BUILD)/lib/libcudart.so.$(1) $(BUILD)/lib/libcuda.so.1 -o $$@ $$(ALL_LDFLAGS) -Wl,-rpath,'$$$$ORIGIN/../../../lib'
endef
$(foreach version,11.0 12 13,$(eval $(call runtime_test,$(version))))

$(BUILD)/tests/timing/%: tests/timing/%.c $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Iinclude/heddle $< $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../../lib' -lm

# The examples of docs/embed.md, with the static library and with the shared one.
EXAMPLES := $(foreach kind,static shared,$(patsubst examples/%.c,$(BUILD)/examples/%-$(kind),$(wildcard examples/*.c)))
$(BUILD)/examples/%-static: examples/%.c include/heddle/heddle.h $(BUILD)/lib/libheddle.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< $(BUILD)/lib/libheddle.a -o $@ $(PLACED_$(MODE)) $(ALL_LDFLAGS) $(LIBS)
$(BUILD)/examples/%-shared: examples/%.c include/heddle/heddle.h $(BUILD)/lib/libheddle.so
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< $(BUILD)/lib/libheddle.so -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'

# Programs that the command-line tests run or look at. Linked with nothing that they do not use: two of them must not need libcuda.
$(BUILD)/tests/cli/%: tests/cli/%.c $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $< -Wl,--as-needed $(BUILD)/lib/libcuda.so.1 -ljansson -lxxhash -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../../lib'

$(BUILD)/tests/vectors: $(SEMANTICS_SOURCES) tests/semantics/vectors.h $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Iinclude/heddle $(SEMANTICS_SOURCES) $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib' -lm

$(BUILD)/tests/random: $(RANDOM_SOURCES) tests/random/random.h $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Iinclude/heddle $(RANDOM_SOURCES) $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'

$(BUILD)/tests/compiled: $(COMPILED_SOURCES) tests/compiled/compiled.h $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Iinclude/heddle $(COMPILED_SOURCES) $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'

.PHONY: test test-programs
# The model is needed by the twin alone: not under sanitizers, nor for a second build.
test-programs: $(ALL_BUT_MODEL) $(BUILD)/bench/silicon $(UNIT_TESTS) $(DRIVER_TESTS) $(RUNTIME_TESTS) $(CLI_PROGRAMS) $(REORDERED) $(TIMING_PROGRAMS) $(BUILD)/tests/vectors $(BUILD)/tests/random $(BUILD)/tests/compiled $(BUILD)/tests/machines $(EXAMPLES) $(if $(TEST_SECOND)$(filter asan,$(MODE)),,twin)
test: test-programs
	sh tests/run.sh $(BUILD)

# Every workload on all machines, with and without cores that run ahead; `make test` looks at each on one machine.
.PHONY: lockstep
lockstep: test-programs
	sh tests/script.sh tests/cli/lockstep.sh $(BUILD) all

# The other of the two architectures, by a cross compiler and qemu-user (Debian: gcc-x86-64-linux-gnu or
# gcc-aarch64-linux-gnu, and the libraries of the README for that architecture).
OTHER_CPU := $(if $(filter aarch64,$(shell uname -m)),x86_64,aarch64)
.PHONY: portable
portable: test-programs
	$(MAKE) BUILD=build-$(OTHER_CPU) CC=$(OTHER_CPU)-linux-gnu-gcc all workloads build-$(OTHER_CPU)/tests/vectors build-$(OTHER_CPU)/tests/random
	sh tests/script.sh tests/portable.sh $(BUILD) build-$(OTHER_CPU)

# Every line of the list of golden results; `make test` looks at one in 67.
.PHONY: golden
golden: test-programs
	GOLDEN_STEP=1 sh tests/script.sh tests/cli/golden.sh $(BUILD)

# What takes hours: all tests of every workload, ten thousand random machines, every golden run, every workload on all
# machines in all ways, and against the model.
.PHONY: soak random-machines test-every
random-machines: test-programs
	$(BUILD)/tests/machines 0 10000
test-every: test-programs
	TEST_WORKLOADS=every sh tests/run.sh $(BUILD)
soak: test-every random-machines golden lockstep twin-all

# ThreadSanitizer, of the driver alone. The tests that are left out have one thread and wait for long, or need the runtime library.
TSAN_TESTS := $(filter-out faults runtime_graphs stream_orders,$(patsubst tests/driver/%.c,%,$(wildcard tests/driver/*.c)))
.PHONY: tsan tsan-programs
tsan-programs: $(TSAN_TESTS:%=$(BUILD)/tests/driver/%)
tsan:
	$(MAKE) MODE=tsan BUILD=build-tsan tsan-programs
	sh tests/tsan.sh build-tsan $(TSAN_TESTS)

-include $(UNIT_TESTS:%=%.d)

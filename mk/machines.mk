# Random machines (tests/machines): the test, and its programs as one that uses CUDA, to repeat what it finds.
MACHINES_SOURCES := $(filter-out tests/machines/heddle_run.c,$(wildcard tests/machines/*.c))
$(BUILD)/tests/machines: $(MACHINES_SOURCES) $(wildcard tests/machines/*.h) tests/machines/programs.ptx $(BUILD)/lib/libheddle.a $(BUILD)/tests/machine_programs
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(MACHINES_SOURCES) $(BUILD)/lib/libheddle.a -o $@ $(PLACED_$(MODE)) $(ALL_LDFLAGS) $(LIBS)
$(BUILD)/tests/machine_programs: tests/machines/heddle_run.c $(addprefix tests/machines/,programs.c programs.h programs.ptx) $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Iinclude/heddle tests/machines/heddle_run.c tests/machines/programs.c $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'

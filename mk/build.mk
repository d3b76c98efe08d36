# The libraries and the command. Rooms are folders of src/; see docs/reading-order.md.
CORE_ROOMS := base ptx exec mem sm policy policy/scheduler policy/l1 policy/divergence policy/probe gpu results embed
CORE_SOURCES := $(foreach room,$(CORE_ROOMS),$(wildcard src/$(room)/*.c))
CUDA_SOURCES := $(wildcard src/cuda/*.c)
CUDART_SOURCES := $(wildcard src/cudart/*.c)
CUDART_VERSIONED := $(wildcard src/cudart/versioned/*.c)
# What the command has beside the simulator.
COMMAND_ROOMS := replay schedule program store lines experiment compare correlate figure robust sweep
COMMAND_SOURCES := $(foreach room,$(COMMAND_ROOMS),$(wildcard src/$(room)/*.c))
CLI_SOURCES := $(wildcard src/cli/*.c)
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
CORE_OBJECTS := $(call objects,$(CORE_SOURCES))
CUDA_OBJECTS := $(call objects,$(CUDA_SOURCES))
CUDART_OBJECTS := $(call objects,$(CUDART_SOURCES))
cudart_versioned = $(patsubst src/cudart/versioned/%.c,$(BUILD)/obj/cudart-$(1)/%.o,$(CUDART_VERSIONED))
COMMAND_OBJECTS := $(call objects,$(COMMAND_SOURCES))
CLI_OBJECTS := $(call objects,$(CLI_SOURCES))

# On x86-64 the libraries are built twice, the second time for processors with AVX2, FMA and bit counts (x86-64-v3).
# glibc's loader takes that one where the processor has them: it looks into glibc-hwcaps/ beside the other. WIDE= leaves it out.
ifeq ($(origin WIDE),undefined)
WIDE := $(if $(filter release,$(MODE)),$(shell echo 'int x;' | $(CC) -march=x86-64-v3 -fsyntax-only -x c - 2>/dev/null && echo x86-64-v3))
endif
# What runs once per instruction or cycle; all else is the same in both.
WIDE_ROOMS := exec mem sm policy policy/scheduler policy/l1 policy/divergence policy/probe
WIDE_SOURCES := $(foreach room,$(WIDE_ROOMS),$(wildcard src/$(room)/*.c)) src/gpu/timing.c src/gpu/timing_launch.c src/gpu/timing_memory.c
WIDE_OBJECTS := $(patsubst %.c,$(BUILD)/obj-wide/%.o,$(WIDE_SOURCES)) $(call objects,$(filter-out $(WIDE_SOURCES),$(CORE_SOURCES)))
WIDE_FOLDER := $(BUILD)/lib/glibc-hwcaps/$(WIDE)
WIDE_LIBRARIES := $(if $(WIDE),$(WIDE_FOLDER)/libheddle.so $(WIDE_FOLDER)/libcuda.so.1)
OBJECT_FOLDERS := $(BUILD)/obj $(BUILD)/obj-wide

# Handlers are loops over lanes: let the compiler vectorise them (sqrt too, which need not set errno).
$(addsuffix /src/exec/%.o,$(OBJECT_FOLDERS)): ROOM_CFLAGS := $(if $(filter release,$(MODE)),-O3) $(FASTER_$(MODE)) -fno-math-errno
$(BUILD)/obj/src/ptx/%.o: ROOM_CFLAGS := $(FASTER_$(MODE))
# What runs once per cycle: loops over cores, ways and banks. What lanes hold is not read here, and nothing else has two types.
$(foreach of,mem/% sm/% gpu/timing gpu/timing_launch gpu/timing_memory,$(addsuffix /src/$(of).o,$(OBJECT_FOLDERS))): ROOM_CFLAGS := $(if $(filter release,$(MODE)),-O3) $(LTO_CFLAGS) -fstrict-aliasing
# What runs once per access of a trace.
$(patsubst %,$(BUILD)/obj/src/replay/%.o,cache many_ways next_use trace_reader trace_section): ROOM_CFLAGS := $(if $(filter release,$(MODE)),-O3)
# The driver API exports only what cuda.h declares.
$(BUILD)/obj/src/cuda/%.o $(BUILD)/obj/src/cudart/%.o: ROOM_CFLAGS := -fvisibility=hidden

$(BUILD)/obj/src/gpu/machine_find.o: machines/gtx480.ini
$(BUILD)/obj/src/figure/report_assets.o: $(wildcard web/*)
# One object has the commit. $(BUILD)/commit is written when that changes, so that nothing else is compiled again.
# Where it has not changed, there is nothing to do, and `make -q` says so (./heddle asks).
ifneq ($(COMMIT),$(shell cat $(BUILD)/commit 2>/dev/null))
$(BUILD)/commit: FORCE
endif
$(BUILD)/commit:
	@mkdir -p $(@D)
	@echo '$(COMMIT)' >$@
.PHONY: FORCE
$(BUILD)/obj/src/base/version.o: $(BUILD)/commit
$(BUILD)/obj/src/base/version.o: ROOM_CFLAGS := $(if $(COMMIT),-DHEDDLE_COMMIT='"$(COMMIT)"')

$(BUILD)/obj/%.o: %.c mk/config.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ROOM_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/obj-wide/%.o: %.c mk/config.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ROOM_CFLAGS) -march=$(WIDE) -MMD -MP -c $< -o $@

$(BUILD)/lib/libheddle.a: $(CORE_OBJECTS)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^

LINK_HEDDLE = $(CC) -shared -Wl,-soname,libheddle.so -Wl,--version-script=mk/libheddle.map
LINK_CUDA = $(CC) -shared -Wl,-soname,libcuda.so.1 -Wl,--version-script=mk/libcuda.map $(CUDA_OBJECTS)
$(BUILD)/lib/libheddle.so: $(CORE_OBJECTS) mk/libheddle.map | $(filter %/libheddle.so,$(WIDE_LIBRARIES))
	@mkdir -p $(@D)
	$(LINK_HEDDLE) $(CORE_OBJECTS) -o $@ $(LIBRARY_LDFLAGS) $(LIBS)

$(WIDE_FOLDER)/libheddle.so: $(WIDE_OBJECTS) mk/libheddle.map
	@mkdir -p $(@D)
	$(LINK_HEDDLE) $(WIDE_OBJECTS) -o $@ $(LIBRARY_LDFLAGS) $(LIBS)

$(BUILD)/lib/libcuda.so.1: $(CUDA_OBJECTS) $(BUILD)/lib/libheddle.a mk/libcuda.map | $(filter %/libcuda.so.1,$(WIDE_LIBRARIES))
	$(LINK_CUDA) $(BUILD)/lib/libheddle.a -o $@ $(LIBRARY_LDFLAGS) $(LIBS)
	ln -sf libcuda.so.1 $(BUILD)/lib/libcuda.so

$(WIDE_FOLDER)/libcuda.so.1: $(CUDA_OBJECTS) $(WIDE_OBJECTS) mk/libcuda.map
	@mkdir -p $(@D)
	$(LINK_CUDA) $(WIDE_OBJECTS) -o $@ $(LIBRARY_LDFLAGS) $(LIBS)

# The runtime API, once for each generation of CUDA: what differs between them is in versioned/. Programs ask for symbols by the version node that bears the library's name.
define cudart_library
$(BUILD)/obj/cudart-$(1)/%.o: src/cudart/versioned/%.c mk/config.mk
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_CFLAGS) -fvisibility=hidden -DCUDART_MAJOR=$(2) -MMD -MP -c $$< -o $$@

$(BUILD)/lib/libcudart.so.$(1): $(CUDART_OBJECTS) $(call cudart_versioned,$(1)) $(BUILD)/lib/libcuda.so.1 mk/build.mk
	printf 'libcudart.so.$(1) {\n    global: cuda*; __cuda*;\n    local: *;\n};\n' >$(BUILD)/obj/cudart-$(1).map
	$$(CC) -shared -Wl,-soname,libcudart.so.$(1) -Wl,--version-script=$(BUILD)/obj/cudart-$(1).map -Wl,-rpath,'$$$$ORIGIN' $(CUDART_OBJECTS) $(call cudart_versioned,$(1)) $(BUILD)/lib/libcuda.so.1 \
	  -o $$@ $$(ALL_LDFLAGS) -lpthread

-include $(patsubst %.o,%.d,$(call cudart_versioned,$(1)))
endef
$(eval $(call cudart_library,11.0,11))
$(eval $(call cudart_library,12,12))
$(eval $(call cudart_library,13,13))
CUDART_LIBRARIES := $(foreach version,11.0 12 13,$(BUILD)/lib/libcudart.so.$(version))

$(BUILD)/bin/heddle: $(CLI_OBJECTS) $(COMMAND_OBJECTS) $(BUILD)/lib/libheddle.a
	@mkdir -p $(@D)
	$(CC) $^ -o $@ $(PLACED_$(MODE)) $(ALL_LDFLAGS) $(COMMAND_LIBS) $(LIBS)

ALL_BUT_MODEL := $(BUILD)/bin/heddle $(BUILD)/lib/libcuda.so.1 $(CUDART_LIBRARIES) $(BUILD)/lib/libheddle.a $(BUILD)/lib/libheddle.so workloads

-include $(CORE_OBJECTS:.o=.d) $(WIDE_OBJECTS:.o=.d) $(CUDA_OBJECTS:.o=.d) $(CUDART_OBJECTS:.o=.d) $(COMMAND_OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d)

# The shipped workloads: workloads/NAME/NAME.{cu,ptx,c} becomes $(BUILD)/workloads/NAME, with its PTX inside.
# Included by the top-level Makefile, which sets BUILD, CC, CFLAGS and LDFLAGS; paths are relative to the root.

WORKLOADS     := $(sort $(foreach cu,$(wildcard workloads/*/*.cu),$(basename $(notdir $(cu)))))
WORKLOAD_BINS := $(WORKLOADS:%=$(BUILD)/workloads/%)
WORKLOAD_OBJ  := $(BUILD)/obj/workloads
# The driver to link with: ours. At run time LD_LIBRARY_PATH may put another (a real GPU's) in its place.
WORKLOAD_CUDA ?= $(BUILD)/lib/libcuda.so.1
# References repeat the device's arithmetic to the bit, so the compiler may not contract it.
WORKLOAD_CFLAGS  := -Iinclude -Iworkloads/common -ffp-contract=off
WORKLOAD_LDFLAGS := -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib'

WORKLOAD_COMMON := $(patsubst workloads/common/%.c,$(WORKLOAD_OBJ)/common/%.o,$(wildcard workloads/common/*.c))

.PHONY: workloads ptx $(WORKLOADS:%=ptx-%)
workloads: $(WORKLOAD_BINS)

define workload_rules
$(WORKLOAD_OBJ)/$(1).o: workloads/$(1)/$(1).c
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(WORKLOAD_CFLAGS) -MMD -MP -c $$< -o $$@

$(WORKLOAD_OBJ)/$(1).ptx.o: workloads/common/embed.S workloads/$(1)/$(1).ptx
	@mkdir -p $$(@D)
	$$(CC) -DPTX_FILE='"workloads/$(1)/$(1).ptx"' -c $$< -o $$@

$(BUILD)/workloads/$(1): $(WORKLOAD_OBJ)/$(1).o $(WORKLOAD_OBJ)/$(1).ptx.o $(WORKLOAD_COMMON) $(WORKLOAD_CUDA)
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(WORKLOAD_LDFLAGS) $$^ -lm -o $$@

# Remade on request alone: the PTX is committed, and file times after a checkout say nothing.
ptx-$(1):
	$$(PTX_CLANG) $$(PTX_FLAGS) workloads/$(1)/$(1).cu -o workloads/$(1)/$(1).ptx
endef
$(foreach name,$(WORKLOADS),$(eval $(call workload_rules,$(name))))

$(WORKLOAD_OBJ)/common/%.o: workloads/common/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(WORKLOAD_CFLAGS) -MMD -MP -c $< -o $@

-include $(wildcard $(WORKLOAD_OBJ)/*.d $(WORKLOAD_OBJ)/common/*.d)

# make ptx: any clang with the NVPTX target will do, and no CUDA toolkit: --cuda-path keeps one that is there from
# deciding the PTX version. Debian 12's clang 14 made the committed files.
PTX_CLANG ?= clang
PTX_ARCH  ?= sm_35
PTX_ISA   ?= ptx42
# Those listed in workloads/today.txt are for GPUs of today.
WORKLOADS_TODAY := $(shell cat workloads/today.txt)
$(WORKLOADS_TODAY:%=ptx-%): PTX_ARCH := sm_80
$(WORKLOADS_TODAY:%=ptx-%): PTX_ISA := ptx71
PTX_FLAGS  = -x cuda -nocudainc -nocudalib --cuda-path=/nonexistent --cuda-device-only --cuda-gpu-arch=$(PTX_ARCH) \
             -Xclang -target-feature -Xclang +$(PTX_ISA) -O2 -S -ffp-contract=off -gline-directives-only \
             -fdebug-compilation-dir=. -Wall -Wextra -Iworkloads/common

ptx: $(WORKLOADS:%=ptx-%)

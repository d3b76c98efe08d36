PREFIX ?= /usr/local
.PHONY: install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/heddle/lib $(DESTDIR)$(PREFIX)/lib/heddle/bin $(DESTDIR)$(PREFIX)/lib/heddle/workloads \
	  $(DESTDIR)$(PREFIX)/include/heddle $(DESTDIR)$(PREFIX)/share/heddle/machines $(DESTDIR)$(PREFIX)/share/heddle/experiments
	install -m 755 $(BUILD)/bin/heddle $(DESTDIR)$(PREFIX)/lib/heddle/bin/heddle
	ln -sf ../lib/heddle/bin/heddle $(DESTDIR)$(PREFIX)/bin/heddle
	install -m 644 $(BUILD)/lib/libheddle.a $(DESTDIR)$(PREFIX)/lib/heddle/lib/
	install -m 755 $(BUILD)/lib/libheddle.so $(BUILD)/lib/libcuda.so.1 $(CUDART_LIBRARIES) $(DESTDIR)$(PREFIX)/lib/heddle/lib/
	ln -sf libcuda.so.1 $(DESTDIR)$(PREFIX)/lib/heddle/lib/libcuda.so
	install -m 644 include/heddle/*.h $(DESTDIR)$(PREFIX)/include/heddle/
	install -m 644 machines/*.ini $(DESTDIR)$(PREFIX)/share/heddle/machines/
	install -m 644 experiments/*.ini $(DESTDIR)$(PREFIX)/share/heddle/experiments/
	install -m 755 $(WORKLOAD_BINS) $(DESTDIR)$(PREFIX)/lib/heddle/workloads/

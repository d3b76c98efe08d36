PREFIX ?= /usr/local
# For programs that embed the simulator: cc program.c $(pkg-config --cflags --libs heddle)
PKG_CONFIG_LINES = 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib/heddle/lib' '' 'Name: heddle' \
  'Description: cycle-level GPU simulator' 'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' \
  'Libs: -L$${libdir} -Wl,-rpath,$${libdir} -lheddle' 'Libs.private: $(LIBS)'
MAN_PAGE := $(BUILD)/heddle.1
COMPLETION_BASH = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
COMPLETION_ZSH = $(DESTDIR)$(PREFIX)/share/zsh/site-functions

# The manual page is made of the texts of --help.
.PHONY: man install uninstall
man: $(MAN_PAGE)
$(MAN_PAGE): $(BUILD)/bin/heddle mk/man.sh
	sh mk/man.sh $(BUILD)/bin/heddle $(VERSION) >$@.new && mv $@.new $@

install: all $(MAN_PAGE)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/heddle/lib $(DESTDIR)$(PREFIX)/lib/heddle/bin $(DESTDIR)$(PREFIX)/lib/heddle/workloads \
	  $(DESTDIR)$(PREFIX)/include/heddle $(DESTDIR)$(PREFIX)/share/heddle/machines $(DESTDIR)$(PREFIX)/share/heddle/experiments
	install -m 755 $(BUILD)/bin/heddle $(DESTDIR)$(PREFIX)/lib/heddle/bin/heddle
	ln -sf ../lib/heddle/bin/heddle $(DESTDIR)$(PREFIX)/bin/heddle
	install -m 644 $(BUILD)/lib/libheddle.a $(DESTDIR)$(PREFIX)/lib/heddle/lib/
	install -m 755 $(BUILD)/lib/libheddle.so $(BUILD)/lib/libcuda.so.1 $(CUDART_LIBRARIES) $(DESTDIR)$(PREFIX)/lib/heddle/lib/
	ln -sf libcuda.so.1 $(DESTDIR)$(PREFIX)/lib/heddle/lib/libcuda.so
	install -d $(DESTDIR)$(PREFIX)/lib/heddle/lib/model
	install -m 755 $(MODEL_LIBRARY) $(DESTDIR)$(PREFIX)/lib/heddle/lib/model/
	cp -P $(addprefix $(MODEL_FOLDER)/,libcuda.so $(notdir $(CUDART_LIBRARIES))) $(DESTDIR)$(PREFIX)/lib/heddle/lib/model/
	$(if $(WIDE),install -d $(DESTDIR)$(PREFIX)/lib/heddle/lib/glibc-hwcaps/$(WIDE))
	$(if $(WIDE),install -m 755 $(WIDE_LIBRARIES) $(DESTDIR)$(PREFIX)/lib/heddle/lib/glibc-hwcaps/$(WIDE)/)
	install -m 644 include/heddle/*.h include/heddle/*.def $(DESTDIR)$(PREFIX)/include/heddle/
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	printf '%s\n' $(PKG_CONFIG_LINES) >$(DESTDIR)$(PREFIX)/lib/pkgconfig/heddle.pc
	install -m 644 machines/*.ini $(DESTDIR)$(PREFIX)/share/heddle/machines/
	install -m 644 experiments/*.ini $(DESTDIR)$(PREFIX)/share/heddle/experiments/
	install -m 755 $(WORKLOAD_BINS) $(DESTDIR)$(PREFIX)/lib/heddle/workloads/
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(COMPLETION_BASH) $(COMPLETION_ZSH)
	install -m 644 $(MAN_PAGE) $(DESTDIR)$(PREFIX)/share/man/man1/heddle.1
	install -m 644 completion/heddle.bash $(COMPLETION_BASH)/heddle
	install -m 644 completion/_heddle $(COMPLETION_ZSH)/_heddle

# All that install has put there, and nothing else.
uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/lib/heddle $(DESTDIR)$(PREFIX)/include/heddle $(DESTDIR)$(PREFIX)/share/heddle
	rm -f $(DESTDIR)$(PREFIX)/bin/heddle $(DESTDIR)$(PREFIX)/lib/pkgconfig/heddle.pc
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/heddle.1 $(COMPLETION_BASH)/heddle $(COMPLETION_ZSH)/_heddle

# make             the libraries, weft-bench, the samples     make run      what Weft is for, in a minute
# make test        every Criterion test                       make check    what a commit must pass
# make stress      every race hunt                            make soak     the same for MINUTES=60, and more cases
# make samples     every sample, its output compared          make models   every protocol, checked by spin
# make format      every source, laid out by clang-format     make tidy     what clang-tidy thinks of them
# make install     to DESTDIR= PREFIX=/usr/local              make clean    as if nothing had been built
# make performance every goal, measured; minutes              make mutants  bugs on purpose, each must be found
#
# Variants are built beside each other, under build/ in a folder of their own:
#   SAN=address,undefined  SAN=thread      with sanitizers
#   SWITCH=own|fcontext|ucontext|libco     how actors leave their stacks (libco: LIBCO= its folder, if need be)
#   CC=clang                               another compiler, or one for another machine
# WERROR=1 turns warnings into errors. RUN= is put before each program that is run; LIMIT= is its time in seconds.

MAKEFLAGS    += --no-builtin-rules
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: mutants performance all test stress samples models format tidy install clean run check soak FORCE

comma := ,
space := $(subst ,, )

# ---- the variant ----------------------------------------------------------------------------------------

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := $(if $(filter %-gcc,$(CC)),$(CC:%-gcc=%-ar),ar)
endif
# Nothing is installed yet when `make run` is read on a fresh machine, so no compiler is no error here.
ARCH   := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
USUAL  := $(if $(filter x86_64 aarch64,$(ARCH)),own,fcontext)
SWITCH := $(USUAL)
SAN    :=

KIND  := $(filter-out gcc,$(notdir $(firstword $(CC)))) $(filter-out $(USUAL),$(SWITCH)) $(subst $(comma),-,$(SAN))
BUILD := $(subst $(space),/,build $(subst $(space),-,$(strip $(KIND))))
BUILD := $(BUILD:/=)

# ---- flags: CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are yours ----------------------------------------------

CFLAGS   := -g $(if $(SAN),-O1,-O2)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(WERROR),-Werror)
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# gcc would join the rare tests of a hot path into arithmetic; branches that are never taken are cheaper (6 % of a hop).
BRANCHES := $(if $(findstring gcc,$(notdir $(CC))),--param logical-op-non-short-circuit=0)
CODE     := -fPIC -fvisibility=hidden -fno-plt -pthread $(BRANCHES) $(SANITIZE)
INCLUDE  := -I include -I . $(if $(LIBCO),-I $(LIBCO))
COMPILE   = $(CC) -std=gnu11 $(WARNINGS) $(CODE) $(INCLUDE) $(CPPFLAGS) $(CFLAGS)
# Lazy binding would take 3 KiB of the first stack that calls a function; a library whose threads run stays.
LINK      = $(CC) -pthread $(SANITIZE) $(CFLAGS) -Wl,-z,now $(LDFLAGS)

NEEDS_fcontext := -lboost_context
NEEDS_libco    := $(if $(wildcard $(LIBCO)/libco.c),,$(if $(LIBCO),-L $(LIBCO)) -lco)
NEEDS          := $(NEEDS_$(SWITCH))

# ---- what there is --------------------------------------------------------------------------------------

FOLDERS := base mailbox fibers sched runtime
C       := $(filter-out fibers/switch_% fibers/raw_%,$(wildcard $(FOLDERS:=/*.c)))
# Only our own switch is one piece; sanitizers and the other back ends need the portable one around them.
ifeq ($(SWITCH)$(SAN),own)
C       += fibers/switch_own_$(ARCH).S
else
C       += fibers/switch_portable.c fibers/raw_$(if $(filter own,$(SWITCH)),$(ARCH).S,$(SWITCH).c)
endif
ifeq ($(SWITCH),libco)
C       += $(if $(LIBCO),$(wildcard $(LIBCO)/libco.c))
endif

TESTS   := $(patsubst %.c,$(BUILD)/%,$(wildcard test/test_*.c))
STRESS  := $(patsubst %.c,$(BUILD)/%,$(wildcard test/stress_*.c))
HELP    := $(filter-out test/test_% test/stress_% test/heap.c,$(wildcard test/*.c))
SAMPLES := $(patsubst %.c,$(BUILD)/%,$(wildcard samples/*.c))
BENCH   := $(wildcard bench/*.c)
MODELS  := $(wildcard models/*.pml)
TEXT    := $(wildcard $(patsubst %,%/*.[ch],$(FOLDERS) bench samples test))

objects = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))
OBJECTS := $(call objects,$(C))
LIBRARY := $(BUILD)/libweft.a

all: $(LIBRARY) $(BUILD)/libweft.so $(if $(BENCH),$(BUILD)/weft-bench) $(SAMPLES)

# ---- one rule a kind ------------------------------------------------------------------------------------

# Rewritten only when the flags are others than last time; everything compiled depends on it.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(COMPILE) $(LINK)' | cmp -s - $@ || echo '$(COMPILE) $(LINK)' >$@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) $(MARK) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.o: %.S $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) $(MARK) -Wa,--noexecstack -MMD -MP -c -o $@ $<

# What belongs to Weft can be told at run time (base/code.h).
$(OBJECTS): MARK := -include base/mark.h
$(LIBRARY): $(OBJECTS)
$(BUILD)/libhelp.a: $(call objects,$(HELP))
$(BUILD)/%.a:
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libweft.so.0: $(OBJECTS) weft.map
	$(LINK) -shared -Wl,-soname,$(@F) -Wl,-z,nodelete -Wl,--version-script=weft.map -o $@ $(OBJECTS) $(NEEDS) $(LDLIBS)

$(BUILD)/libweft.so: $(BUILD)/libweft.so.0
	ln -sf $(<F) $@

$(BUILD)/weft-bench: $(call objects,$(BENCH)) $(LIBRARY)
	$(LINK) -o $@ $^ $(NEEDS) -lm $(LDLIBS)

$(TESTS): NEEDS += -lcriterion -lm
$(TESTS): $(BUILD)/obj/test/heap.o
$(TESTS) $(STRESS): $(if $(HELP),$(BUILD)/libhelp.a)
$(TESTS) $(STRESS) $(SAMPLES): $(BUILD)/%: $(BUILD)/obj/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(LINK) -o $@ $(filter %.o,$^) $(filter %libhelp.a,$^) $(LIBRARY) $(NEEDS) $(LDLIBS)

.SECONDARY:
-include $(patsubst %.o,%.d,$(call objects,$(C) $(HELP) test/heap.c $(BENCH)) $(patsubst $(BUILD)/%,$(BUILD)/obj/%.o,$(TESTS) $(STRESS) $(SAMPLES)))

# ---- running --------------------------------------------------------------------------------------------

LIMIT := 180
# ThreadSanitizer's shadow does not fit every address layout that a kernel may choose.
RUN   := $(if $(filter thread,$(subst $(comma), ,$(SAN))),$(shell setarch -R true 2>/dev/null && echo setarch -R))
# What waits for ever is to say so, rather than to be ended when its time is over.
TIMED  = WEFT_DEADLOCK=1 timeout -k 5 $(LIMIT) $(RUN)

test: $(TESTS)
	@bad=0; for t in $(TESTS); do echo "-- $$t"; $(TIMED) $$t --color=never || bad=1; done; exit $$bad

stress: $(STRESS)
	@bad=0; for t in $(STRESS); do \
	    if $(TIMED) $$t; then echo "ok      $$t"; else echo "FAILED  $$t (exit $$?)"; bad=1; fi; \
	done; exit $$bad

samples: $(SAMPLES)
	@bad=0; for s in $(SAMPLES); do \
	    if $(TIMED) $$s </dev/null >$$s.out && diff -u samples/$${s##*/}.expected $$s.out; \
	    then echo "ok      $$s"; else echo "FAILED  $$s"; bad=1; fi; \
	done; exit $$bad

models:
	@tools/models $(BUILD)/models $(MODELS)

run:
	@tools/setup run
	@echo "building"; $(MAKE) -s -j2 all
	@$(if $(BENCH),$(BUILD)/weft-bench demo,set -e; for s in $(SAMPLES); do echo "-- $$s"; $$s; done)

# Whether the race hunts would find a bug: minutes, ten or so.
mutants:
	@tools/mutants $(ONLY)

# Every goal of the core, measured: the table of docs/performance.md.
performance: $(BUILD)/weft-bench
	@tools/performance $<

check:
	@tools/setup check
	@tools/check

soak: MINUTES := 60
soak: $(BUILD)/test/stress_model
	WEFT_CASES=100000 $<
	@export WEFT_CHAOS_SECONDS=60; end=$$(($$(date +%s) + $(MINUTES) * 60)); round=0; \
	while [ $$(date +%s) -lt $$end ]; do \
	    round=$$((round + 1)); echo "== round $$round"; \
	    $(MAKE) -s stress && $(MAKE) -s stress SAN=thread && $(MAKE) -s test SAN=address,undefined || exit 1; \
	done

# ---- text and files -------------------------------------------------------------------------------------

# The public headers are set by hand: they are read more often than any other file.
format:
	clang-format -i $(TEXT)

tidy:
	clang-tidy --quiet $(filter %.c,$(C)) -- -std=gnu11 $(INCLUDE)

PREFIX  := /usr/local
LIBDIR  := $(PREFIX)/lib
MANDIR  := $(PREFIX)/share/man
VERSION := $(shell sed -n 's/^.define WEFT_VERSION "\(.*\)"/\1/p' include/weft.h)

install: $(LIBRARY) $(BUILD)/libweft.so.0
	install -d '$(DESTDIR)$(PREFIX)/include/weft' '$(DESTDIR)$(LIBDIR)/pkgconfig'
	install -m 644 include/weft.h '$(DESTDIR)$(PREFIX)/include'
	install -m 644 $(wildcard include/weft/*.h) '$(DESTDIR)$(PREFIX)/include/weft'
	install -m 644 $(LIBRARY) '$(DESTDIR)$(LIBDIR)'
	install -m 755 $(BUILD)/libweft.so.0 '$(DESTDIR)$(LIBDIR)'
	ln -sf libweft.so.0 '$(DESTDIR)$(LIBDIR)/libweft.so'
	install -d '$(DESTDIR)$(MANDIR)/man3' '$(DESTDIR)$(MANDIR)/man7'
	install -m 644 $(wildcard docs/man/*.3) '$(DESTDIR)$(MANDIR)/man3'
	@for p in $(notdir $(wildcard docs/man/*.3)); do \
	    sed -n '/^\.Sh NAME/,/^\.Sh [^N]/s/^\.Nm \([A-Za-z0-9_]*\).*/\1/p' docs/man/$$p | while read -r name; do \
	        [ "$$name.3" = "$$p" ] || echo ".so man3/$$p" >'$(DESTDIR)$(MANDIR)/man3/'"$$name.3"; \
	    done; \
	done
	install -m 644 $(wildcard docs/man/*.7) '$(DESTDIR)$(MANDIR)/man7'
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	    -e 's|@NEEDS@|$(strip $(NEEDS))|' weft.pc.in >'$(DESTDIR)$(LIBDIR)/pkgconfig/weft.pc'

clean:
	rm -rf build

# SPDX-License-Identifier: MIT
# The front door. `make help` lists the targets.

MAKEFLAGS += --no-print-directory

ifneq ($(words $(CURDIR)),1)
$(error The path "$(CURDIR)" has a blank, and make separates names at blanks: clone into another directory)
endif

# Files would go to the root of the file system.
ifeq ($(origin BUILD)$(strip $(BUILD)),command line)
$(error BUILD is empty: leave it out, or name a directory)
endif

PREFIX  ?= /usr/local
DESTDIR ?=
BOARD   ?=
BUILD   := $(CURDIR)/build
JOBS    ?= $(shell nproc)

# Module: the running kernel's headers if they are here, else the newest
# installed ones. Built in a copy, so that the source tree stays clean.
KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) \
	$(shell ls -d /lib/modules/*/build 2>/dev/null | sort -rV))
O    ?= $(BUILD)/module/$(notdir $(patsubst %/build,%,$(abspath $(KDIR))))

SUBDIRS := libgchint adapters collectors daemon bench
# Components with something to install; the names are listed for uninstall.
INSTALLED := libgchint adapters collectors daemon packaging

# Each component builds in parallel by itself; packages are installed before that.
.NOTPARALLEL:

.PHONY: all help modules modules_install install uninstall deb check check-all check-fresh check-unit check-lint check-board check-lab \
	demo bench-collectors bench-kmod bench-predictions bench-profile mutants repro lab clean $(SUBDIRS)

all: $(SUBDIRS) modules

help:
	@echo 'Build'
	@echo '  make                     everything for this machine'
	@echo '  make modules KDIR=DIR    cpufreq_gchint.ko for the kernel built in DIR'
	@echo '  make install             DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)'
	@echo '  make uninstall           remove it; a changed configuration stays'
	@echo '  make modules_install     install the module for the kernel it was built for'
	@echo '  make deb                 Debian packages, in build/deb'
	@echo '  make clean               (V=1 with any of these: print the commands)'
	@echo 'See it work'
	@echo '  make demo                compare schedutil and gchint on an emulated board (report.html)'
	@echo '  make demo BOARD=sabrelite  with core voltage and rails of an emulated SABRE Lite'
	@echo '  make demo BOARD=here       on this machine, after asking'
	@echo 'Test'
	@echo '  make check               the gate; the last line is N passed, N failed, N skipped'
	@echo '                           (KEEP_GOING=1: continue after a failed suite)'
	@echo '  make check-fresh         the gate in a fresh Debian 12, as root (what CI runs)'
	@echo '  make check-all           everything, one to two hours; resumes an interrupted run'
	@echo '  make check CHANGED=1     only suites affected by changes since the upstream branch'
	@echo '  make check-unit          host tests with sanitizers, no root'
	@echo '  make check-board BOARD=  x86, debug, sabrelite or vexpress'
	@echo '  make check-lab           a short smoke of the timed board'
	@echo '  make check-lint          static gates'
	@echo 'Measure'
	@echo '  make bench-collectors    compare with libgc, OpenJDK and (WHIPPET=DIR) whippet; needs an idle machine'
	@echo '  make bench-kmod          cost of the module: doorbell, hook, latency (PUBLISH=1: docs/results/kmod.md)'
	@echo '  make bench-predictions   what advised settings do (PUBLISH=1: docs/results/predictions.md)'
	@echo '  make bench-profile       cost of profiling by method (PUBLISH=1: docs/results/profile.md)'
	@echo '  make mutants             mutation tests (SEED=N, OF=COMPONENT, PUBLISH=1: docs/results/tests.md)'
	@echo '  make repro               reproduce the claims of five papers: docs/results/seeds.md'
	@echo '  make lab                 experiments on the timed board'

$(SUBDIRS): need-build
	@if [ -f $@/Makefile ]; then $(MAKE) -C $@ BUILD=$(BUILD)/$@; fi

adapters bench: libgchint
bench: collectors

.PHONY: need-%
need-%:
	@packaging/need $*

# Debian's headers are installed where neither KDIR is given nor the running kernel's are there.
modules: $(if $(filter-out file,$(origin KDIR))$(wildcard /lib/modules/$(shell uname -r)/build),need-kbuild,need-module)
	@test -n "$(KDIR)" || { echo 'modules: no kernel headers found; name them: make modules KDIR=DIR' >&2; exit 1; }
	@kmod/build "$(KDIR)" "$(O)"
	@packaging/module built "$(O)/cpufreq_gchint.ko"

modules_install: modules
	@packaging/module install "$(O)/cpufreq_gchint.ko" "$(DESTDIR)" "$(PREFIX)"

# The list for make uninstall is written first: it has the directories that are not there yet.
LIST := $(DESTDIR)$(PREFIX)/lib/gchint/installed
install: libgchint adapters daemon collectors
	@rm -rf $(BUILD)/stage
	@for dir in $(INSTALLED); do \
		$(MAKE) -s -C $$dir BUILD=$(BUILD)/$$dir DESTDIR=$(BUILD)/stage PREFIX=$(PREFIX) install >/dev/null || exit 1; \
	done
	@packaging/installed add $(BUILD)/stage "$(DESTDIR)" $(LIST)
	@for dir in $(INSTALLED); do \
		$(MAKE) -C $$dir BUILD=$(BUILD)/$$dir DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) LIST= install || exit 1; \
	done
	@echo "installed below $(DESTDIR)$(PREFIX)"
	@$(MAKE) -s -C adapters BUILD=$(BUILD)/adapters missing

uninstall:
	@packaging/installed remove "$(DESTDIR)" $(LIST)
	@echo "removed what was installed below $(DESTDIR)$(PREFIX)"
	$(if $(DESTDIR),,-@PATH=$$PATH:/sbin:/usr/sbin ldconfig 2>/dev/null; packaging/installed leftovers $(BUILD))

deb: need-deb
	@packaging/deb $(BUILD)/deb

# Build first: suites run in parallel and must not build the same component.
check:
	@tests/prepare $(if $(CHANGED),all,gate)
	@$(MAKE) -j$(JOBS) $(SUBDIRS) || { echo '0 passed, 1 failed, 0 skipped'; exit 1; }
	@tests/check $(if $(CHANGED),--changed $(CHANGED),--budget 20 $(if $(KEEP_GOING),,--fail-fast))

check-fresh:
	@tests/fresh

check-all:
	@tests/prepare all
	@$(MAKE) -j$(JOBS) $(SUBDIRS)
	@tests/check --all

check-unit: need-unit need-collector need-adapter $(SUBDIRS)
	@tests/check unit

check-lint: need-lint need-module need-board
	@tests/check lint

check-board: need-board need-build need-module
	@tests/check $(if $(BOARD),board:$(BOARD),board)

check-lab: need-board need-build need-module $(SUBDIRS)
	@tests/check lab

demo:
	@tests/board/demo/run $(BOARD)

lab: need-board need-build bench
	@$(MAKE) -C lab run

bench-kmod: need-board need-build need-unit
	@bench/kmod/run $(if $(PUBLISH),--publish)

bench-predictions: need-bench libgchint daemon adapters bench
	@GCHINTCTL=$(BUILD)/daemon/gchintctl GCHINT_BENCH=$(BUILD)/bench/gchint-bench \
		bench/predictions/run $(if $(PUBLISH),--publish)

bench-profile: need-bench libgchint daemon
	@GCHINTCTL=$(BUILD)/daemon/gchintctl LIBGCHINT=$(BUILD)/libgchint bench/profile/run $(if $(PUBLISH),--publish)

mutants: need-unit need-collector
	@tests/mutants/run $(if $(SEED),--seed $(SEED)) --minutes $(or $(MINUTES),28) $(if $(PUBLISH),--publish) $(OF)

bench-collectors repro: need-bench collectors bench
	@$(MAKE) -C bench BUILD=$(BUILD)/bench $@

clean:
	rm -rf $(BUILD)

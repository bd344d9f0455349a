# What the cases share: where the programs are, how stages run, the table of checks.
#
# BUILD is the object folder of the build to use; the default is the latest one. OUT is where a
# case puts its files.
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all
SHELL := /bin/bash

CASES := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BUILD ?= $(CASES)/../build/current
OUT   ?= out
export PATH := $(abspath $(BUILD))/bin:$(PATH)
export HDF5_PLUGIN_PATH := $(abspath $(BUILD))/plugin
comma   := ,
# A stage program that says little: its talk comes with V=1.
Q := $(if $(V),,-q)
TABLE   := $(OUT)/verified.txt
VERDICT := $(CASES)/verdict.sh $(TABLE)
# A line that says what is going on, with the time since the start of the case.
say = @printf '%4d s  %s\n' $$(( $$(date +%s) - $$(cat $(OUT)/started 2>/dev/null || date +%s) )) '$(1)'

# A figure of a report.
figure = sed -n 's/.*"$(2)": *\([-+0-9.e]*\).*/\1/p' $(1) | head -n 1
# The only value of a trace; and its relative difference from a number, as a report.
only = h5dump -y -m %.12f -d /trace/real $(1) | sed -n '/DATA {/,/}/p' | sed '1d;2q'
off = bash -c "$(call only,$(1)) | awk -v e=$(2) '{ d = \$$1 / e - 1; printf \"{\\\"off\\\": %g}\\n\", d < 0 ? -d : d }'"

$(OUT):
	@mkdir -p $@
.PHONY: programs start clean
programs:
	@command -v penstock-verify >/dev/null || { echo "no programs in $(BUILD)/bin; run make in the repository's root first" >&2; exit 1; }
start: programs | $(OUT)
	@date +%s > $(OUT)/started; rm -f $(TABLE)
clean:
	rm -rf $(OUT)

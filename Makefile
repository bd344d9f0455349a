# Penstock. One Makefile, not recursive.
#
#   make            all programs, the shared library and the HDF5 filter plugin
#   make check      unit and stage tests          make check-layers  who may include whom
#   make demo       the aircraft case              make bench         CPU benchmarks
#   make check-hostile       mutants, faults and races, in short; check-hostile-long: the whole (tests/hostile)
#   make trust      every solver against something exact, clean and ugly: a table
#   make validation the same with published values and curves as a page, docs/validation.md
#   make info       what was found on this machine
#   make install PREFIX=/usr/local LIBDIR=PREFIX/lib DESTDIR=...     make uninstall
#   make wheel      a Python wheel with programs and libraries, in dist/      make sdist
#   make docs       a static site of all pages, links checked (Sphinx)
#
# Options: DEBUG=1, SANITIZE=address,undefined, WERROR=1 (by itself: with CI in the environment, or DEVICE_CODE=check),
# HDF5=NAME (hdf5-serial, hdf5, hdf5-openmpi.. of pkg-config, h5cc, or system: by itself the first that is found), H5CC=h5cc,
# MPICC="mpicc.openmpi mpicc.mpich mpicc" (an adapter is built for each MPI among them), WITH_MPI=0,
# WITH_CUDA=0|1 (by itself: with an nvcc where there is a GPU), DEVICE_CODE=full|check (asks for it, too),
# WITH_GMSH=0, WITH_SCOTCH=0, WITH_CHOLMOD=0, WITH_FFTW=0, WITH_NETCDF=0, WITH_GEOTIFF=0,
# ONLY="PROGRAM..." (with `make programs plugin`: these programs, and what they need of the library).
# Objects live in build/<hash of all flags>; build/current points to the latest.

.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all
SHELL := /bin/bash

VERSION  := 1.0.0
REVISION := $(or $(shell git describe --always --dirty --abbrev=10 2>/dev/null),unknown)
PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
CC       ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
NVCC     ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
ARCH     := $(shell $(CC) -dumpmachine | cut -d- -f1)

# ---- what is on this machine: each probe can say no, and `make info` prints the answer ----
# $(call compiles,headers,flags) is 1 if a program that includes the headers builds and links.
hash := \#
compiles = $(shell printf '$(foreach h,$(1),$(hash)include <$(h)>\n)int main(void){return 0;}\n' | \
	$(CC) $(CPPFLAGS) -x c - $(LDFLAGS) $(2) -o /dev/null 2>/dev/null && echo 1)
# $(call compiles_one,folder,headers,flags): with the headers in that folder of their own, as Debian has them, or without.
compiles_one = $(or $(call compiles,$(addprefix $(1)/,$(2)),$(3)),$(call compiles,$(2),$(3)))
pc = $(shell pkg-config $(1) $(2) 2>/dev/null)

# HDF5 goes by many names. One that is parallel, and brings its MPI along, is taken last.
H5CC ?= h5cc
hdf5_shown   = $(shell $(H5CC) -shlib -show 2>/dev/null)
hdf5_cflags  = $(if $(filter system,$(1)),,$(if $(filter h5cc,$(1)),$(filter -I% -D%,$(hdf5_shown)),$(call pc,--cflags,$(1))))
hdf5_libs    = $(if $(filter system,$(1)),-lhdf5,$(if $(filter h5cc,$(1)),$(filter -L% -l% -Wl% %.so %.a,$(hdf5_shown)),$(call pc,--libs,$(1))))
hdf5_works   = $(if $(call compiles,hdf5.h,$(call hdf5_cflags,$(1)) $(call hdf5_libs,$(1))),$(1))
HDF5_NAMES  := hdf5-serial hdf5 h5cc system hdf5-openmpi hdf5-mpich
first_hdf5   = $(if $(1),$(or $(call hdf5_works,$(firstword $(1))),$(call first_hdf5,$(wordlist 2,9,$(1)))))
HDF5        ?= $(call first_hdf5,$(HDF5_NAMES))
HDF5        := $(HDF5)
HDF5_CFLAGS := $(call hdf5_cflags,$(HDF5))
HDF5_LIBS   := $(call hdf5_libs,$(HDF5))
HAVE_HDF5   := $(if $(call hdf5_works,$(HDF5)),1)
hdf5_version = $(or $(call pc,--modversion,$(HDF5)),$(shell $(H5CC) -showconfig 2>/dev/null | sed -n 's/.*HDF5 Version: *//p'))
HAVE_ZSTD   := $(call compiles,zstd.h,-lzstd)
HAVE_XXHASH := $(call compiles,xxhash.h,-lxxhash)
# Debian builds LAPACKE as a library beside OpenBLAS; elsewhere OpenBLAS has it inside.
lapack_works = $(if $(call compiles,cblas.h lapacke.h,$(1)),$(1))
LAPACK_LIBS := $(or $(call lapack_works,-llapacke -lopenblas),$(call lapack_works,-lopenblas))
HAVE_LAPACK := $(if $(LAPACK_LIBS),1)
# KIND=WRAPPER of each wrapper that is there, by what its mpi.h says; the first of a kind is used.
MPICC ?= mpicc.openmpi mpicc.mpich mpicc
mpi_kind = $(shell command -v $(1) >/dev/null && printf '$(hash)include <mpi.h>\n$(hash)if defined OPEN_MPI\nkind openmpi\n$(hash)elif defined MPICH_VERSION || defined I_MPI_VERSION\nkind mpich\n$(hash)else\nkind other\n$(hash)endif\n' | \
	$(1) -E -x c - 2>/dev/null | sed -n 's/^kind //p')
MPI_FOUND := $(if $(filter 0,$(WITH_MPI)),,$(foreach c,$(MPICC),$(addsuffix =$(c),$(call mpi_kind,$(c)))))
MPI_KINDS := $(sort $(foreach f,$(MPI_FOUND),$(firstword $(subst =, ,$(f)))))
mpicc_of   = $(lastword $(subst =, ,$(firstword $(filter $(1)=%,$(MPI_FOUND)))))
WITH_GMSH    ?= $(call compiles,gmshc.h,-lgmsh)
# The version in the name by which programs that are linked to Gmsh load it.
GMSH_VERSION = $(shell readelf -d "$$(echo 'int main(void){return 0;}' | $(CC) -x c - $(LDFLAGS) -lgmsh -Wl,-t -o /dev/null 2>&1 | grep -m 1 'libgmsh\.')" | \
	sed -n 's/.*SONAME.*\[libgmsh\.so\.\(.*\)\]/\1/p')
WITH_SCOTCH  ?= $(call compiles_one,scotch,scotch.h,-include stdio.h -include stdint.h -lscotch -lscotcherr)
WITH_CHOLMOD ?= $(call compiles_one,suitesparse,cholmod.h,-lcholmod)
WITH_FFTW    ?= $(call compiles,fftw3.h,-lfftw3)
WITH_NETCDF  ?= $(call compiles,netcdf.h,-lnetcdf)
WITH_GEOTIFF ?= $(call compiles_one,geotiff,geotiffio.h xtiffio.h,-lgeotiff -ltiff)
HAVE_CMOCKA  := $(call compiles,stdarg.h stddef.h setjmp.h stdint.h cmocka.h,-lcmocka)
# The answer for an nvcc is kept: asking takes a second.
CUDA_PROBE := build/probe-$(shell ls -lL $(NVCC) 2>/dev/null | sha1sum | cut -c1-10)
# Device code takes most of the time of a build: it is built where there is a GPU, or when asked for, by WITH_CUDA=1 or a DEVICE_CODE.
CUDA_ASKED := $(or $(wildcard /dev/nvidiactl /proc/driver/nvidia/version),$(filter-out undefined,$(origin DEVICE_CODE)))
WITH_CUDA    ?= $(if $(and $(NVCC),$(CUDA_ASKED)),$(shell [ -s $(CUDA_PROBE) ] || { mkdir -p build; \
	printf '__global__ void k(){}\nint main(){return 0;}\n' > $(CUDA_PROBE).$$$$.cu; \
	$(NVCC) -o /dev/null $(CUDA_PROBE).$$$$.cu 2>/dev/null && echo 1 > $(CUDA_PROBE) || echo 0 > $(CUDA_PROBE); \
	rm -f $(CUDA_PROBE).$$$$.cu; }; cat $(CUDA_PROBE)))
yes = $(filter 1,$(strip $(1)))

ifeq ($(filter clean help,$(MAKECMDGOALS)),)
ifneq ($(HAVE_HDF5)$(HAVE_ZSTD)$(HAVE_XXHASH)$(HAVE_LAPACK),1111)
$(error Penstock needs HDF5, zstd, xxHash, OpenBLAS and LAPACKE with their headers. \
Found: HDF5=$(HAVE_HDF5) zstd=$(HAVE_ZSTD) xxhash=$(HAVE_XXHASH) lapack=$(HAVE_LAPACK). \
HDF5 is looked for $(if $(HDF5),as $(HDF5),as $(HDF5_NAMES)). \
On Debian: ./bootstrap deps)
endif
endif

# ---- flags ----
# Compilers to come warn of what those of today do not: warnings are errors where the code is checked, not for who only builds it.
# gcc warns of what cannot be where a sanitizer blurs its view: no errors then.
WERROR ?= $(if $(CI)$(filter check,$(DEVICE_CODE)),1,0)
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
        -Wno-unused-parameter -Wno-format-truncation $(if $(filter 1,$(WERROR)),$(if $(SANITIZE),,-Werror))
OPT  := $(if $(DEBUG),-O0,-O3) -g -fno-math-errno -fno-trapping-math
CPPFLAGS_ALL := -I. -D_GNU_SOURCE $(CPPFLAGS)
CFLAGS_ALL := -std=c11 -fopenmp $(OPT) $(WARN) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer) $(CFLAGS)
# The rooms of the library are compiled once, for programs and libpenstock.so alike.
PIC := -fPIC -fvisibility=hidden
LIBS := $(HDF5_LIBS) -lzstd -lxxhash $(LAPACK_LIBS) -lpthread -ldl -lm
SCOTCH_CFLAGS := $(if $(call yes,$(WITH_SCOTCH)),-DPS_WITH_SCOTCH)
CHOLMOD_CFLAGS := $(if $(call yes,$(WITH_CHOLMOD)),-DPS_WITH_CHOLMOD)
GMSH_CFLAGS := $(if $(call yes,$(WITH_GMSH)),-DPS_WITH_GMSH)
GRID_CFLAGS := $(if $(call yes,$(WITH_NETCDF)),-DPS_WITH_NETCDF) $(if $(call yes,$(WITH_GEOTIFF)),-DPS_WITH_GEOTIFF)
GRID_LIBS := $(if $(call yes,$(WITH_NETCDF)),-lnetcdf) $(if $(call yes,$(WITH_GEOTIFF)),-lgeotiff -ltiff)
FFTW_CFLAGS := $(if $(call yes,$(WITH_FFTW)),-DPS_WITH_FFTW)
CUDA_CFLAGS := $(if $(call yes,$(WITH_CUDA)),-DPS_WITH_CUDA)
CPPFLAGS_ALL += $(CUDA_CFLAGS) $(CHOLMOD_CFLAGS) $(FFTW_CFLAGS) $(SCOTCH_CFLAGS)
LIBS += $(if $(call yes,$(WITH_SCOTCH)),-lscotch -lscotcherr) \
        $(if $(call yes,$(WITH_CHOLMOD)),-lcholmod) $(if $(call yes,$(WITH_FFTW)),-lfftw3)
# DEVICE_CODE=check: device code is compiled to PTX without being optimised: all errors and warnings of the compiler's front
# in a third of the time, for machines that have an nvcc and no GPU.
DEVICE_CODE ?= full
DEVICE_CODE_full  := -lineinfo -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=compute_80
DEVICE_CODE_check := -Xcicc -O1 -gencode arch=compute_90,code=compute_90
NVCCFLAGS := -O3 -std=c++17 $(DEVICE_CODE_$(DEVICE_CODE)) -I. -Xcompiler -fopenmp,-Wall $(if $(filter 1,$(WERROR)),-Werror all-warnings)
ifeq ($(ARCH),x86_64)
ISAS := base avx2 avx512
CPPFLAGS_ALL += -DPS_ISA_VARIANTS
ISA_FLAGS_base := -march=x86-64-v2
ISA_FLAGS_avx2 := -march=x86-64-v3
ISA_FLAGS_avx512 := -march=x86-64-v4 -mprefer-vector-width=512
else
ISAS := base
endif

KEY := $(shell printf '%s' '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PIC) $(LIBS) $(MPI_FOUND) $(GMSH_CFLAGS) $(GRID_CFLAGS) $(NVCCFLAGS) $(NVCC) $(LDFLAGS)' | \
	cat - <($(CC) --version) | sha1sum | cut -c1-10)
LIBS += -lz # comes with HDF5
B   := build/$(KEY)
CPPFLAGS_ALL += -I$(B)/generated
BIN := $(B)/bin

# ---- sources ----
# Programs: programs.list names them all; the source is STAGE/NAME.c or the folder STAGE/NAME/.
SOURCE_OF := $(shell awk -F'|' '!/^\#/ && NF { gsub(/ /,""); print $$1 "=" $$3 }' programs.list)
PROGRAMS  := $(foreach s,$(SOURCE_OF),$(firstword $(subst =, ,$s)))
source_of  = $(patsubst $(1)=%,%,$(filter $(1)=%,$(SOURCE_OF)))
sources_in = $(strip $(wildcard $(1).c) $(wildcard $(1)/*.c))
# A program whose source is not there (a library is missing, or it is yet to come) is left out.
NEEDS_GMSH := mesh-import
EXCLUDED := $(if $(call yes,$(WITH_GMSH)),,$(NEEDS_GMSH))
BUILT := $(filter-out $(EXCLUDED),$(or $(ONLY),$(PROGRAMS)))
# The library: runtime, formats, kernels, stage. *_cpu.c once per instruction set, *_cuda.cu by nvcc. What is loaded while a
# program runs (a filter of HDF5, adapters of MPI) is apart.
LIB_C   := $(filter-out formats/h5zstd_plugin.c runtime/mpi_adapter.c,$(wildcard runtime/*.c formats/*.c stage/*.c stage/*/*.c kernels/*.c kernels/*/*.c))
LIB_CU  := $(if $(call yes,$(WITH_CUDA)),$(wildcard runtime/*_cuda.cu kernels/*/*_cuda.cu))
LIB     := $(B)/libpenstock.a
# For some programs alone, before the whole was built: a library of what they need.
ifneq ($(if $(wildcard $(LIB)),,$(ONLY)),)
LIB     := $(B)/libpenstock-$(firstword $(shell printf '%s' '$(sort $(ONLY))' | cksum)).a
NEEDED  := $(shell printf '%s\n' $(LIB_C) $(LIB_CU) | library/needed $(foreach p,$(BUILT),$(call sources_in,$(call source_of,$(p)))))
LIB_C   := $(filter $(NEEDED),$(LIB_C))
LIB_CU  := $(filter $(NEEDED),$(LIB_CU))
endif
ISA_C   := $(filter kernels/%_cpu.c,$(LIB_C))
LIB_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out $(ISA_C),$(LIB_C))) \
           $(foreach i,$(ISAS),$(patsubst %.c,$(B)/%.$(i).o,$(ISA_C))) \
           $(patsubst %.cu,$(B)/%.cu.o,$(LIB_CU))
PLUGIN  := $(B)/plugin/libh5zstd.so
# Loaded by programs that were launched as several ranks (specs/ranks.md).
ADAPTERS := $(foreach k,$(MPI_KINDS),$(B)/mpi/libpenstock-mpi-$(k).so)
# The shared library (specs/library.md): a face, and what it needs of the rooms.
SO_MAJOR := $(firstword $(subst ., ,$(VERSION)))
SO       := $(B)/lib/libpenstock.so
SO_OBJ   := $(patsubst %.c,$(B)/%.o,$(wildcard library/*.c))

TESTS_C  := $(wildcard tests/runtime/test_*.c tests/formats/test_*.c tests/stage/test_*.c tests/stage/*/test_*.c tests/kernels/test_*.c tests/kernels/*/test_*.c)
LIBRARY_TESTS := $(if $(HAVE_CMOCKA),$(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/library/test_*.c)))
TESTS    := $(if $(HAVE_CMOCKA),$(patsubst tests/%.c,$(B)/tests/%,$(TESTS_C))) $(LIBRARY_TESTS)
TEST_PROGRAMS := $(patsubst tests/programs/%.c,$(B)/tests-programs/%,$(wildcard tests/programs/*.c)) $(B)/hostile/fail_nth.so
BENCH_C  := $(wildcard tests/bench/bench_*.c)
BENCHES  := $(patsubst tests/bench/%.c,$(B)/bench/%,$(BENCH_C))
GPU_C    := $(wildcard tests/gpu/check_*.c tests/gpu/bench_*.c)
GPUS     := $(patsubst tests/gpu/%.c,$(B)/gpu/%,$(GPU_C))

define program_rules
sources_$(1) := $$(call sources_in,$(2))
objects_$(1) := $$(patsubst %.c,$(B)/%.o,$$(sources_$(1)))
ifneq ($$(sources_$(1)),)
ALL_BIN += $(BIN)/penstock-$(1)
ALL_OBJ += $$(objects_$(1))
$(BIN)/penstock-$(1): $$(objects_$(1)) $(LIB)
endif
endef
$(foreach p,$(BUILT),$(eval $(call program_rules,$(p),$(call source_of,$(p)))))
ALL_BIN += $(if $(filter help,$(BUILT)),$(BIN)/penstock)

.PHONY: all lib shared programs plugin adapters info check check-unit check-stages check-layers check-hostile check-hostile-long hostile-programs trust validation check-gpu gpu-programs bench bench-gpu \
        bench-programs demo demo-programs install uninstall wheel sdist docs clean help format print-build print-compile print-link check-planted FORCE
all: programs plugin adapters shared
lib: $(LIB)
shared: $(SO)
programs: $(ALL_BIN) build/current
plugin: $(PLUGIN)
adapters: $(ADAPTERS)

build/current: FORCE
	@mkdir -p build && [ "$$(readlink $@ 2>/dev/null)" = "$(KEY)" ] || ln -sfn $(KEY) $@

# ---- rules ----
# V=1 shows the commands.
run = $(if $(V),,@echo "$(1)";)
# Each for objects and for watched ones (below).
$(B)/formats/%.o $(B)/watched/formats/%.o: CPPFLAGS_X = $(HDF5_CFLAGS)
$(B)/preprocess/mesh_import/gmsh_library.o $(B)/watched/preprocess/mesh_import/gmsh_library.o: CPPFLAGS_X = $(GMSH_CFLAGS) -DPS_GMSH_VERSION=$(GMSH_VERSION)
$(B)/preprocess/terrain_import/%.o $(B)/watched/preprocess/terrain_import/%.o: CPPFLAGS_X = $(GRID_CFLAGS)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call run,cc $<) $(CC) $(CPPFLAGS_ALL) $(CPPFLAGS_X) $(CFLAGS_ALL) $(if $(filter library/% $(LIB_C),$<),$(PIC)) -MMD -MP -c $< -o $@

# Where a lane's bits must not depend on what the other lanes need, the compiler may not choose where
# to fuse multiplications and additions; such a body fuses by hand.
NO_CONTRACT := kernels/tdbem/shell_integral_cpu.c kernels/tdbem/interaction_pairs_cuda.cu
define isa_rule
$(B)/%.$(1).o: %.c
	@mkdir -p $$(@D)
	$$(call run,cc $$< ($(1))) $(CC) $(CPPFLAGS_ALL) -DPS_ISA=$(1) $(CFLAGS_ALL) $(PIC) $(ISA_FLAGS_$(1)) -ffp-contract=$$(if $$(filter $(NO_CONTRACT),$$<),off,fast) -MMD -MP -c $$< -o $$@
endef
$(foreach i,$(ISAS),$(eval $(call isa_rule,$(i))))

$(B)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(call run,nvcc $<) $(NVCC) $(NVCCFLAGS) $(if $(filter $(NO_CONTRACT),$<),-fmad=false) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

# Version and revision, rewritten only when they change.
$(B)/generated/version.h: FORCE
	@mkdir -p $(@D)
	@printf '#define PS_VERSION "%s"\n#define PS_REVISION "%s"\n' '$(VERSION)' '$(REVISION)' > $@.new; \
	 cmp -s $@.new $@ && rm $@.new || mv $@.new $@
# The list of programs as a C table.
$(B)/generated/programs.h: programs.list Makefile
	@mkdir -p $(@D)
	awk -F'|' '!/^#/ && NF { for (i = 1; i <= NF; ++i) gsub(/^ +| +$$/, "", $$i); \
	  printf "{\"%s\", \"%s\", \"%s\", \"%s\", \"%s\"},\n", $$1, $$2, $$4, $$5, $$6 }' $< > $@
$(B)/runtime/program.o $(B)/watched/runtime/program.o: $(B)/generated/version.h
$(B)/library/status.o: $(B)/generated/version.h
$(patsubst %.c,$(B)/%.o,$(wildcard postprocess/*.c postprocess/*/*.c)): | $(B)/generated/programs.h
# Tables of figures as C tables: a row "NAME* | = | FILE" stands for the rows of that file, with NAME before theirs.
FIGURES := $(patsubst %figures.list,$(B)/generated/%figure_table.h,$(wildcard */*/figures.list))
$(FIGURES): $(B)/generated/%figure_table.h: %figures.list formats/hmatrix_figures.list Makefile
	@mkdir -p $(@D)
	@awk -F' +[|] +' 'function row() { printf "{\"%s%s\", \"%s\", \"%s\"},\n", within, $$1, $$2, $$3 } \
	  BEGIN { print "#include \"runtime/report.h\"\nstatic const ps_figure figure_table[] = {" } \
	  $$2 == "=" { file = $$3; within = substr($$1, 1, length($$1) - 1); while (getline < file > 0) row(); within = ""; next } \
	  { row() } END { print "{NULL, NULL, NULL}};" }' $< > $@
$(ALL_OBJ) $(patsubst $(B)/%,$(B)/watched/%,$(ALL_OBJ)): | $(FIGURES)
# Pages that programs write, as C texts: NAME/PAGE.html is NAME_PAGE_html.
PAGES := $(patsubst postprocess/%,$(B)/generated/%.h,$(wildcard postprocess/*/*.html))
$(PAGES): $(B)/generated/%.html.h: postprocess/%.html
	@mkdir -p $(@D)
	@{ echo 'static const char $(subst /,_,$*)_html[] ='; sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $<; echo ';'; } > $@
$(patsubst $(B)/generated/%.html.h,$(B)/postprocess/%.o,$(PAGES)): | $(PAGES)

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(call run,ar $@) ar rcs $@ $^

$(SO): $(SO_OBJ) library/penstock.map $(LIB)
	@mkdir -p $(@D)
	$(call run,link $@) $(CC) $(CFLAGS_ALL) -shared -Wl,-soname,libpenstock.so.$(SO_MAJOR) -Wl,--version-script=library/penstock.map \
	  -Wl,--no-undefined -Wl,--as-needed -Wl,-Bsymbolic $(LDFLAGS) $(SO_OBJ) $(LIB) $(LIBS) $(CUDA_LIBS) -o $@.$(VERSION)
	@ln -sf libpenstock.so.$(VERSION) $@.$(SO_MAJOR) && ln -sf libpenstock.so.$(SO_MAJOR) $@

CUDA_LIBS := $(if $(call yes,$(WITH_CUDA)),-L$(dir $(NVCC))../lib64 -lcudart_static -ldl -lrt -lstdc++)
link = @mkdir -p $(@D); $(if $(V),,echo "link $@";) $(CC) $(CFLAGS_ALL) $(LDFLAGS) $(filter %.o,$^) $(LIB) $(LIBS) $(LIBS_X) $(CUDA_LIBS) -o $@
$(BIN)/penstock-terrain-import $(B)/watched/bin/penstock-terrain-import: LIBS_X = $(GRID_LIBS)
$(BIN)/penstock-%:
	$(link)
# The front command is the help program under another name.
$(BIN)/penstock: $(BIN)/penstock-help
	@ln -sf penstock-help $@

$(PLUGIN): formats/h5zstd_plugin.c formats/h5zstd.c formats/h5zstd.h
	@mkdir -p $(@D)
	$(call run,cc $<) $(CC) -I. $(HDF5_CFLAGS) -std=c11 $(OPT) $(WARN) -fPIC -shared $(filter %.c,$^) $(LDFLAGS) -lzstd -o $@

$(B)/mpi/libpenstock-mpi-%.so: runtime/mpi_adapter.c runtime/mpi_adapter.h
	@mkdir -p $(@D)
	$(call run,$(call mpicc_of,$*) $<) $(call mpicc_of,$*) -std=c11 $(OPT) $(WARN) -fPIC -shared $< $(LDFLAGS) -o $@

# A unit test with its main (tests/with-main).
.PRECIOUS: $(B)/generated/tests/%.c
$(B)/generated/tests/%.c: tests/%.c tests/with-main
	@mkdir -p $(@D)
	@tests/with-main $< > $@
$(B)/tests/%: $(B)/generated/tests/%.c tests/check.h $(LIB)
	@mkdir -p $(@D)
	$(call run,cc tests/$*.c) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(LDFLAGS) $< $(LIB) -lcmocka $(LIBS) $(CUDA_LIBS) -o $@
# Tests of the library see what a user has: its headers and the shared object.
$(LIBRARY_TESTS): $(B)/tests/library/%: $(B)/generated/tests/library/%.c $(SO)
	@mkdir -p $(@D)
	$(call run,cc tests/library/$*.c) $(CC) -I. -Ilibrary -D_GNU_SOURCE $(CFLAGS_ALL) -MMD -MP -MF $@.d $(LDFLAGS) $< -L$(B)/lib -lpenstock -lcmocka -lm \
	  -Wl,-rpath,'$$ORIGIN/../../lib' -o $@
# Small programs that stage tests run (under mpirun, say).
$(B)/tests-programs/%: tests/programs/%.c $(LIB)
	@mkdir -p $(@D)
	$(call run,cc $<) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(LDFLAGS) $< $(LIB) $(LIBS) $(CUDA_LIBS) -o $@
# What attacks the readers, and the shim that lets calls fail. Readers run under sanitizers: formats/, runtime/, stage/ and
# the programs that read foreign files are built a second time for it, and those folders of kernels/ whose code and tests are
# cheap to build (in one instruction set); other kernels come from the library as they are.
WATCHED_KERNELS := linear schwarz
WATCHED := mesh-import particle-import gravity-model spmv-bench terrain-import incident prism-field gravity-invert
WATCH   := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
WATCHED_LIB := $(B)/watched/libpenstock.a
WATCHED_OBJ := $(patsubst %.c,$(B)/watched/%.o,$(filter formats/% runtime/% stage/%,$(filter-out stage/hbem_assembly/% stage/tdbem_assembly/assembly_% stage/tdbem_assembly/block_sink.c,$(LIB_C)))) \
    $(foreach k,$(WATCHED_KERNELS),$(patsubst %.c,$(B)/watched/%.o,$(filter kernels/$(k)/%,$(LIB_C))))
WATCHED_BIN := $(patsubst %,$(B)/watched/bin/penstock-%,$(filter-out $(EXCLUDED),$(WATCHED)))
# Iterations that depend on how sums are fused, and half a minute each, stay out.
UNWATCHED_TESTS := tests/kernels/linear/test_krylov.c tests/kernels/schwarz/test_fast_solve.c
WATCHED_TESTS := $(if $(HAVE_CMOCKA),$(patsubst tests/%.c,$(B)/watched/tests/%,$(filter tests/formats/% tests/runtime/% tests/stage/test_% $(foreach k,$(WATCHED_KERNELS),tests/kernels/$(k)/%),$(filter-out $(UNWATCHED_TESTS),$(TESTS_C)))))
$(B)/watched/kernels/%.o: CPPFLAGS_X = -UPS_ISA_VARIANTS -DPS_ISA=base
$(B)/watched/%.o: %.c
	@mkdir -p $(@D)
	$(call run,cc $< (watched)) $(CC) $(CPPFLAGS_ALL) $(CPPFLAGS_X) $(filter-out -O3 -Werror,$(CFLAGS_ALL)) -O1 $(WATCH) -MMD -MP -c $< -o $@
watched_link = @mkdir -p $(@D); $(if $(V),,echo "link $@";) $(CC) $(CFLAGS_ALL) $(WATCH) $(LDFLAGS) -Wl,--as-needed $(filter %.o,$^) $(WATCHED_LIB) $(LIB) $(LIBS_X) $(LIBS) $(CUDA_LIBS) -o $@
$(WATCHED_LIB): $(WATCHED_OBJ)
	@rm -f $@
	$(call run,ar $@) ar rcs $@ $^
define watched_rules
$(B)/watched/bin/penstock-$(1): $(patsubst $(B)/%,$(B)/watched/%,$(objects_$(1))) $(WATCHED_LIB) $(LIB)
	$$(watched_link)
endef
$(foreach p,$(filter-out $(EXCLUDED),$(WATCHED)),$(eval $(call watched_rules,$(p))))
$(WATCHED_TESTS:=.o): $(B)/watched/tests/%.o: $(B)/generated/tests/%.c
	@mkdir -p $(@D)
	$(call run,cc tests/$*.c (watched)) $(CC) $(CPPFLAGS_ALL) $(filter-out -O3 -Werror,$(CFLAGS_ALL)) -O1 $(WATCH) -MMD -MP -c $< -o $@
$(B)/watched/tests/%: LIBS_X = -lcmocka
$(B)/watched/tests/%: $(B)/watched/tests/%.o $(WATCHED_LIB) $(LIB)
	$(watched_link)
$(B)/watched/mutate_store: $(B)/watched/tests/hostile/mutate_store.o $(B)/watched/tests/hostile/store_model.o $(WATCHED_LIB) $(LIB)
	$(watched_link)
$(B)/hostile/mutate_text: tests/hostile/mutate_text.c
	@mkdir -p $(@D)
	$(call run,cc $<) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS) $< -o $@
$(B)/hostile/%.so: tests/hostile/%.c
	@mkdir -p $(@D)
	$(call run,cc $<) $(CC) -std=c11 -D_GNU_SOURCE -O2 -fPIC -shared $(WARN) $< -ldl -o $@
$(B)/bench/%: tests/bench/%.c $(LIB)
	@mkdir -p $(@D)
	$(call run,cc $<) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(LDFLAGS) $< $(LIB) $(LIBS) $(CUDA_LIBS) -o $@
$(B)/gpu/%: tests/gpu/%.c $(LIB)
	@mkdir -p $(@D)
	$(call run,cc $<) $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(LDFLAGS) $< $(LIB) $(LIBS) $(CUDA_LIBS) -o $@

# ---- tests ----
check: all $(TESTS) $(TEST_PROGRAMS) build/current
	@BUILD=$(B) tests/run-all
check-unit: $(TESTS) build/current
	@BUILD=$(B) tests/run-all unit
check-stages: all $(TEST_PROGRAMS) build/current
	@BUILD=$(B) tests/run-all stages
check-layers:
	@tests/check-layers
hostile-programs: all $(TEST_PROGRAMS) $(WATCHED_BIN) $(WATCHED_TESTS) $(B)/watched/mutate_store \
    $(B)/hostile/mutate_text $(B)/hostile/fail_nth.so $(B)/hostile/record_calls.so
check-hostile: hostile-programs
	@BUILD=$(CURDIR)/$(B) tests/hostile/run short
	@BUILD=$(CURDIR)/$(B) COMPILE="$$($(MAKE) -s print-compile)" LINK="$$($(MAKE) -s print-link)" \
	  tests/hostile/planted fsync-file fsync-log check-rows frame-length content-hash
check-planted: all $(TEST_PROGRAMS)
	@BUILD=$(CURDIR)/$(B) COMPILE="$$($(MAKE) -s print-compile)" LINK="$$($(MAKE) -s print-link)" tests/hostile/planted
check-hostile-long: hostile-programs check-planted
	@BUILD=$(CURDIR)/$(B) tests/hostile/run long
trust: all $(TEST_PROGRAMS)
	@BUILD=$(B) tests/trust/run
validation: all $(TEST_PROGRAMS)
	@BUILD=$(B) tests/trust/validate docs
gpu-programs: all $(GPUS)
check-gpu: gpu-programs
	@for t in $(filter $(B)/gpu/check_%,$(GPUS)); do $$t || exit 1; done
bench-programs: all $(BENCHES)
bench: bench-programs
	@BUILD=$(B) tests/bench/run cpu
bench-gpu: gpu-programs
	@BUILD=$(B) tests/bench/run gpu
# Only what the case runs is built for it.
DEMO := $(shell grep -oh 'penstock-[a-z-]*' cases/tdbem-aircraft/Makefile | sed 's/penstock-//' | sort -u)
demo-programs:
	@$(MAKE) --no-print-directory ONLY='$(DEMO)' programs plugin adapters
demo: demo-programs
	@BUILD=$(CURDIR)/$(B) $(MAKE) --no-print-directory -C cases/tdbem-aircraft demo

# ---- install ----
D := $(DESTDIR)$(PREFIX)
L := $(DESTDIR)$(LIBDIR)
install: all
	install -d $(D)/bin $(D)/lib/penstock/plugin $(D)/share/man/man1 $(D)/share/bash-completion/completions $(D)/share/doc/penstock/specs
	install -m 755 $(filter-out $(BIN)/penstock,$(ALL_BIN)) $(D)/bin
	ln -sf penstock-help $(D)/bin/penstock
	install -m 755 $(PLUGIN) $(D)/lib/penstock/plugin
	install -m 755 $(ADAPTERS) -D -t $(D)/lib/penstock/mpi
	install -m 644 runtime/mpi_adapter.c runtime/mpi_adapter.h $(D)/lib/penstock/mpi
	install -d $(L)/pkgconfig $(D)/include/penstock
	install -m 755 $(SO).$(VERSION) $(L)
	ln -sf libpenstock.so.$(VERSION) $(L)/libpenstock.so.$(SO_MAJOR)
	ln -sf libpenstock.so.$(SO_MAJOR) $(L)/libpenstock.so
	install -m 644 library/penstock/*.h $(D)/include/penstock
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' library/penstock.pc.in > $(L)/pkgconfig/penstock.pc
	install -m 644 README.md LICENSE $(D)/share/doc/penstock
	install -m 644 specs/*.md $(D)/share/doc/penstock/specs
	$(BIN)/penstock-help --man-pages $(D)/share/man/man1
	$(BIN)/penstock-help --completion > $(D)/share/bash-completion/completions/penstock
	for p in $(PROGRAMS); do ln -sf penstock $(D)/share/bash-completion/completions/penstock-$$p; done
uninstall:
	rm -f $(foreach p,$(PROGRAMS),$(D)/bin/penstock-$(p) $(D)/share/man/man1/penstock-$(p).1) $(D)/bin/penstock $(D)/share/man/man1/penstock.1
	rm -f $(foreach p,$(PROGRAMS),$(D)/share/bash-completion/completions/penstock-$(p)) $(D)/share/bash-completion/completions/penstock
	rm -rf $(D)/lib/penstock $(D)/share/doc/penstock $(D)/include/penstock
	rm -f $(L)/libpenstock.so* $(L)/pkgconfig/penstock.pc

# ---- packages of Python ----
DIST ?= dist
wheel: all
	python3 python/penstock_build.py wheel $(B) $(VERSION) $(DIST)
sdist:
	python3 python/penstock_build.py sdist $(VERSION) $(DIST)

# ---- a static site ----
SPHINX ?= sphinx-build
docs: all
	@$(SPHINX) --version > /dev/null 2>&1 || { echo "make docs needs sphinx-build and MyST (Debian: python3-sphinx python3-myst-parser)" >&2; exit 1; }
	@rm -rf $(B)/pages && mkdir -p $(B)/pages && cp -r docs *.md LICENSE specs cases $(B)/pages && rm -rf $(B)/pages/cases/*/out
	@mv $(B)/pages/docs/conf.py $(B)/pages/docs/index.md $(B)/pages
	@python3 docs/api.py $(B)/pages/api
	@{ echo '# Programs'; for p in $(PROGRAMS); do printf '\n## %s\n\n```text\n' $$p; $(BIN)/penstock-help $$p; printf '```\n'; done; } > $(B)/pages/programs.md
	PYTHONPATH=$(CURDIR)/python PYTHONDONTWRITEBYTECODE=1 $(SPHINX) -q -W --keep-going -b html $(B)/pages $(B)/site
	@echo "the site: $(B)/site/index.html"

CUDA_LEFT := $(if $(and $(NVCC),$(if $(CUDA_ASKED),,1)),; there is an nvcc and no GPU: WITH_CUDA=1 builds device code)
info:
	@printf '%-10s %s\n' version '$(VERSION) ($(REVISION))' compiler '$(shell $(CC) --version | head -1)' arch '$(ARCH): $(ISAS)' \
	  hdf5 '$(hdf5_version) ($(HDF5))' zstd '$(call pc,--modversion,libzstd)' \
	  mpi '$(or $(foreach k,$(MPI_KINDS),$k by $(call mpicc_of,$k)),no: one rank only)' \
	  gmsh '$(if $(call yes,$(WITH_GMSH)),yes,no: penstock-mesh-import is left out)' \
	  netcdf '$(if $(call yes,$(WITH_NETCDF)),yes,no: penstock-terrain-import reads no NetCDF)' \
	  geotiff '$(if $(call yes,$(WITH_GEOTIFF)),yes,no: penstock-terrain-import reads no GeoTIFF)' \
	  scotch '$(if $(call yes,$(WITH_SCOTCH)),yes,no)' cholmod '$(if $(call yes,$(WITH_CHOLMOD)),yes,no)' \
	  fftw '$(if $(call yes,$(WITH_FFTW)),yes,no)' cuda '$(if $(call yes,$(WITH_CUDA)),yes: $(NVCC),no: CPU only$(CUDA_LEFT))' \
	  cmocka '$(if $(HAVE_CMOCKA),yes,no: no unit tests)' objects '$(B)' programs '$(words $(ALL_BIN))'
print-build:
	@echo $(B)
# For tests/hostile/planted: how a source is compiled, and what it is linked with.
print-compile:
	@echo '$(CC) $(CPPFLAGS_ALL) $(HDF5_CFLAGS) -I$(B)/generated $(CFLAGS_ALL)'
print-link:
	@echo '$(LDFLAGS) $(LIB) -lcmocka $(LIBS) $(CUDA_LIBS)'
help:
	@sed -n '2,/^$$/p' Makefile | sed 's/^# \{0,1\}//'
format:
	clang-format -i $$(git ls-files '*.c' '*.h')
clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)

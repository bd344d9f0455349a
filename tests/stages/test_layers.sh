# check-layers passes on the repository, and finds every kind of violation by file and line.
set -eu
"$ROOT/tests/check-layers" "$ROOT"

tree=$PWD/tree
fresh() {
    rm -rf "$tree"
    mkdir -p "$tree"/{runtime,formats,kernels/{common,tdbem,fmm},preprocess/{one,two},compute/tdbem_march,postprocess,tests}
    echo 'typedef int ps_a;' > "$tree/runtime/a.h"
    echo '#include "runtime/a.h"' > "$tree/formats/f.h"
    echo '#include "runtime/e.h"' > "$tree/runtime/e.c"
    printf '#ifndef E\n#define E\n#endif\n' > "$tree/runtime/e.h"
    echo '#include "formats/f.h"' > "$tree/kernels/tdbem/k.h"
    printf '#include "kernels/tdbem/k.h"\n#include "preprocess/one/p.h"\n' > "$tree/preprocess/one/main.c"
    echo 'typedef int p_type;' > "$tree/preprocess/one/p.h"
    echo 'typedef int other_p;' > "$tree/preprocess/two/q.h"
    echo 'typedef int fmm_k;' > "$tree/kernels/fmm/k.h"
    echo '#include <hdf5.h>' > "$tree/formats/store.c"
    echo '#include <mpi.h>' > "$tree/runtime/mpi_adapter.c"
    echo '#include <scotch/scotch.h>' > "$tree/runtime/partitioner.c"
    echo '#include <cuda_runtime.h>' > "$tree/kernels/tdbem/op_cuda.cu"
}
# FILE TEXT EXPECTED: a second line of FILE that must be reported as FILE:2: ... EXPECTED
refused() {
    fresh
    [ -e "$tree/$1" ] && [ "$(wc -l < "$tree/$1")" -eq 1 ] || echo > "$tree/$1"
    printf '%s\n' "$2" >> "$tree/$1"
    local rc=0 said
    said=$("$ROOT/tests/check-layers" "$tree") || rc=$?
    if [ $rc -ne 1 ] || ! grep -q "^$1:${4:-2}: .*$3" <<< "$said"; then
        echo "$1 with $2: exit $rc, said: $said"
        exit 1
    fi
}
fresh
"$ROOT/tests/check-layers" "$tree"
refused runtime/b.c '#include "formats/f.h"' 'runtime/ may not include formats/'
refused formats/g.h '#include "kernels/tdbem/k.h"' 'formats/ may not include kernels/'
refused kernels/tdbem/x.c '#include "preprocess/one/p.h"' 'kernels/ may not include preprocess/'
refused kernels/tdbem/x.c '#include "stage/s.h"' 'kernels/ may not include stage/'
refused postprocess/x.c '#include "preprocess/one/p.h"' 'stages meet through files'
refused preprocess/one/x.c '#include "preprocess/two/q.h"' 'a program may not include another'
refused runtime/c.c '#include "tests/check.h"' 'runtime/ may not include tests/'
refused kernels/tdbem/y.c '#include "kernels/fmm/k.h"' 'family tdbem may not include family fmm'
refused compute/tdbem_march/y.c '#include "kernels/fmm/k.h"' 'family tdbem may not include family fmm'
refused kernels/common/z.c 'void *f(void) { return malloc(3); }' 'kernels/ neither read, print nor allocate'
refused kernels/common/z.c '#include "runtime/comm.h"' 'kernels/ knows no ranks'
refused formats/g.h '#  include <hdf5.h>' 'hdf5.h may not be in a header'
refused preprocess/one/h.c '#include <hdf5.h>' 'hdf5.h belongs only in formats/'
refused tests/t.c '#include <mpi.h>' 'mpi.h belongs only in runtime/mpi_adapter.c'
refused runtime/x.c '#include "scotch/ptscotch.h"' 'ptscotch.h belongs only in runtime/partitioner.c'
refused preprocess/two/m.c '#include <gmshc.h>' 'gmshc.h belongs only in preprocess/mesh_import/'
refused preprocess/two/m.c '#include <geotiff/xtiffio.h>' 'xtiffio.h belongs only in preprocess/terrain_import/'
refused kernels/tdbem/op.c '#include <cuda_runtime.h>' 'cuda_runtime.h belongs only in'
refused runtime/a.h '#include "runtime/d.h"' 'does not compile on its own' 1
refused runtime/d.h 'ps_unknown f(void);' 'does not compile on its own' 1
refused runtime/e.h 'typedef int ps_e;' 'has no guard' 1
refused runtime/n.c $'#ifndef PS_WITH_CUDA\nvoid *f(void) { return NULL; }\n#endif' 'does not compile without what is optional' 1
# A cycle is reported where it closes.
fresh
echo '#include "runtime/a.h"' > "$tree/runtime/d.h"
echo '#include "runtime/d.h"' >> "$tree/runtime/a.h"
"$ROOT/tests/check-layers" "$tree" > said && exit 1
grep -Eq '^runtime/(a.h:2|d.h:1): closes an include cycle: runtime/[ad].h' said

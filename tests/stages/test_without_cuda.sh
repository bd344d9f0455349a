# A build without CUDA: what differs in it compiles, and has each function of the *_cuda.cu files that goes by a name of C.
. "$ROOT/tests/stages/lib.sh"
compile=$(make -s -C "$ROOT" print-compile WITH_CUDA=0) || fail "no compiler: $compile"
there=$PWD
cd "$ROOT" || fail "$ROOT"
for source in $(grep -lE 'ifn?def PS_WITH_CUDA' $(git ls-files 'runtime/*.c' 'kernels/*.c')); do
    $compile -O0 -Werror -c "$source" -o "$there/${source//\//_}.o" || fail "$source without CUDA"
done
nm -g --defined-only "$there"/*.o | awk '{ print $3 }' | sort -u > "$there/defined"
cat $(git ls-files 'runtime/*.c' 'kernels/*.c') | grep -oE '\bps_[a-z0-9_]+\(' | tr -d '(' | sort -u > "$there/called"
grep -hoE 'extern "C" .*\b[a-z0-9_]+\(' $(git ls-files 'runtime/*_cuda.cu' 'kernels/*_cuda.cu') | sed 's/($//; s/.*[ *]//' | sort -u |
    comm -12 - "$there/called" > "$there/wanted"
[ "$(wc -l < "$there/wanted")" -gt 80 ] || fail "$(wc -l < "$there/wanted") functions of CUDA alone are called"
missing=$(comm -13 "$there/defined" "$there/wanted")
[ -z "$missing" ] || fail "a build without CUDA lacks" $missing
# A build of some programs finds them, too: all programs need all families.
library=$(git ls-files 'runtime/*.c' 'formats/*.c' 'stage/*.c' 'kernels/*.c')
printf '%s\n' $library | library/needed $(git ls-files 'preprocess/*.c' 'compute/*.c' 'postprocess/*.c') > "$there/needed"
for source in $(git ls-files 'kernels/*/device_none.c'); do
    grep -qx "$source" "$there/needed" || fail "library/needed leaves out $source"
done
echo passed

# An unstable march is noticed once the loads are over, long before it reaches a million times what they
# explain: a warning, then the end, at the same step however often the run was stopped and continued.
# Stable marches, drifting sound-hard ones too, say nothing.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 1
"$tool" unstable sphere1.h5 slow.h5 1.02
go="penstock-tdbem-march slow.h5 sphere1.h5 out.h5 --steps 3000 --group 32 $plane"
fails 1 "though the loads are over since step" $go
grep -q "warning: step" said.txt || { echo "no warning before the end"; cat said.txt; exit 1; }
[ -z "$(ls out.* 2> /dev/null)" ] || { echo "left behind: $(ls out.*)"; exit 1; }
once=$(grep "the march is unstable" said.txt)
step=$(echo "$once" | grep -o 'step [0-9]*' | head -n 1 | cut -d' ' -f2)
grown=$(echo "$once" | grep -o 'grown to [-+.e0-9]*' | cut -d' ' -f3)
below 200 "$step"; below "$step" 700
below "$grown" 1e6
echo "ended at step $step with densities of $grown"
# stopped and continued
starts=0 rc=75
while [ $rc -eq 75 ] && [ $starts -lt 100 ]; do
    starts=$((starts + 1)) rc=0
    at rename:2 TERM $go --restart --checkpoint-every 32steps > said.txt 2>&1 || rc=$?
done
[ $rc -eq 1 ] && [ $starts -gt 1 ] || { echo "ended with $rc after $starts starts"; cat said.txt; exit 1; }
[ "$(grep "the march is unstable" said.txt)" = "$once" ] || { echo "after $starts starts: "; cat said.txt; exit 1; }
echo "the same after $starts starts"
# one density that alternates in sign and grows, far below all others, which decay
"$tool" alternating sphere1.h5 one.h5
fails 1 "densities that alternate from step to step have grown" \
    penstock-tdbem-march one.h5 sphere1.h5 one.out.h5 --steps 740 --group 32 $plane
# stable: single precision, 6,000 steps
for formulation in sound-soft-s sound-soft-m sound-hard; do
    penstock-slice-assemble sphere1.h5 $formulation.m.h5 --courant 4 --speed 1 --points 3 --formulation $formulation -q > /dev/null
    penstock-tdbem-march $formulation.m.h5 sphere1.h5 $formulation.h5 --steps 6000 $plane > said.txt 2>&1
    ! grep -q "have grown" said.txt || { echo "$formulation:"; cat said.txt; exit 1; }
done

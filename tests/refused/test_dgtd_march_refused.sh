# Wrong options, files that are none, damaged files, a full disk: a clear message, the right code,
# nothing left behind, nothing old lost.
set -eu
. "$ROOT/tests/support/dgtd_march.bash"
cube m.h5 side=3 order=1 kind=absorbing source=wave
go="penstock-dgtd-march m.h5 out.h5"
fails 2 "how long? Give one of" $go
fails 2 "how long? Give one of" $go --steps 5 --time 3
fails 2 "give that too" $go --periods 5
fails 2 "give that too" $go --steps 5 --transform-periods 2
fails 3 "2.2 periods of 2.2e+08 Hz" $go --steps 5000 --frequency 1e8,2.2e8 --transform-periods 1
fails 3 "--transform-periods 5 holds whole ones of all" $go --steps 5000 --frequency 1e8,2.2e8 --transform-periods 1
fails 2 "does not divide" $go --steps 5000 --frequency 1e8 --transform-periods 1 --transform-every 23
fails 2 "a transform needs more than two" $go --steps 50000 --frequency 1e8 --transform-every 9000
fails 2 "march on for longer" $go --steps 5 --frequency 1e8 --transform-periods 2
fails 2 "expected a positive number" $go --steps 5 --frequency -1
fails 2 "is given twice" $go --steps 5 --frequency 1e8,1e8
fails 2 "lies in no element" $go --steps 5 --probe 1.5,0,0
fails 2 "expected X,Y,Z" $go --steps 5 --probe 1.5,0
fails 2 "is not a list of numbers" $go --steps 5 --probe a,b,c
fails 2 "--dt-scale" $go --steps 5 --dt-scale 0
fails 2 "fp32|fp64" $go --steps 5 --precision half
fails 2 "starts with no mode" $go --steps 5 --mode-error 1
fails 2 "did you mean --steps" $go --stepz 5
fails 2 "too few" penstock-dgtd-march m.h5 --steps 5
fails 2 "--device" $go --steps 5 --device tpu
echo "1 2" > points.txt
fails 3 "line 1 is not three numbers" $go --steps 5 --probes points.txt
fails 3 "absent.txt" $go --steps 5 --probes absent.txt
fails 3 "absent.h5" penstock-dgtd-march absent.h5 out.h5 --steps 5
fails 3 "dgtd_model.cut.h5" penstock-dgtd-march dgtd_model.cut.h5 out.h5 --steps 5
fails 2 "1 parts for 2 ranks" ranks 2 penstock-dgtd-march m.h5 out.h5 --steps 5
cp m.h5 cut.h5; truncate -s -2000 cut.h5
fails 3 "cut.h5" penstock-dgtd-march cut.h5 out.h5 --steps 5
[ -z "$(ls out.* 2> /dev/null)" ] || { echo "left behind: $(ls out.*)"; exit 1; }
# an output that is complete is not harmed by a failing run
dgtd m.h5 out.h5 --steps 50
cp out.h5 before.h5
cube wild.h5 side=3 order=1 dt=1.1
fails 1 "the march is unstable" penstock-dgtd-march wild.h5 out.h5 --steps 4000
cmp out.h5 before.h5
[ ! -e out.log ]
# a full disk (a file-size limit stands in for it): code 4, the old output unharmed, then --restart
for state in memory file; do
    run="--steps 2000 --energy-every 1 --probe .5,.5,.5 --checkpoint-every 80steps --state $state"
    rc=0; (ulimit -f 60; penstock-dgtd-march m.h5 out.h5 $run) > said.txt 2>&1 || rc=$?
    [ $rc -eq 4 ] || { echo "a full disk ended with $rc"; cat said.txt; exit 1; }
    cmp out.h5 before.h5
    dgtd m.h5 out.h5 $run --restart
    dgtd m.h5 whole.h5 $run
    same out whole
    rm -f out.* whole.*; cp before.h5 out.h5
done

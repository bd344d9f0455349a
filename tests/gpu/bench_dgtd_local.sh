#!/bin/bash
# The head of cases/dgtd-head with and without local steps: ten periods of 900 MHz, fp32, nothing made heavier.
# Prints seconds of the setup, of steps, updates saved, and how far SAR is apart. Environment: programs on PATH;
# MESH: head_colin27_4tissue_air.msh.zst; ORDERS: "2 3"; LEVELS: "auto"; ONE: 1 for the march with one step for all;
# PERIODS: 10; DEVICE: cuda; OUT: where to work (a temporary folder).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mesh=$(realpath "${MESH:-$root/../shared/data/head/head_colin27_4tissue_air.msh.zst}")
work=${OUT:-$(mktemp -d)}
mkdir -p "$work" && cd "$work"
[ -n "${OUT:-}" ] || trap 'rm -rf "$work"' EXIT
figure() { grep -oE "\"$2\": *[-0-9.e+]+" "$1" | head -n 1 | grep -oE '[-0-9.e+]+$'; }
[ -e real.h5 ] || { penstock-mesh-import "$mesh" real.hdf -q --unit mm --orient > said.txt
    penstock-mesh-partition real.hdf real.h5 -q --parts ${PARTS:-1} > said.txt; }
go() { # NAME ORDER OPTIONS OF THE SETUP
    local name=$1 order=$2 start=$SECONDS
    penstock-dgtd-setup real.h5 $name.h5 --force -v --json --order $order --materials "$root/cases/dgtd-head/tissues.txt" \
        --boundary absorbing_sphere:absorbing --divide 900MHz "${@:3}" --source \
        current:at=0.115,0,0:axis=0,0,1:radius=0.02:moment=1e-12:shape=ramp:width=3ns:frequency=900e6 > $name.setup.json 2> $name.setup.txt
    echo "$name: setup $((SECONDS - start)) s, saved $(figure $name.setup.json updates_saved) levels $(figure $name.setup.json levels) lowered $(figure $name.setup.json lowered)"
    ${RUN:-} penstock-dgtd-march $name.h5 $name.run.h5 --force -q --json --periods ${PERIODS:-10} --frequency 900e6 \
        --transform-periods 1 --energy-every 200 --device ${DEVICE:-cuda} > $name.run.json 2> $name.run.txt || { tail -n 3 $name.run.txt; return; }
    echo "$name: $(grep -oE '"(steps|stepping|opening|time|updates_a_step)": *[0-9.e+-]+' $name.run.json | tr '\n' ' ')"
    penstock-dgtd-sar $name.run.phasors.h5 real.hdf $name.sar.hdf --force -q --json --power .25 --grid ${GRID:-2e-3} > $name.sar.json 2> $name.sar.txt || tail -n 3 $name.sar.txt
    echo "$name: absorbed $(figure $name.sar.json absorbed) $(grep -oE '"average_1*[01]g": \{"largest": [-+0-9.e]*' $name.sar.json | tr -d '"{' | tr '\n' ' ')"
}
for order in ${ORDERS:-2 3}; do
    for levels in ${LEVELS:-auto}; do go local$order-$levels $order --local-steps $levels; done
    [ "${ONE:-1}" = 1 ] || continue
    go one$order $order
done

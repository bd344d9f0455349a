# runtime/comm on 1 to 4 ranks: values, order of sums, agreement, exchange, abort.
set -eu
check=$BUILD/tests-programs/comm_check

alone=$("$check" 1) # not under mpirun: no MPI is started
[ "$("$check" 1)" = "$alone" ]
command -v mpirun > /dev/null || { echo "there is no mpirun here"; exit 77; }
[ "$(mpirun --oversubscribe -np 1 "$check" 1)" = "$alone" ]
for ranks in 2 3 4; do
    first=$(mpirun --oversubscribe -np $ranks "$check" $ranks)
    second=$(mpirun --oversubscribe -np $ranks "$check" $ranks)
    echo "$ranks ranks: $first"
    case $first in digest*) ;; *) exit 1 ;; esac
    [ "$first" = "$second" ] || { echo "$ranks ranks: sums differ between runs: $second"; exit 1; }
done
rc=0
timeout 30 mpirun --oversubscribe -np 3 "$check" 3 abort > /dev/null 2>&1 || rc=$?
[ $rc -eq 4 ] || { echo "an abort with code 4 ended with $rc"; exit 1; }

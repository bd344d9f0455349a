#!/bin/bash
# tables_schwarz.sh [OUT.md]: the tables of section 5 of Magoules, Cheik Ahamed and Putanowicz (2015) on
# this machine: vector operations, sparse products and methods (s, iterations) on the 15 matrices
# of table 5, on the cores and on the CUDA device, and the libraries' times where there are some.
# penstock-spmv-bench is found by PATH or in $BUILD/bin. HOST=no leaves out the cores, MATRICES="0 14"
# takes these alone, ARGUMENTS go to the program (--precision fp32). What the program says is kept in
# KEEP where that is set, a file a matrix; a matrix that is there is not measured again. RECORDS=FILE
# gets the same figures of the device as records of bench/results.
set -eu
[ -z "${BUILD:-}" ] || PATH=$BUILD/bin:$PATH
work=${KEEP:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
host=--host
[ "${HOST:-yes}" = yes ] || host=--no-host
for m in ${MATRICES:-0 1 2 3 4 5 6 7 8 9 10 11 12 13 14}; do
    file=$work/$(printf %02d "$m")
    [ ! -s "$file" ] || continue
    # shellcheck disable=SC2086
    penstock-spmv-bench --gravi "$m" --no-stencil --least-time 0.02 $host ${ARGUMENTS:-} > "$file.part"
    mv "$file.part" "$file"
done

# One row a matrix: rows, entries, then the figures "section name" in the order of the arguments.
rows() {
    for file in "$work"/*; do
        awk -v wanted="$*" '
            NF == 1 { section = $1; next }
            { value[(/^ / ? section "." : "") $1] = $2 }
            END {
                printf "| %s | %s", value["rows"], value["entries"]
                count = split(wanted, name, " ")
                for (i = 1; i <= count; ++i)
                    printf " | %s", name[i] in value ? value[name[i]] : ""
                print " |"
            }' "$file"
    done
}
table() { # title, name of the section, what the libraries' figure is called
    printf '\n%s\n\n| rows | entries | cores | device | ratio | %s |\n|---|---|---|---|---|---|\n' "$1" "${3%_time}"
    rows "$2.time" "cuda_$2.time" "cuda_$2.ratio" "cuda_$2.$3"
}
{
    awk 'NF > 1 && $1 == "threads" { print "Cores: " $2 "." }
        NF == 1 { s = $1 } s == "device" && $1 == "name" { $1 = ""; print "Device:" $0 "." }' "$work"/* | sort -u
    table "Scaling x = a x, s" dscal cublas_time
    table "y = a x + y, s" daxpy cublas_time
    table "Element-wise product, s" element_wise cublas_time
    table "Dot product, s" dot cublas_time
    table "CSR product, s" spmv_csr cusparse_time
    for method in cg bicgstab bicgcr; do
        printf '\n%s to 1e-6, CSR, s\n\n' $method
        printf '| rows | entries | cores | iterations | device | iterations | ratio |\n|---|---|---|---|---|---|---|\n'
        rows "${method}_csr.time" "${method}_csr.iterations" "cuda_${method}_csr.time" \
            "cuda_${method}_csr.iterations" "cuda_${method}_csr.ratio"
    done
} > "${1:-/dev/stdout}"
[ -n "${RECORDS:-}" ] || exit 0

# A record for each matrix and operation. Floors: what must move, at the copy rate of an H200, 4.29 TB/s; vectors
# of a method 104, 184, 168 bytes a row and iteration in fp64 beside its products.
for file in "$work"/*; do
    awk -v revision="${REVISION:-$(penstock-spmv-bench --version | awk '{ print $NF }' | tr -d '()')}" '
        NF == 1 { section = $1; next }
        section == "device" && $1 == "name" { $1 = ""; sub(/^ /, ""); device = $0; next }
        { value[(/^ / ? section "." : "") $1] = $2 }
        function put(name, what, theirs, bytes,    time, beside) {
            time = 1e6 * value["cuda_" name ".time"]
            if (!time) return
            if (name ".iterations" in value || "cuda_" name ".iterations" in value)
                what = what ", " value["cuda_" name ".iterations"] " iterations"
            if (name ".time" in value) beside = sprintf("; cores %.6g us", 1e6 * value[name ".time"])
            if (theirs && ("cuda_" name "." theirs) in value)
                beside = beside sprintf("; %s %.6g us", theirs == "cusparse_time" ? "cuSPARSE" : "cuBLAS",
                    1e6 * value["cuda_" name "." theirs])
            printf "{\"case\": \"spmv-table/%s\", \"quantity\": \"%s, %s%s\", \"value\": %.6g, \"unit\": \"us\", ", \
                value["rows"], what, precision, beside, time
            printf "\"floor\": %.6g, \"fraction\": %.3f, \"size\": \"%s rows, %s entries\", ", bytes / 4.29e6, \
                bytes / 4.29e6 / time, value["rows"], value["entries"]
            printf "\"device\": \"%s\", \"revision\": \"%s\"}\n", device, revision
        }
        function count(name) { return value["cuda_" name ".iterations"] }
        END {
            precision = value["device.precision"]
            size = precision == "fp32" ? 4 : 8
            n = value["rows"]
            product = (4 + size) * value["entries"] + (8 + 2 * size) * n
            put("dscal", "scaling", "cublas_time", 2 * size * n)
            put("daxpy", "y = a x + y", "cublas_time", 3 * size * n)
            put("element_wise", "element-wise product", "cublas_time", 3 * size * n)
            put("dot", "dot product", "cublas_time", 2 * size * n)
            put("spmv_csr", "CSR product", "cusparse_time", product)
            put("cg_csr", "P-CG, CSR", "", count("cg_csr") * (product + 13 * size * n))
            put("bicgstab_csr", "BiCGStab, CSR", "", count("bicgstab_csr") * (2 * product + 23 * size * n))
            put("bicgcr_csr", "P-BiCGCR, CSR", "", count("bicgcr_csr") * (product + 21 * size * n))
        }' "$file"
done > "$RECORDS"

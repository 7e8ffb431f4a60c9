#!/bin/sh
# Lists the files of the landing zone with their sizes and POSIX checksums.
# By hand: MUSTER_OUT=out sh inventory.sh
set -eu

here=${MUSTER_LOCATION:-$(cd "$(dirname "$0")" && pwd)}
out=${MUSTER_OUT:-out}

mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here/../data"
find . -type f \( -name '*.csv' -o -name '*.gz' \) -exec cksum {} + | LC_ALL=C sort -k 3 | awk -v limit="${MUSTER_LIMIT:-0}" '
    BEGIN { OFS = "\t"; print "file", "bytes", "checksum" }
    limit + 0 > 0 && NR > limit + 0 { exit }
    { file = $0; sub(/^[0-9]+ [0-9]+ \.\//, "", file); print file, $2, $1 }
' > "$out/inventory.tsv"

echo "listed $(($(wc -l < "$out/inventory.tsv") - 1)) files"

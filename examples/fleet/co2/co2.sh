#!/bin/sh
# Publishes the weekly carbon dioxide record up to the slot's day of the year 2001, its last, and the means by year.
# By hand: MUSTER_OUT=out sh co2.sh [--date 2013-02-05]
set -eu

here=${MUSTER_LOCATION:-$(cd "$(dirname "$0")" && pwd)}
out=${MUSTER_OUT:-out}
since=${MUSTER_PARAM_SINCE:-1958}
day=${MUSTER_SLOT:-$(date -u +%Y-%m-%d)}
if [ "${1:-}" = --date ]; then
    day=$2
fi
month_and_day=$(printf '%s' "$day" | cut -c 6-7,9-10)

mkdir -p "$out"
awk -F , -v first="${since}0000" -v last="2001$month_and_day" -v limit="${MUSTER_LIMIT:-0}" '
    BEGIN { print "week,ppm" }
    NR == 1 || $1 + 0 < first + 0 || $1 + 0 > last + 0 { next }
    limit + 0 > 0 && ++rows > limit + 0 { exit }
    { print substr($1, 1, 4) "-" substr($1, 5, 2) "-" substr($1, 7, 2) "," $2 }
' "$here/../data/co2.csv" > "$out/weekly.csv"

awk -F , '
    BEGIN { print "year,weeks,mean_ppm" }
    NR == 1 || $2 == "" { next }
    { year = substr($1, 1, 4); if (!(year in weeks)) order[++years] = year; weeks[year]++; sum[year] += $2 }
    END { for (i = 1; i <= years; i++) printf "%s,%d,%.2f\n", order[i], weeks[order[i]], sum[order[i]] / weeks[order[i]] }
' "$out/weekly.csv" > "$out/yearly.csv"

echo "wrote $(($(wc -l < "$out/weekly.csv") - 1)) weeks and $(($(wc -l < "$out/yearly.csv") - 1)) years"

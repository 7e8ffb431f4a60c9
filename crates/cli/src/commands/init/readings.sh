#!/bin/sh
# Keeps the readings between -60 and 60 degrees; a missing one stays missing.
set -eu
awk -F, 'NR == 1 || $3 == "" || ($3 >= -60 && $3 <= 60)' data/readings.csv > "$MUSTER_OUT/readings.csv"
echo "$(($(wc -l < "$MUSTER_OUT/readings.csv") - 1)) readings kept of $(($(wc -l < data/readings.csv) - 1))"

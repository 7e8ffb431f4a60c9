#!/usr/bin/env python3
"""Publishes the reference table of airports as JSON Lines, numbers as numbers."""

import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402


def airport(row):
    numbers = {name: float(row[name]) for name in ("elevation", "lat", "lon")}
    return {**{name: value or None for name, value in row.items()}, **numbers}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--country", default=os.environ.get("MUSTER_PARAM_COUNTRY", "all"))
    country = parser.parse_args().country
    rows = [airport(row) for row in landing.read_rows("airports.csv.gz") if country in ("all", row["country"])]
    landing.write_json_lines("airports.jsonl", sorted(rows, key=lambda row: row["iata"]))


if __name__ == "__main__":
    main()

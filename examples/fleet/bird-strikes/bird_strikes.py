#!/usr/bin/env python3
"""Lands twelve months of bird strike reports and counts them by month. Nothing is mended on the way."""

import argparse
import collections
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

NAMES = {
    "flight_date": "Flight Date",
    "airport": "Airport Name",
    "state": "Origin State",
    "operator": "Aircraft Airline Operator",
    "aircraft": "Aircraft Make Model",
    "phase": "Phase of flight",
    "time_of_day": "Time of day",
    "species": "Wildlife Species",
    "size": "Wildlife Size",
    "damage": "Effect Amount of damage",
    "cost_usd": "Cost Total $",
    "speed_knots": "Speed IAS in knots",
}


def by_month(strikes):
    counts, damaging = collections.Counter(), collections.Counter()
    for strike in strikes:
        month = strike["flight_date"][:7]
        counts[month] += 1
        damaging[month] += strike["damage"] != "None"
    return [{"month": month, "strikes": counts[month], "damaging": damaging[month]} for month in sorted(counts)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    landing.add_date(parser)
    reports = landing.bird_strikes(parser.parse_args().date)
    strikes = [{ours: row[theirs] for ours, theirs in NAMES.items()} for row in reports]
    landing.write_csv("strikes.csv", list(NAMES), strikes)
    landing.write_csv("by-month.csv", ["month", "strikes", "damaging"], by_month(strikes))


if __name__ == "__main__":
    main()

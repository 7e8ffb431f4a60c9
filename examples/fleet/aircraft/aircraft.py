#!/usr/bin/env python3
"""Matches the aircraft of one day of departures with the register of aircraft."""

import argparse
import collections
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

COLUMNS = ["tailnum", "flights", "miles", "manufacturer", "model", "engines", "seats", "speed", "built", "age_years"]


def flown(rows):
    """Flights and miles of each aircraft; a cancelled flight moves none, and often names none."""
    flights, miles = collections.Counter(), collections.Counter()
    for row in rows:
        if row["dep_time"] and row["tailnum"]:
            flights[row["tailnum"]] += 1
            miles[row["tailnum"]] += int(row["distance"])
    return flights, miles


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    landing.add_date(parser)
    day = landing.service_day(parser.parse_args().date)

    register = {row["tailnum"]: row for row in landing.read_rows("aircraft.csv.gz")}
    flights, miles = flown(landing.flights(day))
    rows = []
    for tail in sorted(flights):
        known = register.get(tail, {})
        built = known.get("year")
        rows.append({
            "tailnum": tail,
            "flights": flights[tail],
            "miles": miles[tail],
            **{name: known.get(name, "") for name in ("manufacturer", "model", "engines", "seats", "speed")},
            "built": built,
            "age_years": day.year - int(built) if built else "",
        })
    print(f"{sum(tail not in register for tail in flights)} of {len(flights)} aircraft are not in the register")
    landing.write_csv("aircraft.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()

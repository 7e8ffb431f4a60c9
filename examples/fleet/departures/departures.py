#!/usr/bin/env python3
"""Lands one day of departures from Newark, Kennedy and LaGuardia as a clean table."""

import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

COLUMNS = [
    "date", "sched_dep_time", "dep_time", "dep_delay", "arr_delay", "carrier", "flight", "tailnum",
    "origin", "dest", "air_time", "distance",
]


def departure(day, row):
    """One row of the feed in our columns: clock times as `HH:MM`, delays and air time in minutes, distance in miles."""
    times = {name: landing.clock(row[name]) for name in ("sched_dep_time", "dep_time")}
    return {**{name: row[name] for name in COLUMNS if name != "date"}, "date": day, **times}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    landing.add_date(parser)
    parser.add_argument("--airport", choices=["all", "EWR", "JFK", "LGA"], default="all")
    arguments = parser.parse_args()

    day = landing.service_day(arguments.date)
    rows = [departure(day, row) for row in landing.flights(day) if arguments.airport in ("all", row["origin"])]
    cancelled = sum(not row["dep_time"] for row in rows)
    print(f"{arguments.date} replays {day:%A %d %B %Y}: {len(rows)} departures, {cancelled} cancelled")
    landing.write_csv("departures.csv", COLUMNS, rows)


if __name__ == "__main__":
    main()

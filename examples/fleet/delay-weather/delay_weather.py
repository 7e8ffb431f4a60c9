#!/usr/bin/env python3
"""Joins departures and weather by airport and scheduled hour, and compares the hours by what the sky was like."""

import argparse
import collections
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

TRAFFIC = ["flights", "cancelled", "cancelled_share", "mean_delay"]
SKY = ["condition", "wind_kmh", "visibility_km", "precipitation_in"]


def traffic(rows):
    """What became of the flights of one hour or one condition; delays in minutes, over those that left."""
    cancelled = sum(not row["dep_time"] for row in rows)
    return {
        "flights": len(rows),
        "cancelled": cancelled,
        "cancelled_share": landing.share(cancelled, len(rows)),
        "mean_delay": landing.mean([int(row["dep_delay"]) for row in rows if row["dep_delay"]]),
    }


def sky(observed):
    """The weather of one hour, named after what hinders traffic most; an hour without observation is `unknown`."""
    if observed is None:
        return {"condition": "unknown", "wind_kmh": "", "visibility_km": "", "precipitation_in": ""}
    wind = round(landing.kilometres(observed["wind_speed"]), 1)
    visibility = round(landing.kilometres(observed["visib"]), 1)
    precipitation = float(observed["precip"])
    if visibility < 5:
        condition = "poor sight"
    elif precipitation > 0:
        condition = "rain or snow"
    elif wind >= 40:
        condition = "strong wind"
    else:
        condition = "fair"
    return {"condition": condition, "wind_kmh": wind, "visibility_km": visibility, "precipitation_in": precipitation}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    landing.add_date(parser)
    parser.add_argument("--days", type=int, default=7)
    arguments = parser.parse_args()

    days = landing.days_up_to(arguments.date, arguments.days)
    observed = {(row["origin"], row["time_hour"]): row for row in landing.weather(days)}
    by_hour, by_condition = collections.defaultdict(list), collections.defaultdict(list)
    for day in days:
        for row in landing.flights(day):
            by_hour[row["origin"], row["time_hour"]].append(row)

    hours = []
    for (origin, hour), rows in sorted(by_hour.items()):
        conditions = sky(observed.get((origin, hour)))
        by_condition[conditions["condition"]] += rows
        hours.append({"origin": origin, "hour": hour, **traffic(rows), **conditions})
    landing.write_csv("hours.csv", ["origin", "hour", *TRAFFIC, *SKY], hours)
    compared = [{"condition": name, **traffic(rows)} for name, rows in sorted(by_condition.items())]
    landing.write_csv("conditions.csv", ["condition", *TRAFFIC], compared)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Lands the earthquakes of the last hours from the all-magnitudes feed."""

import argparse
import datetime
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

ASK_AGAIN = 75
COLUMNS = [
    "id", "time", "magnitude", "magnitude_type", "place", "latitude", "longitude", "depth_km", "felt", "alert",
    "status", "kind", "recorded",
]


def is_turned_away():
    """The feed grants a call to who has waited: the first attempt gets `429`. Run by hand there is no attempt, and no queue."""
    return os.environ.get("MUSTER_ATTEMPT") == "1"


def event(replayed, recorded, feature):
    """One event in our columns; `time` is when the replay puts it, `recorded` when it really happened."""
    properties = feature["properties"]
    longitude, latitude, depth = feature["geometry"]["coordinates"]
    return {
        "id": feature["id"],
        "time": timestamp(replayed),
        "magnitude": properties["mag"],
        "magnitude_type": properties["magType"],
        "place": properties["place"],
        "latitude": latitude,
        "longitude": longitude,
        "depth_km": depth,
        "felt": properties["felt"],
        "alert": properties["alert"],
        "status": properties["status"],
        "kind": properties["type"],
        "recorded": timestamp(recorded),
    }


def timestamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def end_of(text):
    """The end of a day: what happened on it lies in the 24 hours before."""
    return landing.instant(text) + datetime.timedelta(days=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--until", type=landing.instant, default=landing.nominal_time(), help="default: the slot, else now")
    end.add_argument("--date", type=end_of, dest="until", help="the 24 hours of this day instead")
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--magnitude", type=float, default=-1)
    arguments = parser.parse_args()

    if is_turned_away():
        print("429 Too Many Requests: the feed asks to come back in a moment", file=sys.stderr)
        return ASK_AGAIN
    events = [event(*found) for found in landing.earthquakes(arguments.until, arguments.hours)]
    events = [row for row in events if row["magnitude"] is None or row["magnitude"] >= arguments.magnitude]
    landing.write_csv("quakes.csv", COLUMNS, events)
    felt = [row for row in events if row["felt"]]
    if felt:
        landing.write_json_lines("felt.jsonl", felt)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Ranks the airlines by the share of flights that arrived less than a quarter of an hour late."""

import argparse
import collections
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

LATE_MINUTES = 15
COLUMNS = ["rank", "carrier", "flights", "cancelled", "on_time_share", "mean_delay", "late_tenth"]


def late_tenth(delays):
    """The delay, in minutes, that one flight in ten exceeds."""
    return sorted(delays)[len(delays) * 9 // 10] if delays else ""


def score(carrier, rows):
    """A cancelled flight was not on time; one that landed elsewhere has no arrival and counts as late."""
    delays = [int(row["arr_delay"]) for row in rows if row["arr_delay"]]
    return {
        "carrier": carrier,
        "flights": len(rows),
        "cancelled": sum(not row["dep_time"] for row in rows),
        "on_time_share": landing.share(sum(delay < LATE_MINUTES for delay in delays), len(rows)),
        "mean_delay": landing.mean(delays),
        "late_tenth": late_tenth(delays),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    landing.add_date(parser)
    parser.add_argument("--days", type=int, default=7)
    arguments = parser.parse_args()

    by_carrier = collections.defaultdict(list)
    for day in landing.days_up_to(arguments.date, arguments.days):
        for row in landing.flights(day):
            by_carrier[row["carrier"]].append(row)
    scores = [score(carrier, rows) for carrier, rows in by_carrier.items()]
    scores.sort(key=lambda row: (-row["on_time_share"], row["carrier"]))
    landing.write_csv("scoreboard.csv", COLUMNS, [{"rank": rank, **row} for rank, row in enumerate(scores, 1)])


if __name__ == "__main__":
    main()

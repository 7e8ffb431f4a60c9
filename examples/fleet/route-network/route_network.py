#!/usr/bin/env python3
"""Draws the network of routes and holds each reported distance against the great circle between the airports."""

import argparse
import collections
import json
import math
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

EARTH_RADIUS_MILES = 3958.8
COLUMNS = [
    "origin", "dest", "airport", "country", "flights", "carriers", "cancelled_share", "mean_air_time", "miles",
    "great_circle_miles", "off_by_percent",
]


def great_circle(start, end):
    """Miles between two airports over a round Earth (haversine)."""
    latitude, longitude, to_latitude, to_longitude = (
        math.radians(float(number)) for number in (start["lat"], start["lon"], end["lat"], end["lon"])
    )
    half_chord = (
        math.sin((to_latitude - latitude) / 2) ** 2
        + math.cos(latitude) * math.cos(to_latitude) * math.sin((to_longitude - longitude) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_MILES * math.asin(math.sqrt(half_chord))


def route(origin, dest, rows, airports):
    """One route; an airport that the reference table does not know leaves its columns empty."""
    miles = int(rows[0]["distance"])
    known = airports.get(dest)
    circle = great_circle(airports[origin], known) if known else None
    return {
        "origin": origin,
        "dest": dest,
        "airport": known["name"] if known else "",
        "country": known["country"] if known else "",
        "flights": len(rows),
        "carriers": len({row["carrier"] for row in rows}),
        "cancelled_share": landing.share(sum(not row["dep_time"] for row in rows), len(rows)),
        "mean_air_time": landing.mean([int(row["air_time"]) for row in rows if row["air_time"]]),
        "miles": miles,
        "great_circle_miles": round(circle) if circle else "",
        "off_by_percent": round((miles - circle) / circle * 100, 2) if circle else "",
    }


def feature(row, airports):
    """One route as a line on the map."""
    ends = [airports[row["origin"]], airports[row["dest"]]]
    return {
        "type": "Feature",
        "properties": {name: row[name] for name in ("origin", "dest", "flights")},
        "geometry": {"type": "LineString", "coordinates": [[float(end["lon"]), float(end["lat"])] for end in ends]},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    landing.add_date(parser)
    parser.add_argument("--days", type=int, default=28)
    arguments = parser.parse_args()

    airports = {row["iata"]: row for row in landing.read_rows("airports.csv.gz")}
    by_route = collections.defaultdict(list)
    for day in landing.days_up_to(arguments.date, arguments.days):
        for row in landing.flights(day):
            by_route[row["origin"], row["dest"]].append(row)
    routes = [route(origin, dest, rows, airports) for (origin, dest), rows in sorted(by_route.items())]
    landing.write_csv("routes.csv", COLUMNS, routes)
    features = [feature(row, airports) for row in landing.capped(routes) if row["airport"]]
    landing.write_text("network.geojson", json.dumps({"type": "FeatureCollection", "features": features}) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Lands one day of hourly airport weather, in metric units."""

import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

COLUMNS = [
    "origin", "time_hour", "temp_c", "dew_point_c", "humidity", "wind_dir", "wind_kmh", "gust_kmh",
    "precipitation_mm", "pressure_hpa", "visibility_km",
]


def converted(number, convert):
    return round(convert(number), 1) if number else ""


def millimetres(inches):
    return float(inches) * 25.4


def observation(row):
    return {
        "origin": row["origin"],
        "time_hour": row["time_hour"],
        "temp_c": converted(row["temp"], landing.celsius),
        "dew_point_c": converted(row["dewp"], landing.celsius),
        "humidity": row["humid"],
        "wind_dir": row["wind_dir"],
        "wind_kmh": converted(row["wind_speed"], landing.kilometres),
        "gust_kmh": converted(row["wind_gust"], landing.kilometres),
        "precipitation_mm": converted(row["precip"], millimetres),
        "pressure_hpa": row["pressure"],
        "visibility_km": converted(row["visib"], landing.kilometres),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    landing.add_date(parser)
    day = landing.service_day(parser.parse_args().date)
    landing.write_csv("weather.csv", COLUMNS, [observation(row) for row in landing.weather([day])])


if __name__ == "__main__":
    main()

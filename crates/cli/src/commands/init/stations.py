"""Mean, lowest and highest temperature by station."""

import argparse
import csv
import os
from collections import defaultdict
from pathlib import Path

arguments = argparse.ArgumentParser()
arguments.add_argument("--unit", choices=["celsius", "fahrenheit"], default="celsius")
unit = arguments.parse_args().unit

readings = defaultdict(list)
with open("data/readings.csv", newline="") as file:
    for row in csv.DictReader(file):
        if row["temperature"] and abs(float(row["temperature"])) <= 60:
            celsius = float(row["temperature"])
            readings[row["station"]].append(celsius if unit == "celsius" else celsius * 9 / 5 + 32)

# MUSTER_LIMIT is set where somebody asked for a smaller scope: muster run stations --limit 2
limit = int(os.environ.get("MUSTER_LIMIT", len(readings)))
out = Path(os.environ.get("MUSTER_OUT", "."))
with open(out / "stations.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["station", "readings", "mean", "lowest", "highest"])
    for station in sorted(readings)[:limit]:
        values = readings[station]
        mean = round(sum(values) / len(values), 1)
        table.writerow([station, len(values), mean, round(min(values), 1), round(max(values), 1)])
        print(f"{station}: {mean} degrees {unit} on average")

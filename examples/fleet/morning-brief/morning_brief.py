#!/usr/bin/env python3
"""Writes the morning brief: traffic, weather, earthquakes and bird strikes of one day in a few sentences."""

import argparse
import datetime
import os
import pathlib
import sys

HERE = pathlib.Path(os.environ.get("MUSTER_LOCATION") or pathlib.Path(__file__).resolve().parent)
sys.path.append(str(HERE.parent))
import landing  # noqa: E402

STRONGEST_WIND = 200  # km/h; what an instrument says beyond that is the instrument, not the wind

STORY = """# Morning brief for {date}

New York replays {day}: {departures} departures, {cancelled} of them cancelled, {delay} minutes late on average.
{airport} had the most cancellations.

At the airports it was {coldest} to {warmest} degrees Celsius, with a wind of up to {wind} km/h.

{quakes} earthquakes in 24 hours, the strongest of magnitude {magnitude}: {place}.

{strikes} bird strikes were reported in the twelve months before, {damaging} with damage.
"""


def traffic(day):
    flights = landing.flights(day)
    lost = [row["origin"] for row in flights if not row["dep_time"]]
    return {
        "departures": len(flights),
        "cancelled": len(lost),
        "delay": landing.mean([int(row["dep_delay"]) for row in flights if row["dep_delay"]]),
        "airport": max(sorted(set(lost)), key=lost.count) if lost else "None",
    }


def weather(day):
    hours = landing.weather([day])
    degrees = [landing.celsius(row["temp"]) for row in hours]
    winds = [landing.kilometres(row["wind_speed"]) for row in hours]
    return {
        "coldest": round(min(degrees), 1),
        "warmest": round(max(degrees), 1),
        "wind": round(max(wind for wind in winds if wind <= STRONGEST_WIND)),
    }


def earthquakes(date):
    """What happened in the 24 hours before the day ended."""
    end = datetime.datetime.combine(date, datetime.time(), landing.UTC) + datetime.timedelta(days=1)
    events = [found["properties"] for _, _, found in landing.earthquakes(end, 24)]
    strongest = max(events, key=lambda event: event["mag"] or 0)
    return {"quakes": len(events), "magnitude": strongest["mag"], "place": strongest["place"]}


def bird_strikes(date):
    reports = landing.bird_strikes(date)
    return {"strikes": len(reports), "damaging": sum(row["Effect Amount of damage"] != "None" for row in reports)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    landing.add_date(parser)
    date = parser.parse_args().date
    day = landing.service_day(date)

    figures = {**traffic(day), **weather(day), **earthquakes(date), **bird_strikes(date)}
    numbers = [(name, value) for name, value in figures.items() if not isinstance(value, str)]
    story = STORY.format(date=date, day=f"{day:%A} {day.day} {day:%B %Y}", **figures)
    landing.write_text("brief.md", story)
    landing.write_csv("figures.csv", ["figure", "value"], [{"figure": name, "value": value} for name, value in numbers])
    print(story, end="")


if __name__ == "__main__":
    main()

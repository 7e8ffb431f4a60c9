"""The team's landing zone: what lies under `data/`, read as if it arrived day by day.

The files are real and old, and a fleet runs today. So any day is *replayed*: New York's departures and weather hold
70 days (1 January to 11 March 2013, ten whole weeks), and a day outside them stands for the one a whole number of
70-day rounds away. Weekdays are kept, one day follows the other, and a day inside the window is itself.
"""

import argparse
import csv
import datetime
import gzip
import io
import json
import os
import pathlib
import re

DATA = pathlib.Path(__file__).resolve().parent / "data"
FIRST_DAY = datetime.date(2013, 1, 1)
DAYS = 70
LAST_STRIKE = datetime.date(2002, 7, 25)
WEEK = datetime.timedelta(days=7)
UTC = datetime.timezone.utc
KILOMETRES_PER_MILE = 1.609344


def service_day(day):
    """The day of 2013 whose traffic stands for `day`."""
    return FIRST_DAY + datetime.timedelta(days=(day - FIRST_DAY).days % DAYS)


def days_up_to(day, count):
    """The service days of the `count` days that end with `day`, oldest first."""
    return [service_day(day - datetime.timedelta(days=back)) for back in reversed(range(count))]


def instant(text):
    """A moment from RFC 3339 text, or midnight UTC of a date. Python 3.10 reads neither `Z` nor nanoseconds itself."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d:\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2013-02-05 or a time such as 2013-02-05T06:00:00Z")
    date, time, zone = match.groups()
    offset = "+00:00" if zone in (None, "Z", "z") else zone
    return datetime.datetime.fromisoformat(f"{date}T{time or '00:00:00'}{offset}").astimezone(UTC)


def nominal_time():
    """The moment this execution is for: its slot, or now when it is run by hand."""
    slot = os.environ.get("MUSTER_SLOT")
    return instant(slot) if slot else datetime.datetime.now(UTC)


def add_date(parser):
    parser.add_argument(
        "--date",
        type=lambda text: instant(text).date(),
        default=nominal_time().date(),
        help="the day to work on (default: the slot's, else today)",
    )


def capped(rows):
    """The rows a capped run may write: `MUSTER_LIMIT` is set only to try a unit on little data."""
    limit = os.environ.get("MUSTER_LIMIT")
    return rows[: int(limit)] if limit else rows


def read_rows(name):
    with gzip.open(DATA / name, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def flights(day):
    """The departures of one service day; a cancelled flight has no `dep_time`, `dep_delay`, `arr_delay`."""
    return read_rows(f"departures/{day}.csv.gz")


def weather(days):
    """Hourly weather of the airports over whole service days, local time; some hours are missing."""
    firsts = {str(day) for day in days}
    return [row for row in read_rows("weather.csv.gz") if local_day(row["time_hour"]) in firsts]


def local_day(time_hour):
    """The New York date of a UTC hour of the window (EST; daylight saving began on 10 March 2013)."""
    moment = instant(time_hour)
    hours = 4 if moment >= datetime.datetime(2013, 3, 10, 7, tzinfo=UTC) else 5
    return str((moment - datetime.timedelta(hours=hours)).date())


def earthquakes(until, hours):
    """The events of the `hours` up to `until`, newest first. One recorded week repeats, moved by whole weeks."""
    start = until - datetime.timedelta(hours=hours)
    events = []
    for feature in json.loads(gzip.decompress((DATA / "earthquakes.geojson.gz").read_bytes()))["features"]:
        recorded = datetime.datetime.fromtimestamp(feature["properties"]["time"] / 1000, UTC)
        replayed = recorded + (until - recorded) // WEEK * WEEK
        while replayed > start:
            events.append((replayed, recorded, feature))
            replayed -= WEEK
    return sorted(events, key=lambda event: event[0], reverse=True)


def strike_day(day):
    """The day of the bird strike register's last year that stands for `day`: the same day of the calendar."""
    year = LAST_STRIKE.year if (day.month, day.day) <= (LAST_STRIKE.month, LAST_STRIKE.day) else LAST_STRIKE.year - 1
    return datetime.date(year, day.month, min(day.day, 28) if day.month == 2 else day.day)


def bird_strikes(day):
    """The reports of the twelve months up to `day`'s stand-in, as they were entered."""
    last = strike_day(day)
    first = datetime.date(last.year - 1, last.month, last.day)
    return [row for row in read_rows("birdstrikes.csv.gz") if str(first) < row["Flight Date"] <= str(last)]


def clock(number):
    """`517` as `05:17`; midnight is written 2400 at the end of a day; nothing stays nothing."""
    return f"{int(number) // 100 % 24:02}:{int(number) % 100:02}" if number else ""


def celsius(fahrenheit):
    return (float(fahrenheit) - 32) / 1.8


def kilometres(miles):
    return float(miles) * KILOMETRES_PER_MILE


def mean(numbers):
    """The mean to two decimals, or nothing for no numbers."""
    return round(sum(numbers) / len(numbers), 2) if numbers else ""


def share(part, whole):
    return round(part / whole, 4) if whole else ""


def write_text(name, text):
    """Writes one artifact into `MUSTER_OUT`, or into `out` when the unit is run by hand."""
    folder = pathlib.Path(os.environ.get("MUSTER_OUT") or "out")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8", newline="\n")


def write_csv(name, columns, rows):
    rows = capped(list(rows))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(name, text.getvalue())
    print(f"wrote {len(rows)} rows to {name}")


def write_json_lines(name, rows):
    rows = capped(list(rows))
    write_text(name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"wrote {len(rows)} rows to {name}")

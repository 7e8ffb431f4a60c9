"""Every unit of the fleet, run by hand as its author would: `python3 -m unittest test_units.py` (standard library only).

No control process is needed. Each test states what the real data holds on the days it picks.
"""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FLEET = pathlib.Path(__file__).resolve().parent
COMMITTED_BYTES = 3_000_000
TUESDAY, STORM = "2013-02-05", "2013-02-08"


class UnitTest(unittest.TestCase):
    """Runs units in a folder of their own; the environment holds only what a test gives."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "artifacts"

    def attempt(self, program, *arguments, **environment):
        command = [sys.executable if program.endswith(".py") else "sh", str(FLEET / program), *arguments]
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        fixed = {"MUSTER_OUT": str(self.out), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            command, cwd=self.folder, env={**kept, **fixed, **environment}, capture_output=True, text=True, timeout=30
        )

    def run_unit(self, program, *arguments, **environment):
        done = self.attempt(program, *arguments, **environment)
        self.assertEqual(done.returncode, 0, f"{program} {arguments}: {done.stderr}")
        return done

    def table(self, name):
        with open(self.out / name, encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines, delimiter="\t" if name.endswith(".tsv") else ","))

    def lines(self, name):
        return [json.loads(line) for line in (self.out / name).read_text(encoding="utf-8").splitlines()]

    def assert_key(self, rows, *columns):
        self.assertEqual(len({tuple(row[column] for column in columns) for row in rows}), len(rows), f"{columns} repeats")


def nulls(rows, column):
    return sum(row[column] == "" for row in rows)


class Departures(UnitTest):
    def test_an_ordinary_tuesday_is_nearly_complete(self):
        self.run_unit("departures/departures.py", "--date", TUESDAY)
        rows = self.table("departures.csv")
        self.assertEqual(len(rows), 896)
        self.assertEqual(nulls(rows, "dep_time"), 16)
        self.assertEqual(
            list(rows[0]),
            "date sched_dep_time dep_time dep_delay arr_delay carrier flight tailnum origin dest air_time distance".split(),
        )
        self.assertEqual({row["origin"] for row in rows}, {"EWR", "JFK", "LGA"})
        self.assert_key(rows, "date", "carrier", "flight", "origin")
        self.assertTrue(all(re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", row["sched_dep_time"]) for row in rows))

    def test_a_storm_cancels_half_of_the_day(self):
        self.run_unit("departures/departures.py", "--date", STORM)
        rows = self.table("departures.csv")
        self.assertEqual((len(rows), nulls(rows, "dep_time"), nulls(rows, "dep_delay")), (930, 472, 472))

    def test_midnight_is_written_as_the_start_of_a_day(self):
        self.run_unit("departures/departures.py", "--date", "2013-02-07")
        left = {row["flight"]: row["dep_time"] for row in self.table("departures.csv")}
        self.assertEqual((left["727"], left["739"]), ("00:00", "00:00"))

    def test_one_airport_is_a_part_of_all(self):
        self.run_unit("departures/departures.py", "--date", TUESDAY, "--airport", "JFK")
        self.assertEqual({row["origin"] for row in self.table("departures.csv")}, {"JFK"})

    def test_a_day_of_today_replays_the_same_weekday(self):
        for offset, weekday in [("2026-03-02", "Monday"), ("2026-03-03", "Tuesday"), ("2031-08-24", "Sunday")]:
            said = self.run_unit("departures/departures.py", "--date", offset).stdout
            self.assertIn(f"replays {weekday}", said)

    def test_the_slot_is_the_default_date(self):
        said = self.run_unit("departures/departures.py", MUSTER_SLOT="2013-02-04T23:30:00.123456789-05:00").stdout
        self.assertTrue(said.startswith("2013-02-05 replays Tuesday 05 February 2013"), said)

    def test_a_run_without_slot_or_date_has_a_whole_day(self):
        self.run_unit("departures/departures.py")
        self.assertGreater(len(self.table("departures.csv")), 600)

    def test_a_capped_run_writes_no_more_than_its_cap(self):
        self.run_unit("departures/departures.py", "--date", TUESDAY, MUSTER_LIMIT="10")
        self.assertEqual(len(self.table("departures.csv")), 10)

    def test_a_date_that_is_none_is_refused(self):
        done = self.attempt("departures/departures.py", "--date", "yesterday")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'yesterday' is not a date", done.stderr)


class Weather(UnitTest):
    def test_a_day_is_24_hours_at_three_airports(self):
        self.run_unit("weather/weather.py", "--date", TUESDAY)
        rows = self.table("weather.csv")
        self.assertEqual(len(rows), 72)
        self.assert_key(rows, "origin", "time_hour")
        self.assertGreater(nulls(rows, "gust_kmh"), 36)
        self.assertEqual(nulls(rows, "temp_c"), 0)

    def test_the_impossible_wind_is_published_as_it_came(self):
        self.run_unit("weather/weather.py", "--date", "2013-02-12")
        self.assertEqual(max(float(row["wind_kmh"]) for row in self.table("weather.csv")), 1687.2)


class Quakes(UnitTest):
    def test_the_first_attempt_is_turned_away_and_the_second_served(self):
        first = self.attempt("quakes/quakes.py", MUSTER_ATTEMPT="1")
        self.assertEqual(first.returncode, 75)
        self.assertIn("429 Too Many Requests", first.stderr)
        self.assertFalse(self.out.exists(), "a refused attempt leaves nothing behind")
        self.run_unit("quakes/quakes.py", MUSTER_ATTEMPT="2")
        self.assertGreater(len(self.table("quakes.csv")), 100)

    def test_any_slot_has_fresh_events_of_the_24_hours_before(self):
        self.run_unit("quakes/quakes.py", MUSTER_SLOT="2026-03-02T06:00:00Z")
        rows = self.table("quakes.csv")
        self.assert_key(rows, "id")
        self.assertGreater(min(row["time"] for row in rows), "2026-03-01T06:00:00Z")
        self.assertLessEqual(max(row["time"] for row in rows), "2026-03-02T06:00:00Z")
        self.assertGreater(max(row["time"] for row in rows), "2026-03-02T05:00:00Z")
        self.assertTrue(all(row["recorded"].startswith("2018-") for row in rows))

    def test_a_day_of_the_recorded_week_is_itself(self):
        self.run_unit("quakes/quakes.py", "--date", "2018-02-02", "--magnitude", "-2")
        rows = self.table("quakes.csv")
        self.assertEqual(len(rows), 242)
        self.assertTrue(all(row["time"] == row["recorded"] for row in rows))
        felt = self.lines("felt.jsonl")
        self.assertTrue(felt and all(row["felt"] >= 1 for row in felt))

    def test_a_week_is_the_whole_recording(self):
        self.run_unit("quakes/quakes.py", "--hours", "168", "--magnitude", "-2")
        self.assertEqual(len(self.table("quakes.csv")), 1707)


class BirdStrikes(UnitTest):
    def test_reports_are_published_with_their_gaps(self):
        self.run_unit("bird-strikes/bird_strikes.py", "--date", TUESDAY)
        rows = self.table("strikes.csv")
        self.assertGreater(len(rows), 1000)
        self.assertGreater(nulls(rows, "speed_knots") / len(rows), 0.25)
        self.assertEqual(nulls(rows, "flight_date"), 0)
        self.assertGreater(len(rows), len({tuple(row.values()) for row in rows}), "some reports are in twice")
        self.assertEqual(sum(int(row["strikes"]) for row in self.table("by-month.csv")), len(rows))

    def test_a_leap_day_has_a_stand_in(self):
        self.run_unit("bird-strikes/bird_strikes.py", "--date", "2028-02-29")
        self.assertEqual(max(row["flight_date"] for row in self.table("strikes.csv"))[:7], "2002-02")


class ReferenceData(UnitTest):
    def test_airports_keep_namibia(self):
        self.run_unit("airports/airports.py")
        rows = self.lines("airports.jsonl")
        self.assertEqual(len(rows), 7884)
        self.assert_key(rows, "iata")
        self.assertIn("NA", {row["country"] for row in rows})
        self.assertTrue(all(row["country"] for row in rows))

    def test_airports_of_one_country(self):
        self.run_unit("airports/airports.py", MUSTER_PARAM_COUNTRY="NA")
        self.assertEqual({row["tz"] for row in self.lines("airports.jsonl")}, {"Africa/Windhoek"})

    def test_aircraft_are_counted_and_some_unknown(self):
        self.run_unit("aircraft/aircraft.py", "--date", TUESDAY)
        rows = self.table("aircraft.csv")
        self.assert_key(rows, "tailnum")
        self.assertEqual(sum(int(row["flights"]) for row in rows), 896 - 16)
        self.assertTrue(0.05 < nulls(rows, "model") / len(rows) < 0.3)

    def test_the_carbon_dioxide_record_ends_on_the_day(self):
        self.run_unit("co2/co2.sh", "--date", TUESDAY)
        weeks, years = self.table("weekly.csv"), self.table("yearly.csv")
        self.assertEqual(list(weeks[0].items()), [("week", "1958-03-29"), ("ppm", "316.1")])
        self.assertEqual(weeks[-1]["week"], "2001-02-03")
        self.assertEqual(nulls(weeks, "ppm"), 59)
        self.assertEqual([years[0]["year"], years[-1]["year"], len(years)], ["1958", "2001", 44])

    def test_the_carbon_dioxide_record_takes_parameter_slot_and_cap(self):
        environment = {"MUSTER_PARAM_SINCE": "1990", "MUSTER_SLOT": "2026-03-02T06:00:00Z", "MUSTER_LIMIT": "60"}
        self.run_unit("co2/co2.sh", **environment)
        weeks = self.table("weekly.csv")
        self.assertEqual((len(weeks), weeks[0]["week"][:4]), (60, "1990"))

    def test_the_inventory_lists_what_is_there(self):
        self.run_unit("landing-inventory/inventory.sh")
        listed = {row["file"]: int(row["bytes"]) for row in self.table("inventory.tsv")}
        data = FLEET / "data"
        there = {
            path.relative_to(data).as_posix(): path.stat().st_size
            for path in data.rglob("*")
            if path.is_file() and path.suffix in (".gz", ".csv")
        }
        self.assertEqual(listed, there)


class Reports(UnitTest):
    def test_delays_stand_beside_the_weather_of_their_hour(self):
        self.run_unit("delay-weather/delay_weather.py", "--date", "2013-02-10")
        hours, conditions = self.table("hours.csv"), self.table("conditions.csv")
        self.assert_key(hours, "origin", "hour")
        self.assertEqual(sum(int(row["flights"]) for row in hours), sum(int(row["flights"]) for row in conditions))
        lost = {row["condition"]: float(row["cancelled_share"]) for row in conditions}
        self.assertGreater(lost["poor sight"], 3 * lost["fair"], "the storm week shows in the sight")

    def test_a_scoreboard_ranks_every_airline_once(self):
        self.run_unit("carrier-scoreboard/scoreboard.py", "--date", TUESDAY)
        rows = self.table("scoreboard.csv")
        self.assertEqual([int(row["rank"]) for row in rows], list(range(1, len(rows) + 1)))
        self.assert_key(rows, "carrier")
        shares = [float(row["on_time_share"]) for row in rows]
        self.assertEqual(shares, sorted(shares, reverse=True))

    def test_routes_are_as_long_as_the_globe_says(self):
        self.run_unit("route-network/route_network.py", "--date", "2013-02-28")
        rows = self.table("routes.csv")
        self.assert_key(rows, "origin", "dest")
        self.assertEqual(nulls(rows, "airport"), 0)
        self.assertLess(max(abs(float(row["off_by_percent"])) for row in rows), 1)
        network = json.loads((self.out / "network.geojson").read_text(encoding="utf-8"))
        self.assertEqual(len(network["features"]), len(rows))

    def test_the_brief_says_what_its_figures_say(self):
        self.run_unit("morning-brief/morning_brief.py", "--date", "2013-02-12")
        figures = {row["figure"]: row["value"] for row in self.table("figures.csv")}
        story = (self.out / "brief.md").read_text(encoding="utf-8")
        self.assertIn(f"{figures['departures']} departures, {figures['cancelled']} of them cancelled", story)
        self.assertLess(int(figures["wind"]), 200, "the broken instrument does not make the news")


class Folder(unittest.TestCase):
    def test_every_manifest_names_a_program_beside_it(self):
        programs = []
        for manifest in sorted(FLEET.glob("*/*.yaml")):
            found = re.findall(r"^run: \[(?:python3|sh), ([\w.]+)", manifest.read_text(encoding="utf-8"), re.MULTILINE)
            self.assertTrue(found, f"{manifest.name} runs nothing")
            programs += [manifest.parent / program for program in found]
        self.assertEqual([path for path in programs if not path.is_file()], [])
        self.assertEqual(len(set(programs)), 12)

    def test_the_fleet_stays_small(self):
        files = [path for path in FLEET.rglob("*") if path.is_file() and not {"__pycache__", ".muster"} & set(path.parts)]
        self.assertLess(sum(path.stat().st_size for path in files), COMMITTED_BYTES)


if __name__ == "__main__":
    unittest.main()

"""scripts/sweep: search files, intervals, and whole studies with a stand-in for foxhunt-train; six trials of the real one
where FOXHUNT_TRAIN names it."""
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
SWEEP = TOP / "scripts/sweep"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "scripts"))

from model_sweep import process, seeds, space  # noqa: E402

try:
    import optuna
    from model_sweep import study
except ImportError:
    optuna = None

# A run whose validation result is -(x - 3)^2 from its first line on; modes by a second key.
STAND_IN = """#!{python}
import json, os, signal, sys, time
arguments = sys.argv[1:]
if arguments[:2] == ["profiles", "check"]:
    sys.exit("foxhunt-train: error: unknown key x.z" if any("x.z" in a for a in arguments) else 0)
keys = dict(a.split("=", 1) for flag, a in zip(arguments, arguments[1:]) if flag == "--set")
output = arguments[arguments.index("--output") + 1]
run = os.path.join(output, "run-" + str(len(os.listdir(output))))
os.makedirs(run)
with open(os.path.join(run, "keys.json"), "w") as file:
    json.dump(keys, file)
mode = keys.get("x.mode", '"good"').strip('"')
seed = int(keys.get("run.seed", 0))
value = -(float(keys.get("x.y", 0)) - 3) ** 2 + seed
def line(step, value):
    with open(os.path.join(run, "validation.jsonl"), "a") as file:
        file.write(json.dumps({{"step": step, "net_pnl": value, "metric": value}}) + "\\n")
if mode == "non-finite":
    print("foxhunt-train: error: non-finite value in loss", file=sys.stderr)
    sys.exit(5)
if mode == "broken":
    print("foxhunt-train: error: no data", file=sys.stderr)
    sys.exit(3)
line(10, "NaN" if mode == "nan" else value)
if mode == "slow":
    def stop(*_):
        open(os.path.join(run, "saved"), "w").close()
        sys.exit(130)
    signal.signal(signal.SIGINT, stop)
    time.sleep(60)
result = {{"net_pnl": value, "sessions": 1, "sharpe": 1.0}}
with open(os.path.join(run, "summary.json"), "w") as file:
    json.dump({{"validation": result, "test": result, "best_metric": value}}, file)
"""


class Fixture(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="foxhunt-")
        self.addCleanup(self.temporary.cleanup)
        self.folder = Path(self.temporary.name)
        self.stand_in = self.folder / "foxhunt-train"
        self.stand_in.write_text(STAND_IN.format(python=sys.executable))
        self.stand_in.chmod(0o755)

    def space_file(self, text):
        path = self.folder / "tiny.toml"
        path.write_text('profile = "tiny"\n' + text)
        return str(path)

    def sweep(self, *arguments, train=None):
        command = [sys.executable, str(SWEEP), *arguments, "--train", str(train or self.stand_in)]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=TOP, check=False)

    def run_study(self, text, trials, *more):
        return self.sweep(
            "run", self.space_file(text), "--trials", str(trials), "--output", str(self.folder / "out"), "--seed", "1", *more
        )

    def trials(self):
        backend = optuna.storages.journal.JournalFileBackend(str(self.folder / "out/study.journal"))
        return optuna.load_study(study_name="tiny", storage=optuna.storages.JournalStorage(backend)).get_trials()


class SpaceTest(Fixture):
    def refused(self, text, *words):
        with self.assertRaises(space.SpaceError) as caught:
            space.load(self.space_file(text))
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_keys_with_quotes_or_without(self):
        loaded = space.load(
            self.space_file(
                'set = { "training.epochs" = 4 }\n[space]\n"a.b" = { low = 1, high = 5, step = 2 }\n'
                "optimizer.rate = { low = 1e-5, high = 1, log = true }\n"
                "network.hidden = { choices = [[64, 64], [8]] }\n"
            )
        )
        self.assertEqual(loaded.fixed, ["training.epochs=4"])
        self.assertEqual([d.key for d in loaded.dimensions], ["a.b", "optimizer.rate", "network.hidden"])
        self.assertEqual([d.first() for d in loaded.dimensions], ["1", "1e-05", "[64, 64]"])
        self.assertEqual((loaded.name, loaded.objective, loaded.metric()), ("tiny", "validation.net_pnl", "net_pnl"))

    def test_refusals(self):
        self.refused("", "[space]")
        self.refused("spice = 1\n[space]\na.b = { low = 1, high = 2 }", "spice", "known:")
        self.refused("[space]\na.b = { low = 3, high = 2 }", "space.a.b", "low not above high")
        self.refused("[space]\na.b = { low = 0, high = 2, log = true }", "space.a.b", "log")
        self.refused("[space]\na.b = { low = 1, high = 2, step = 0.5 }", "space.a.b", "step")
        self.refused("[space]\na.b = { low = 1, highest = 2 }", "space.a.b", "expected")
        self.refused("[space]\na.b = { choices = [] }", "space.a.b", "choices")
        self.refused('objective = "test.net_pnl"\n[space]\na.b = { low = 1, high = 2 }', "test.net_pnl", "test split")


class SeedsTest(Fixture):
    def test_student(self):
        # Tables: two-sided 95%.
        for degrees, t in ((1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (7, 2.36462), (30, 2.04227)):
            self.assertAlmostEqual(seeds.student_quantile(0.95, degrees), t, places=4)

    def test_interval(self):
        mean, half = seeds.interval([1.0, 2.0, 3.0, 4.0])
        self.assertAlmostEqual(mean, 2.5)
        self.assertAlmostEqual(half, 3.18245 * math.sqrt(5 / 3) / 2, places=4)
        self.assertTrue(math.isnan(seeds.interval([1.0, math.nan])[0]))
        self.assertTrue(math.isnan(seeds.interval([1.0])[1]))

    def test_a_seed_without_a_round_trip_has_no_hit_rate(self):
        def summary(round_trips, hit_rate):
            return {"test": {"net_pnl": 1.0 * round_trips, "round_trips": round_trips, "hit_rate": hit_rate}}

        some = seeds.table({0: summary(2, 0.5), 1: summary(0, "NaN"), 2: summary(4, 0.7)})
        row = some["test"]["hit_rate"]
        self.assertAlmostEqual(row["mean"], 0.6)
        self.assertAlmostEqual(row["half_width"], 12.7062 * 0.1, places=4)
        self.assertEqual((row["seeds"], some["test"]["net_pnl"]["seeds"]), (2, 3))
        lines = seeds.text_of(some, [0, 1, 2]).splitlines()
        told = "    hit_rate                   0.6  [-0.6706, 1.871]  of 2 of 3 seeds, the others made no round trip"
        self.assertIn(told, lines)
        self.assertNotIn("seeds", lines[2])
        one = seeds.text_of(seeds.table({0: summary(0, "NaN"), 1: summary(2, 0.5)}), [0, 1])
        self.assertIn("0.5  [-, -]  of 1 of 2 seeds", one)
        none = seeds.text_of(seeds.table({0: summary(0, "NaN"), 1: summary(0, "NaN")}), [0, 1])
        self.assertIn("    hit_rate                     -  no seed made a round trip", none.splitlines())
        for text in (*lines, one, none):
            self.assertNotIn("nan", text.lower())

    def test_a_hit_rate_that_ought_to_be_there_is_missed(self):
        broken = {"test": {"round_trips": 3, "hit_rate": "NaN"}}
        self.assertTrue(math.isnan(seeds.table({0: broken, 1: broken})["test"]["hit_rate"]["mean"]))

    def test_lists(self):
        self.assertEqual(seeds.seed_list("0..3,8"), [0, 1, 2, 3, 8])
        for bad in ("", "3..1", "1,1", "a", "-1"):
            with self.assertRaises(ValueError):
                seeds.seed_list(bad)

    def test_runs_each_seed_once(self):
        command = ("seeds", "--profile", "tiny", "--seeds", "0..3", "--jobs", "2", "--json", "--output", str(self.folder / "out"))
        first, second = self.sweep(*command), self.sweep(*command)
        self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr + second.stderr)
        self.assertEqual(first.stdout, second.stdout)
        row = json.loads(first.stdout)["results"]["test"]["net_pnl"]
        self.assertEqual(row["values"], [-9.0, -8.0, -7.0, -6.0])
        self.assertEqual(row["mean"], -7.5)
        self.assertEqual(len(list(self.folder.glob("out/seed-*/run-*"))), 4)

    def test_a_failure_is_one_line(self):
        failed = self.sweep("seeds", "--profile", "tiny", "--set", 'x.mode="broken"', "--output", str(self.folder / "out"))
        self.assertEqual((failed.returncode, failed.stderr), (1, "sweep: error: no data\n"))

    def test_a_program_that_is_none_is_one_line(self):
        failed = self.sweep("seeds", "--profile", "tiny", "--output", str(self.folder / "out"), train="/nowhere/train")
        self.assertEqual((failed.returncode, failed.stderr), (1, "sweep: error: /nowhere/train: No such file or directory\n"))


class LinesTest(Fixture):
    def test_only_whole_lines(self):
        path = self.folder / "lines.jsonl"
        lines = process.Lines(path)
        self.assertEqual(lines.new(), [])
        path.write_text('{"step": 1}\n{"st')
        self.assertEqual(lines.new(), [{"step": 1}])
        path.write_text('{"step": 1}\n{"step": 2}\n')
        self.assertEqual(lines.new(), [{"step": 2}])


@unittest.skipUnless(optuna, "needs optuna")
class StudyTest(Fixture):
    def test_goes_on_until_there_are_enough_and_finds_the_best(self):
        text = "[space]\nx.y = { low = 0.0, high = 6.0 }\n"
        first = self.run_study(text, 5, "--jobs", "2")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(len(self.trials()), 5)
        second = self.run_study(text, 12)
        self.assertEqual(second.returncode, 0, second.stderr)
        trials = self.trials()
        self.assertEqual(len(trials), 12)
        values = [t.value for t in trials if t.value is not None]
        self.assertTrue(all(abs(t.value + (t.params["x.y"] - 3) ** 2) < 1e-9 for t in trials if t.value is not None))
        best = max(trials, key=lambda t: -math.inf if t.value is None else t.value)
        written = (self.folder / "out/best.toml").read_text()
        self.assertIn(f"x.y = {best.params['x.y']!r}\n", written)
        self.assertIn('extends = "tiny"\n', written)
        self.assertEqual(best.value, max(values))

    def test_what_is_not_finite_is_pruned(self):
        text = 'set = { "x.mode" = "MODE" }\n[space]\nx.y = { low = 0.0, high = 6.0 }\n'
        for mode in ("nan", "non-finite"):
            done = self.run_study(text.replace("MODE", mode), 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([t.state for t in self.trials()], [optuna.trial.TrialState.PRUNED] * 2)
            (self.folder / "out/study.journal").unlink()

    def test_below_the_median_is_pruned_and_its_process_saves(self):
        # Trials of the first values end well; then one that would take a minute begins far below them.
        good = "[space]\nx.y = { low = 3.0, high = 3.5 }\n"
        self.assertEqual(self.run_study(good, 6).returncode, 0)
        slow = 'set = { "x.mode" = "slow" }\n[space]\nx.y = { low = 9.0, high = 9.5 }\n'
        pruned = self.run_study(slow, 7)
        self.assertEqual(pruned.returncode, 0, pruned.stderr)
        self.assertEqual(self.trials()[-1].state, optuna.trial.TrialState.PRUNED)
        self.assertTrue(list(self.folder.glob("out/trial-00006/run-*/saved")))

    def test_keeps_failing(self):
        text = 'set = { "x.mode" = "broken" }\n[space]\nx.y = { low = 0.0, high = 6.0 }\n'
        failed = self.run_study(text, 9)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("sweep: error: 3 trials failed in a row, the last with: foxhunt-train: error: no data", failed.stderr)
        self.assertEqual(len(self.trials()), 3)

    def test_unknown_key_is_told_first(self):
        failed = self.run_study("[space]\nx.z = { low = 0.0, high = 6.0 }\n", 2)
        self.assertEqual((failed.returncode, failed.stderr), (2, "sweep: error: unknown key x.z\n"))

    def test_interrupt_leaves_the_study_whole(self):
        text = 'set = { "x.mode" = "slow" }\n[space]\nx.y = { low = 0.0, high = 6.0 }\n'
        command = [sys.executable, str(SWEEP), "run", self.space_file(text), "--trials", "4", "--jobs", "2"]
        command += ["--output", str(self.folder / "out"), "--train", str(self.stand_in), "--pruner", "none"]
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=TOP)
        deadline = time.monotonic() + 120
        while len(list(self.folder.glob("out/trial-*/run-*/validation.jsonl"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)  # past the stand-in's handler
        running.send_signal(signal.SIGINT)
        errors = running.communicate(timeout=120)[1]
        self.assertEqual(running.returncode, 130, errors)
        self.assertIn("interrupted", errors)
        self.assertEqual(len(list(self.folder.glob("out/trial-*/run-*/saved"))), 2)
        trials = self.trials()
        waiting = [t for t in trials if t.state == optuna.trial.TrialState.WAITING]
        self.assertEqual([t.state.name for t in trials], ["FAIL", "FAIL", "WAITING", "WAITING"])
        tried = {json.loads(p.read_text())["x.y"] for p in self.folder.glob("out/trial-*/run-*/keys.json")}
        self.assertEqual({repr(t.system_attrs["fixed_params"]["x.y"]) for t in waiting}, tried)
        # And it is taken up with the same parameters.
        done = self.run_study("[space]\nx.y = { low = 0.0, high = 6.0 }\n", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        again = [t for t in self.trials() if t.state == optuna.trial.TrialState.COMPLETE]
        self.assertEqual({repr(t.params["x.y"]) for t in again}, tried)

    @unittest.skipUnless(os.environ.get("FOXHUNT_TRAIN"), "needs foxhunt-train")
    def test_six_real_trials(self):
        path = self.folder / "real.toml"
        path.write_text(
            'profile = "dqn-smoketest"\n'
            'set = { "training.epochs" = 4, "evaluation.every_epochs" = 2, "smoketest.enabled" = false }\n'
            '[space]\n"optimizer.learning_rate" = { low = 1e-5, high = 1e-2, log = true }\n'
            '"network.hidden" = { choices = [[16], [32, 32]] }\n'
        )
        out = self.folder / "out"
        done = self.sweep("run", str(path), "--trials", "6", "--output", str(out), train=os.environ["FOXHUNT_TRAIN"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list(out.glob("trial-*/dqn-smoketest-*/summary.json"))), 6)
        check = [os.environ["FOXHUNT_TRAIN"], "profiles", "check", str(out / "best.toml")]
        self.assertEqual(subprocess.run(check, cwd=TOP, check=False).returncode, 0)
        print(done.stdout)


if __name__ == "__main__":
    if not optuna:
        print("SKIPPED: studies need optuna (scripts/sweep-requirements.txt)")
    unittest.main()

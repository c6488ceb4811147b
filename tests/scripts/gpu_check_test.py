"""scripts/gpu-check with stand-ins for GPU, compute-sanitizer and programs: what it accepts, refuses and records.

A stand-in answers as the real one does; the variable FAULT, "NAME=what it does instead", makes one of them misbehave.
"""
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent

PROGRAM = r"""#!/bin/sh
name=${0##*/}
echo "$name $* graphs=${FOXHUNT_GRAPHS:-unset}" >>"$CALLS"
case $FAULT in
  "$name=fails")
    printf 'tests/test_x.cpp:12: FAILED:\n  REQUIRE( a == b )\n'
    i=0; while [ $i -lt 30 ]; do echo "a warning"; i=$((i + 1)); done
    printf 'test cases: 54 | 53 passed | 1 failed\nassertions: 900 | 899 passed | 1 failed\n'; exit 1 ;;
  "$name=crashes") kill -SEGV $$ ;;
  "$name=runs nothing") echo "No tests ran"; exit 0 ;;
  "$name=nonsense") echo "hello"; exit 0 ;;
  "$name=no gpu") echo "no CUDA-capable device is detected" >&2; exit 1 ;;
esac
case $name in
  test_cuda) echo "All tests passed (1 assertion in 1 test case)" ;;
  test_dqn) printf 'SKIPPED: no data\ntest cases:  3 | 2 passed | 1 skipped\nassertions: 70 | 70 passed\n' ;;
  test_*) printf 'seed 1\n=====\nAll tests passed (86399 assertions in 54 test cases)\n' ;;
  planted_faults) [ "$1" != gpu ] || printf 'NVIDIA H200\n9.0\n13.0\n' ;;
  foxhunt-train)
    if [ "$1" = bench ]; then
      echo "dqn-throughput on cuda:0, NVIDIA H200, sm_90, 139.3 GiB free of 139.8"
      printf 'one iteration: 386.6 us (median of 20; 386.0 to 387.1), 10.59 M steps/s, 35 kernels, '
      echo '4096 episodes, batch 4096, memory 167.8 MiB'
    else
      printf '100.0%%  50/50 iterations\r' >&2
      printf 'phase   count\ntotal                    0.478\nPASS  losses_finite\n'
    fi ;;
esac
"""

SANITIZER = r"""#!/bin/sh
if [ "$1" = --version ]; then printf 'NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 1)\n'; exit 0; fi
[ "$1 $3 $4" = "--tool --error-exitcode 86" ] || exit 99
tool=$2; shift 4
echo "========= COMPUTE-SANITIZER"
"$@"; code=$?
found=0; warnings=0; more=""
if [ "${1##*/}" = planted_faults ]; then
  found=128; more="=========     at void <unnamed>::$2(int *, int *)+0x90 in planted_faults.cu:14"
fi
case $FAULT in
  "$tool=asleep") if [ "${1##*/}" = planted_faults ]; then found=0; more=""; fi ;;
  "$tool=reports something else") more="=========         Host Frame: $2 [0x1754] in planted_faults" ;;
  "$tool=finds in ${1##*/}") found=1 ;;
  "$tool=finds with graphs=$FOXHUNT_GRAPHS") found=3 ;;
  "$tool=warns") warnings=2 ;;
  "$tool=dies") if [ "${1##*/}" != planted_faults ]; then exit 0; fi ;;
  "$tool=sees no gpu") if [ "${1##*/}" = test_cuda ]; then
    echo "========= Error: Target application terminated before first instrumented API call"; fi ;;
esac
[ -z "$more" ] || echo "$more"
if [ "$tool" = racecheck ]; then
  echo "========= RACECHECK SUMMARY: $((found + warnings)) hazards displayed ($found errors, $warnings warnings)"
else
  plural=s; [ $found != 1 ] || plural=""
  echo "========= ERROR SUMMARY: $found error$plural"
  if [ $found -gt 100 ]; then
    echo "========= ERROR SUMMARY: 28 errors were not printed. Use --print-limit option to adjust the number"
  fi
fi
if [ $((found + warnings)) != 0 ]; then exit 86; fi
exit $code
"""

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def write(path, text, executable=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if executable:
        path.chmod(0o755)


class GpuCheckTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.tree, self.binaries = self.folder / "tree", self.folder / "binaries"
        (self.tree / "scripts").mkdir(parents=True)
        (self.tree / "tests").mkdir()
        shutil.copy(TOP / "scripts/gpu-check", self.tree / "scripts")
        (self.tree / "scripts/gpu-check.d").mkdir()
        shutil.copy(TOP / "scripts/gpu-check.d/printed.py", self.tree / "scripts/gpu-check.d")
        for name in ("cuda/dense.cu", "core/device/arena.h", "core/kernels.h", "core/isv_slots.h", "core/error.h"):
            write(self.tree / name, name + "\n")
        for name in ("foxhunt-train", "test_device", "test_cuda", "test_dqn", "planted_faults"):
            write(self.binaries / name, PROGRAM, executable=True)
        write(self.binaries / "test_cuda_tests.cmake", "")
        write(self.folder / "bin/compute-sanitizer", SANITIZER, executable=True)
        self.record_file = self.tree / "tests/gpu-check.json"

    def gpu_check(self, *arguments, fault="", path=None):
        environment = {**os.environ, "FAULT": fault, "CALLS": str(self.folder / "calls"),
                       "PATH": path or f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        environment.pop("FOXHUNT_GRAPHS", None)
        return subprocess.run([self.tree / "scripts/gpu-check", *map(str, arguments)], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.folder, timeout=120)

    def check(self, fault=""):
        return self.gpu_check("--binaries", "binaries", fault=fault)

    def record(self):
        return json.loads(self.record_file.read_text())

    def refused(self, fault, *said):
        """The check fails, says what is in `said`, and leaves a record that says so too."""
        done = self.check(fault)
        self.assertEqual(done.returncode, 1, done.stdout)
        for text in said:
            self.assertIn(text, done.stdout)
        record = self.record()
        self.assertIs(record["passed"], False)
        return record

    def test_all_fine(self):
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout)
        record = self.record()
        self.assertIs(record["passed"], True)
        self.assertEqual(record["gpu"],
                         {"name": "NVIDIA H200", "compute_capability": "9.0", "driver_cuda": "13.0"})
        self.assertEqual(record["compute_sanitizer"], "2025.3.1.0")
        self.assertEqual(list(record["tests"]), ["test_cuda", "test_device", "test_dqn"])
        device, dqn = record["tests"]["test_device"], record["tests"]["test_dqn"]
        self.assertEqual((device["assertions"], device["cases"], device["failed"]), (86399, 54, 0))
        self.assertEqual((dqn["assertions"], dqn["cases"], dqn["skipped"]), (70, 3, 1))
        self.assertEqual(record["tests"]["test_cuda"]["assertions"], 1)
        self.assertEqual(tuple(record["tools"]), TOOLS)
        for tool in record["tools"].values():
            self.assertEqual((tool["planted"]["awake"], tool["planted"]["errors"]), (True, 128))
            self.assertEqual(list(tool["runs"]),
                             ["test_device", "test_cuda", "smoke_without_graphs", "smoke_with_graphs"])
            self.assertEqual([run["errors"] for run in tool["runs"].values()], [0, 0, 0, 0])
        self.assertEqual(record["smoke_run"]["total_seconds"], 0.478)
        figures = record["benchmark"]
        self.assertEqual((figures["iteration_us"], figures["steps_per_second"], figures["kernels"]),
                         (386.6, 10590000, 35))
        self.assertEqual((figures["memory_mib"], figures["repeats"]), (167.8, 20))
        self.assertEqual(list(record["sources"]["files"]),
                         ["core/device/arena.h", "core/isv_slots.h", "core/kernels.h", "cuda/dense.cu"])
        self.assertNotIn(str(self.folder), self.record_file.read_text())
        self.assertTrue(self.record_file.read_text().startswith('{\n  "passed": true,\n'))

    def test_the_gpu_and_both_ways_of_running_are_asked_for(self):
        self.check()
        calls = (self.folder / "calls").read_text().splitlines()
        trains = [call for call in calls if call.startswith("foxhunt-train")]
        self.assertTrue(all("--device cuda:0" in call for call in trains), trains)
        for graphs in "01":
            short = [c for c in trains if "training.epochs=5" in c and "short.csv" in c and c.endswith("graphs=" + graphs)]
            self.assertEqual(len(short), len(TOOLS))

    def test_a_tool_asleep(self):
        for tool in TOOLS:
            with self.subTest(tool):
                record = self.refused(f"{tool}=asleep", f"{tool} is asleep")
                self.assertIs(record["tools"][tool]["planted"]["awake"], False)

    def test_a_report_that_does_not_name_the_planted_kernel_wakes_no_tool(self):
        for tool in TOOLS:
            with self.subTest(tool):
                self.refused(f"{tool}=reports something else", f"{tool} is asleep")

    def test_an_error_anywhere(self):
        for tool in TOOLS:
            for program, runs in (("test_device", ["test_device"]), ("test_cuda", ["test_cuda"]),
                                  ("foxhunt-train", ["smoke_without_graphs", "smoke_with_graphs"])):
                with self.subTest(tool=tool, program=program):
                    record = self.refused(f"{tool}=finds in {program}", "1 errors, 0 warnings; exit code 86")
                    failed = [name for name, run in record["tools"][tool]["runs"].items() if not run["passed"]]
                    self.assertEqual(failed, runs)

    def test_an_error_with_or_without_graphs_alone(self):
        for graphs, name in (("0", "smoke_without_graphs"), ("1", "smoke_with_graphs")):
            with self.subTest(graphs):
                record = self.refused(f"memcheck=finds with graphs={graphs}", "3 errors")
                self.assertEqual(record["tools"]["memcheck"]["runs"][name]["errors"], 3)

    def test_racecheck_warnings_are_recorded_and_do_not_fail(self):
        done = self.check("racecheck=warns")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.record()["tools"]["racecheck"]["runs"]["test_cuda"]["warnings"], 2)

    def test_a_tool_without_a_summary(self):
        for tool in TOOLS:
            with self.subTest(tool):
                record = self.refused(f"{tool}=dies", "no summary")
                self.assertIsNone(record["tools"][tool]["runs"]["test_cuda"]["errors"])

    def test_a_program_that_did_not_use_the_gpu_under_a_tool(self):
        self.refused("synccheck=sees no gpu", "it did not use the GPU")

    def test_a_test_program_that_fails(self):
        record = self.refused("test_dqn=fails", "test_x.cpp:12: FAILED:", "a == b", "899 passed", "1 failed",
                              "exit code 1")
        self.assertEqual((record["tests"]["test_dqn"]["passed"], record["tests"]["test_dqn"]["failed"]), (False, 1))
        self.assertIs(record["tests"]["test_cuda"]["passed"], True)

    def test_a_test_program_that_crashes_or_runs_nothing(self):
        self.refused("test_cuda=crashes", "ended by signal 11")
        self.refused("test_cuda=runs nothing", "no summary")

    def test_figures_that_are_missing(self):
        record = self.refused("foxhunt-train=nonsense", "no figures")
        self.assertEqual((record["benchmark"]["passed"], record["smoke_run"]["passed"]), (False, False))

    def test_a_step_that_hangs_is_ended_with_what_it_started(self):
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader("gpu_check", str(self.tree / "scripts/gpu-check"))
        script = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
        loader.exec_module(script)
        outcome = script.run(["sh", "-c", "sleep 600 & echo $!; wait"], 1)
        self.assertIsNone(outcome.code)
        status = Path("/proc") / outcome.text.strip() / "stat"

        def ended():
            try:
                return ") Z " in status.read_text()
            except OSError:
                return True

        for _ in range(200):  # a killed process goes when the machine gets round to it
            if ended():
                break
            time.sleep(0.05)
        self.assertTrue(ended())

    def nothing_checked(self, done, said):
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(said, done.stdout)
        self.assertFalse(self.record_file.exists())

    def test_without_what_it_needs_nothing_is_recorded(self):
        self.nothing_checked(self.check("planted_faults=no gpu"), "needs a machine with a GPU: no CUDA-capable device")
        (self.binaries / "test_dqn").unlink()
        self.nothing_checked(self.check(), "test_dqn")
        (self.folder / "bin/compute-sanitizer").unlink()
        python = self.folder / "python"
        python.mkdir()
        for name in ("env", "python3"):
            (python / name).symlink_to(shutil.which(name))
        done = self.gpu_check("--binaries", self.binaries, path=str(python))
        self.nothing_checked(done, "compute-sanitizer is not on PATH")

    def test_output_names_the_record(self):
        done = self.gpu_check("--binaries", self.binaries, "--output", self.folder / "other.json")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertFalse(self.record_file.exists())
        self.assertEqual(self.gpu_check("--verify", "--output", self.folder / "other.json").returncode, 0)

    def test_planted_faults_are_built_where_they_are_not_given(self):
        source = self.tree / "scripts/gpu-check.d/planted_faults.cu"
        write(source, "")
        nvcc = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "$PLANTED" "$2"\n'
        write(self.folder / "bin/nvcc", nvcc, executable=True)
        os.environ["PLANTED"] = str(self.folder / "planted")
        self.addCleanup(os.environ.pop, "PLANTED")
        (self.binaries / "planted_faults").rename(self.folder / "planted")
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout)

    def verified(self, code, *said):
        done = self.gpu_check("--verify")
        self.assertEqual(done.returncode, code, done.stdout)
        for text in said:
            self.assertIn(text, done.stdout)

    def test_verify_matching(self):
        self.check()
        for name in ("core/error.h", "cuda/AUDIT.md", "core/device/.arena.h.swp"):
            write(self.tree / name, "decides no device code\n")
        self.verified(0, "matches the sources: 4 files")

    def test_verify_changed_added_and_removed_sources(self):
        self.check()
        write(self.tree / "cuda/dense.cu", "changed\n")
        self.verified(1, "changed: cuda/dense.cu", "scripts/gpu-check on a machine with a GPU")
        write(self.tree / "cuda/dense.cu", "cuda/dense.cu\n")
        self.verified(0)
        write(self.tree / "cuda/new.cuh", "new\n")
        (self.tree / "core/kernels.h").unlink()
        self.verified(1, "changed: core/kernels.h, cuda/new.cuh")

    def test_verify_missing(self):
        self.verified(2, "gpu-check.json is missing", "scripts/gpu-check")

    def test_verify_a_failed_check(self):
        self.check("test_dqn=fails")
        self.verified(1, "records a failed check")

    def test_verify_damaged(self):
        for text in ("", "{", "[]", "{}", '{"sources": 1}', '{"sources": {"files": 3, "sha256": ""}, "passed": true, '
                                                            '"date": ""}'):
            with self.subTest(text):
                write(self.record_file, text)
                self.verified(1, "is not a record of this check")


if __name__ == "__main__":
    unittest.main()

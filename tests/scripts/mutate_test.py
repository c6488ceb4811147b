"""scripts/mutate-kernels on one small kernel: the mutants it makes, one that a test kills and one that no test can."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "scripts"))

from kernel_mutants import clang_ast, journal, operators, reasons, report, schemata, trial  # noqa: E402

CLAMP = """// Comments stay out of it: a + b.
extern "C" void clamp_kernel(float* y, int n, float top) {
  for (int i = 0; i < n; ++i) {  // every element
    y[i] = y[i] < top ? y[i] : top;
  }
}
"""
MAIN = """#include <cstdlib>
extern "C" const int running_mutant = std::atoi(std::getenv("MUTANT"));
extern "C" void note_reached(int) {}
extern "C" void clamp_kernel(float* y, int n, float top);
int main() {
  float y[4] = {4.0f, 1.0f, 5.0f, 9.0f};
  clamp_kernel(y, 3, 3.0f);
  return y[0] == 3.0f && y[1] == 1.0f && y[2] == 3.0f && y[3] == 9.0f ? 0 : 1;
}
"""


@unittest.skipUnless(shutil.which("clang++") and shutil.which("g++"), "needs clang++ and g++")
class MutateTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="foxhunt-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "cuda").mkdir()
        (self.folder / "cuda/clamp.cu").write_text(CLAMP)
        self.functions = clang_ast.functions(str(self.folder), ["cuda/clamp.cu"])
        self.text = schemata.without_comments(CLAMP)
        self.mutants = [m for f in self.functions for m in operators.mutants(f, self.text)]
        operators.number(self.mutants)

    def mutant(self, kind, replacement):
        (found,) = [m for m in self.mutants if (m.kind, m.replacement) == (kind, replacement)]
        return found

    def test_mutants(self):
        self.assertEqual([f.name for f in self.functions], ["clamp_kernel"])
        changes = sorted((m.kind, m.source, m.replacement) for m in self.mutants)
        expected = [
            ("bound", "n", "n - 1"),
            ("comparison", "i < n", "i <= n"),
            ("comparison", "y[i] < top", "y[i] <= top"),
            ("condition", "y[i] < top", "false"),
            ("condition", "y[i] < top", "true"),
            ("constant", "0", "1"),
        ] + [("index", "i", "i + 1")] * 3
        self.assertEqual(changes, expected)
        self.assertEqual(len({m.title for m in self.mutants}), len(self.mutants))

    def test_verdicts(self):
        source = self.folder / "mutated.cpp"
        bodies = [(f.body, i) for i, f in enumerate(self.functions)]
        (self.folder / "mutant.h").write_text(schemata.HEADER)
        source.write_text('#include "mutant.h"\n' + schemata.mutated(self.text, self.mutants, bodies))
        (self.folder / "main.cpp").write_text(MAIN)
        program = self.folder / "clamp"
        subprocess.run(["g++", "-std=c++20", "-o", program, source, self.folder / "main.cpp"], check=True, timeout=120)

        def killed(number):
            return subprocess.run([program], env={"MUTANT": str(number)}, timeout=20).returncode != 0

        self.assertFalse(killed(0), "without a mutant the test passes")
        survivors = [m.replacement for m in self.mutants if killed(m.number) is False]
        self.assertEqual(survivors, ["y[i] <= top"], "the one that changes nothing")

    def test_report(self):
        verdicts = {m.number: trial.Verdict(True, "test_cuda: failed case", 1) for m in self.mutants}
        alive = self.mutant("comparison", "y[i] <= top")
        verdicts[alive.number] = trial.Verdict(False, "", 1)
        path = self.folder / "survivors.toml"
        path.write_text(f"[[reason]]\nbecause = 'Both give top.'\nmutants = ['{alive.title}']\n")
        text = report.markdown(self.mutants, verdicts, reasons.load(path), ["test_cuda"], {"cuda": "c0de"})
        self.assertIn(f"{len(self.mutants) - 1} of {len(self.mutants)} killed", text)
        self.assertIn(f"Both give top.\n\n- `{alive.title}`", text)
        self.assertNotIn("No reason given", text)
        self.assertIn("Sources: cuda/ `c0de`.", text)
        path.write_text("[[reason]]\nbecause = 'x'\n")
        with self.assertRaises(reasons.ReasonsError):
            reasons.load(path)

    def test_journal(self):
        first, second, third = self.mutants[:3]
        now = journal.Journal(self.folder, {"cuda": "new"})
        now.add(first, trial.Verdict(True, "test_cuda: crash", 2), every_program=False)
        now.add(second, trial.Verdict(False, "", 2), every_program=False)
        for found in (now, journal.Journal(self.folder, {"cuda": "new"})):
            self.assertEqual(found.verdict(first), trial.Verdict(True, "test_cuda: crash", 2))
            self.assertIsNone(found.verdict(second), "some programs have not tried it")
            self.assertIsNone(found.verdict(third))
            self.assertEqual([found.survived(m) for m in (first, second, third)], [False, True, False])
        now.add(second, trial.Verdict(False, "", 3), every_program=True)
        self.assertEqual(journal.Journal(self.folder, {"cuda": "new"}).verdict(second), trial.Verdict(False, "", 3))
        with open(self.folder / "verdicts.jsonl", "a", encoding="utf-8") as file:
            file.write('{"title": "half a li')
        journal.Journal(self.folder, {"cuda": "new"}).add(third, trial.Verdict(True, "test_cuda: crash", 1), True)
        again = journal.Journal(self.folder, {"cuda": "new"})
        self.assertEqual([again.verdict(m).killed for m in (first, second, third)], [True, False, True])
        later = journal.Journal(self.folder, {"cuda": "newer"})
        self.assertIsNone(later.verdict(first))
        self.assertTrue(later.survived(second))

    def test_what_a_run_says(self):
        passed = "All tests passed (3 assertions in 2 test cases)"
        self.assertEqual(trial.outcome(0, passed, 2), "")
        self.assertEqual(trial.outcome(1, "", 2), "failed case")
        self.assertEqual(trial.outcome(1, "ERROR: AddressSanitizer: heap", 2), "sanitizer")
        self.assertEqual(trial.outcome(-11, "", 2), "crash")
        self.assertEqual(trial.outcome(None, "", 2), "timeout")
        with self.assertRaises(trial.TrialError):
            trial.outcome(0, "All tests passed (1 assertion in 1 test case)", 2)


if __name__ == "__main__":
    if not (shutil.which("clang++") and shutil.which("g++")):
        print("SKIPPED: needs clang++ and g++")
    unittest.main()

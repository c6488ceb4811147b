"""Builds the tree of mutants and runs its tests: once without a mutant, then under each one the cases that reach it."""

import hashlib
import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

# CPU seconds: what the cases take without a mutant, times this, plus that. Endless loops end here. Waiting for ever, on
# a barrier that not every thread reaches, ends when no thread has run or wanted to for so many seconds: a run that only
# has to wait for a busy machine is left in peace.
SLOWER, SLACK, ASLEEP = 10, 5, 15
_SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=66",
}


class TrialError(Exception):
    pass


@dataclass
class Case:
    name: str
    seconds: float  # of CPU
    reached: frozenset  # functions, by number


@dataclass
class Program:
    """A test program of the mutated tree and what its cases do without a mutant."""

    name: str  # for the report
    path: str
    wanted: tuple  # test specification: which cases
    longest: float  # CPU seconds of a case; slower ones are left out
    budget: float  # CPU seconds of the cases that try one mutant: the quick ones first
    cases: list = field(default_factory=list)
    left_out: int = 0

    def reaching(self, function):
        left, chosen = self.budget, []
        for case in sorted(self.cases, key=lambda case: case.seconds):
            if function in case.reached and case.seconds <= left:
                left -= case.seconds
                chosen.append(case)
        return chosen


@dataclass
class Verdict:
    killed: bool
    by: str  # program and what happened; empty for a survivor
    cases: int  # that reach the mutant's function, in all programs tried


def build(tree, folder, sanitize, target, jobs):
    """Configures and builds. A mutant that does not compile is a bug of operators.py."""
    os.makedirs(folder, exist_ok=True)
    configure = ["cmake", "-S", tree, "-B", folder, "-G", "Ninja", "-DFOXHUNT_CUDA=OFF", "-DFOXHUNT_WERROR=OFF"]
    configure += [f"-DFOXHUNT_SANITIZE={sanitize}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1"]
    if any(os.access(os.path.join(p, "ccache"), os.X_OK) for p in os.environ.get("PATH", "").split(":")):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    log = os.path.join(folder, "build.log")
    with open(log, "w", encoding="utf-8") as file:
        for command in (configure, ["ninja", "-C", folder, f"-j{jobs}", target]):
            if subprocess.run(command, stdout=file, stderr=subprocess.STDOUT).returncode:
                raise TrialError(f"the tree of mutants does not build with -fsanitize={sanitize}: see {log}")


def built(folder, target):
    """The program's path."""
    return os.path.join(folder, "tests", target.removeprefix("test_").removesuffix("_threaded"), target)


def baseline(program, folder, jobs):
    """Runs every case alone, without a mutant: it has to pass, or be too slow. Fills program.cases; the same binary is
    not run twice for it."""
    kept = os.path.join(folder, f"{program.name}.baseline.json")
    with open(program.path, "rb") as file:
        binary = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        with open(kept, encoding="utf-8") as file:
            last = json.load(file)
    except (FileNotFoundError, ValueError):
        last = {}
    if last.get("binary") != binary:
        cases = _run_alone(program, folder, jobs)
        told = [case and [case.name, case.seconds, sorted(case.reached)] for case in cases]
        last = {"binary": binary, "cases": told}
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(last, file)
    program.cases = [Case(case[0], case[1], frozenset(case[2])) for case in last["cases"] if case]
    program.left_out = len(last["cases"]) - len(program.cases)


def _run_alone(program, folder, jobs):
    """Case or, where it was too slow, None for each."""
    command = [program.path, "--list-test-names-only", *program.wanted]
    listed = subprocess.run(command, capture_output=True, text=True).stdout
    names = [line for line in listed.splitlines() if line.strip()]
    if len(names) < 2:
        raise TrialError(f"{program.path} lists no test cases")

    def run(numbered):
        number, name = numbered
        reached = os.path.join(folder, f"{program.name}.{number}.reached")
        environment = {"MUTANT": "-1", "MUTANT_REACHED": reached}
        result = _run(program, [name], folder, f"{number}", program.longest, environment)
        if result.how == "timeout":
            return None
        if result.how:
            raise TrialError(f"{program.name} fails without a mutant ({result.how}): '{name}':\n{result.text[-2000:]}")
        with open(reached, encoding="utf-8") as file:
            functions = frozenset(int(line) for line in file)
        os.remove(reached)
        return Case(name, result.seconds, functions)

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(run, enumerate(names)))


def attempt(mutant, function, programs, folder):
    """The mutant's verdict: killed by the first program of `programs` whose cases notice it."""
    tried = 0
    for program in programs:
        cases = program.reaching(function)
        tried += len(cases)
        for part in _parts(cases):
            limit = SLOWER * sum(case.seconds for case in part) + SLACK
            environment = {"MUTANT": str(mutant.number)}
            result = _run(program, [case.name for case in part], folder, f"m{mutant.number}", limit, environment)
            if result.how:
                return Verdict(True, f"{program.name}: {result.how}", tried)
    return Verdict(False, "", tried)


def _parts(cases):
    """The quick cases, which together take a fifth of the time, then the others: most mutants never meet those."""
    left, quick = sum(case.seconds for case in cases) / 5, 0
    while quick < len(cases) and left >= cases[quick].seconds:
        left -= cases[quick].seconds
        quick += 1
    return [part for part in (cases[:quick], cases[quick:]) if part]


@dataclass
class _Result:
    how: str  # empty when everything passed
    seconds: float
    text: str


def _run(program, names, folder, label, limit, environment):
    listed = os.path.join(folder, f"{program.name}.{label}.cases")
    with open(listed, "w", encoding="utf-8") as file:
        file.writelines(name.replace("\\", "\\\\").replace(",", "\\,").replace("[", "\\[") + "\n" for name in names)
    command = ["/bin/sh", "-c", 'ulimit -t "$0"; exec "$@"', str(int(limit) + 1)]
    command += [program.path, "--abort", "--input-file", listed]
    output = listed + ".out"
    with open(output, "wb") as file:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, cwd=folder,
            env=os.environ | _SANITIZER_OPTIONS | environment, start_new_session=True,
        )  # fmt: skip
        status, usage = _wait(process.pid)
    with open(output, encoding="utf-8", errors="replace") as file:
        text = file.read()
    os.remove(listed)
    os.remove(output)
    process.returncode = status
    return _Result(outcome(status, text, len(names)), usage.ru_utime + usage.ru_stime, text)


def _wait(pid):
    """(exit status, negative for a signal, or None for a process that waited for ever; what it used)."""
    pause, before, since = 0.002, None, time.monotonic()
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), usage
        if pause >= 0.1:
            now = _activity(pid)
            if now is None or now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > ASLEEP:
                os.kill(pid, 9)
                return None, os.wait4(pid, 0)[2]
        time.sleep(pause)
        pause = min(0.1, pause * 1.3)


def _activity(pid):
    """CPU time that a process has used so far; None while one of its threads runs or wants to."""
    used = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            if fields[0] not in "SZ":
                return None
            used += int(fields[11]) + int(fields[12])
    except OSError:
        return None
    return used


def outcome(status, text, cases):
    """What happened to a run of `cases` cases; empty when all passed."""
    if status is None or status in (-24, -9):
        return "timeout"
    if "Sanitizer" in text or "runtime error:" in text:
        return "sanitizer"
    if status < 0:
        return "crash"
    if status:
        return "failed case"
    if f"in {cases} test case" not in text:
        raise TrialError(f"expected {cases} cases to run:\n{text[-2000:]}")
    return ""

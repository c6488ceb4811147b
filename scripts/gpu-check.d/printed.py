"""What the programs and tools that scripts/gpu-check runs print, as figures."""
import re


def catch_counts(text):
    """(passed, assertions, cases, failed cases) of a Catch2 2 or 3 summary; None where there is none."""
    fine = re.search(r"All tests passed \((\d+) assertions? in (\d+) test cases?\)", text)
    if fine:
        return True, int(fine[1]), int(fine[2]), 0
    cases = re.search(r"^test cases:\s*(\d+)(.*)", text, re.M)
    assertions = re.search(r"^assertions:\s*(\d+)", text, re.M)
    if not cases:
        return None
    failed = re.search(r"(\d+) failed(?! as expected)", cases[2])
    return (not failed and bool(assertions), int(assertions[1]) if assertions else 0, int(cases[1]),
            int(failed[1]) if failed else 0)


def sanitizer_counts(tool, text):
    """(errors, warnings) of a tool's report; None where it has no summary, so did not see the program end."""
    hazards = re.search(r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)", text)
    errors = re.findall(r"ERROR SUMMARY: (\d+) errors?\b(?! (?:was|were) not printed)", text)
    if not (hazards if tool == "racecheck" else errors):
        return None
    return (int(hazards[1]) if hazards else 0) + sum(map(int, errors)), int(hazards[2]) if hazards else 0


BENCHMARK = re.compile(r"one iteration: (?P<us>[\d.]+) us \(median of (?P<repeats>\d+); (?P<fastest>[\d.]+) to "
                       r"(?P<slowest>[\d.]+)\), (?P<speed>[\d.]+) M steps/s, (?P<kernels>\d+) kernels, "
                       r"(?P<episodes>\d+) episodes, batch (?P<batch>\d+), memory (?P<memory>[\d.]+) MiB")


def benchmark_figures(text):
    """The figures of `foxhunt-train bench`; None where they are not there."""
    found = BENCHMARK.search(text)
    if not found:
        return None
    return {
        "iteration_us": float(found["us"]),
        "fastest_us": float(found["fastest"]),
        "slowest_us": float(found["slowest"]),
        "repeats": int(found["repeats"]),
        "steps_per_second": round(float(found["speed"]) * 1e6),
        "kernels": int(found["kernels"]),
        "episodes": int(found["episodes"]),
        "batch": int(found["batch"]),
        "memory_mib": float(found["memory"]),
    }

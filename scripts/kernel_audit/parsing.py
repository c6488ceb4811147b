"""Which files are parsed, and how: a few at a time, those that share headers after a precompiled header of them."""

import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from kernel_audit import clang_ast
from kernel_audit.facts import Facts, Fault
from kernel_audit.sources import CATALOGUE, DOOR, HEADERS, NOT_PARSED, UNITS

# A file is parsed when it could launch a kernel or go around launch(): when it sees launch() or one of these words.
_DOORWAYS = {"launch", "submit", "host_call", "host_function", "copy_bytes", "launches", CATALOGUE, "##"}
_PREFIXES = (
    ("cuda/", ("cuda/device.cuh",)),
    ("core/", ("core/device/launch.h",)),
    ("tests/", ("core/device/launch.h", "tests/catch.h", "tests/cuda/kernel_fixture.h")),
)
_WORTH_A_PREFIX = 3  # files


def files_to_parse(sources, kernels):
    """The translation units, and those headers that no unit includes."""
    units, met = [], set()
    for path in sources.paths:
        if path.endswith(UNITS) and path not in NOT_PARSED:
            inside = path.startswith("cuda/") or "core/device/launch.h" in sources.reached(path)
            if inside or _names(sources, path, kernels):
                units.append(path)
                met |= sources.reached(path)
    return units + [p for p in sources.paths if p.endswith(HEADERS) and p not in met and _names(sources, p, kernels)]


def _names(sources, path, kernels):
    words = sources.words(path)
    return not words.isdisjoint(kernels) or not path.startswith(DOOR) and not words.isdisjoint(_DOORWAYS)


def parse_all(sources, flags, kernels, jobs):
    """Facts of everything that needs a parse, merged."""
    units = files_to_parse(sources, kernels)
    all_facts = Facts()
    with tempfile.TemporaryDirectory(prefix="audit-kernels-") as folder:
        prefix_of = _plan(sources, flags, units, folder)
        with ProcessPoolExecutor(jobs, initializer=_open, initargs=(sources,)) as pool:
            try:
                made = {
                    header: pool.submit(_prefix, flag_list, header, includes)
                    for header, flag_list, includes in {p for p in prefix_of.values() if p}
                }
                for future in made.values():
                    all_facts.merge(future.result())
                usable = {header for header in made if os.path.exists(header + ".pch")}
                futures = []
                for path in units:
                    header = prefix_of[path][0] if prefix_of[path] else None
                    futures.append(pool.submit(_unit, flags.of(path), path, header if header in usable else None))
                for future in futures:
                    all_facts.merge(future.result())
            except BrokenProcessPool:
                all_facts.errors.append(Fault("scripts/audit-kernels", 1, "clang broke off in the middle of a parse; run it again"))
    return all_facts


def _plan(sources, flags, units, folder):
    """path -> (header, flags, includes) of the prefix that it is parsed after, or None."""
    groups = {}
    for path in units:
        for start, includes in _PREFIXES:
            present = tuple(name for name in includes if name in sources.known)
            if path.startswith(start) and present:
                groups.setdefault((flags.of(path), present), []).append(path)
    plan = dict.fromkeys(units)
    for i, ((flag_list, includes), paths) in enumerate(sorted(groups.items())):
        if len(paths) >= _WORTH_A_PREFIX:
            plan.update(dict.fromkeys(paths, (os.path.join(folder, f"prefix{i}.h"), flag_list, includes)))
    return plan


_sources = None  # of a worker process


def _open(sources):
    global _sources
    _sources = sources


def _prefix(flag_list, header, includes):
    return clang_ast.parse_prefix(_sources, flag_list, header, includes)


def _unit(flag_list, path, header):
    return clang_ast.parse_file(_sources, flag_list, path, header)

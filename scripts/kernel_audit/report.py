"""The table of kernels: on the terminal with lines, in cuda/AUDIT.md with functions, which stay put longer."""

import os
import textwrap

AUDIT = "cuda/AUDIT.md"
_COLUMNS = (("kernel", 28), ("writes", 22), ("reads", 24), ("__restrict__", 12), ("launched at", 34), ("tests", 32), ("verdict", 11))

_HEAD = """# Kernel audit

Generated from the sources by `scripts/audit-kernels --write`; the same command without `--write` fails when it differs from them.

A kernel writes its `T*` and reads its `const T*`. Every pointer that is written is `__restrict__` unless the kernel's
comment says `may overlap`; every launch goes through `launch`, which refuses a written span that overlaps another.
`scripts/audit-kernels` reads kernels and launches from clang's AST, prints this table with line numbers, and fails when a
rule is broken: it then names file and line, and what to do.

| kernel | writes | reads | `__restrict__` | launched in | tested in | verdict |
|---|---|---|---|---|---|---|
"""


def rows(audit, lines):
    """One tuple of lists of words for each kernel, in the order of the catalogue; lines: with line numbers."""
    broken = {text.split(" ")[0].rstrip(":") for _, _, text in audit.failures}
    for name, _, _ in audit.rows:
        kernel = audit.prototypes.get(name)
        if kernel is None:
            continue
        pointers = [p for p in kernel.parameters if p.pointer]
        without = [p.name for p in pointers if not p.restrict]
        sites = audit.library_launches(name)
        if lines:
            launched = sorted({(use.path, use.line) for use in sites})
            launched = [f"{path}:{line}" for path, line in launched]
        else:
            launched = sorted({f"{use.path} ({use.function})" for use in sites})
        tests = sorted(audit.tested_by.get(name, ()))
        yield (
            [name],
            [p.name for p in pointers if p.written] or ["-"],
            [p.name for p in pointers if not p.written] or ["-"],
            [f"all {len(pointers)}"] if not without else ["not", *without],
            launched or ["-"],
            [os.path.relpath(path, "tests") for path in tests] or ["-"],
            ["FAIL" if name in broken else "may overlap" if kernel.may_overlap else "ok"],
        )


def table(audit):
    text = ["  ".join(title.ljust(width) for title, width in _COLUMNS).rstrip()]
    for row in rows(audit, True):
        cells = [textwrap.wrap(" ".join(words), width, break_long_words=False, break_on_hyphens=False) for words, (_, width) in zip(row, _COLUMNS)]
        for i in range(max(len(cell) for cell in cells)):
            parts = (cell[i] if i < len(cell) else "" for cell in cells)
            text.append("  ".join(part.ljust(width) for part, (_, width) in zip(parts, _COLUMNS)).rstrip())
    return "\n".join(text) + "\n"


def markdown(audit):
    text = _HEAD
    for kernel, writes, reads, restrict, launched, tests, verdict in rows(audit, False):
        cells = [f"`{kernel[0]}`", ", ".join(writes), ", ".join(reads), " ".join(restrict), "; ".join(launched)]
        text += "| " + " | ".join([*cells, ", ".join(tests), *verdict]) + " |\n"
    return text


def stale(path, expected):
    """(line, what differs) of the first line of the file that is not as expected, or None."""
    if not os.path.exists(path):
        return 1, "the file is missing"
    with open(path, encoding="utf-8") as file:
        found = file.read().split("\n")
    wanted = expected.split("\n")
    for i in range(max(len(found), len(wanted))):
        a, b = (lines[i] if i < len(lines) else "" for lines in (found, wanted))
        if a != b:
            line = b if b.startswith("| `") else a
            return i + 1, f"the audit line of {line.split('`')[1]} is out of date" if line.startswith("| `") else "this line is out of date"
    return None

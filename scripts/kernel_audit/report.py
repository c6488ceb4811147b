"""The table of kernels: on the terminal with lines, in cuda/AUDIT.md with functions, which stay put longer."""

import os
import re
import textwrap

AUDIT = "cuda/AUDIT.md"
_COLUMNS = (("kernel", 28), ("writes", 22), ("reads", 24), ("__restrict__", 12), ("launched at", 34), ("tests", 32), ("verdict", 11))

_UPDATE = "run scripts/audit-kernels --write and commit what it changes"
_KERNEL_LINE = re.compile(r"\| `(\w+)` \|.*")

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
    broken = {word for _, _, text in audit.failures for word in re.findall(r"\w+", text)}
    for name, kernel in audit.kernels().items():
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


def check(audit):
    """Fails every line of cuda/AUDIT.md that is not what the sources say, and every kernel without one."""
    path = os.path.join(audit.sources.top, AUDIT)
    if not os.path.exists(path):
        audit.fail(AUDIT, 1, f"the file is missing: {_UPDATE}")
        return
    with open(path, encoding="utf-8") as file:
        found = file.read().splitlines()
    wanted = markdown(audit).splitlines()
    kept, due = _by_kernel(found), _by_kernel(wanted)
    before = len(audit.failures)
    defined = {kernel.name: kernel for kernel in audit.definitions}
    for name, kernel in audit.kernels().items():
        if name not in kept:
            place = defined.get(name, kernel)
            audit.fail(place.path, place.line, f"{name} has no audit line in {AUDIT}: {_UPDATE}")
        else:
            changed = _changed(found[kept[name]], wanted[due[name]])
            if changed:
                audit.fail(AUDIT, kept[name] + 1, f"the audit line of {name} is out of date ({', '.join(changed)}): {_UPDATE}")
    for name in kept.keys() - due.keys():
        audit.fail(AUDIT, kept[name] + 1, f"an audit line of {name}, which is no kernel: {_UPDATE}")
    # What no kernel's line accounts for: the text around them, and their order.
    heads = [[_KERNEL_LINE.sub(r"\1", line).split(" |")[0] for line in lines] for lines in (found, wanted)]
    if len(audit.failures) == before and heads[0] != heads[1]:
        line = next((i for i, (a, b) in enumerate(zip(*heads)) if a != b), min(map(len, heads)))
        audit.fail(AUDIT, line + 1, f"this line is out of date: {_UPDATE}")


def _by_kernel(lines):
    """kernel -> index of its line."""
    matches = ((_KERNEL_LINE.match(line), i) for i, line in enumerate(lines))
    return {match.group(1): i for match, i in matches if match}


def _changed(found, wanted):
    """Titles of the columns that differ. A FAIL has its own message and needs no second one."""
    titles = ("kernel", "writes", "reads", "__restrict__", "launched in", "tested in", "verdict")
    cells = [line.strip("| ").split(" | ") for line in (found, wanted)]
    if len(cells[0]) != len(titles):
        return ["number of columns"]
    return [title for title, a, b in zip(titles, *cells) if a != b and (title, b) != ("verdict", "FAIL")]

"""tests/mutants/report.md: what the last whole run found."""

import hashlib
import os

from kernel_mutants.reasons import PATH as REASONS

PATH = "tests/mutants/report.md"
REQUIRED = 0.95
SUFFIXES = (".cu", ".cuh", ".cpp", ".h")


def digest(top, folder, suffixes):
    """Of the names and contents of a folder's sources."""
    whole = hashlib.sha256()
    for name in sorted(os.listdir(os.path.join(top, folder))):
        if name.endswith(suffixes):
            with open(os.path.join(top, folder, name), "rb") as file:
                whole.update(name.encode() + b"\0" + file.read() + b"\0")
    return whole.hexdigest()[:16]


def markdown(mutants, verdicts, reasons, programs, sources):
    """`sources`: digest by folder."""
    killed = sum(verdicts[m.number].killed for m in mutants)
    lines = [
        "# Mutants of the kernels",
        "",
        "`scripts/mutate-kernels` breaks the kernels in cuda/ in many small ways, one at a time, and runs their tests. A",
        "mutant is killed when a case fails, a sanitizer reports, the program crashes or never ends. What survives is",
        "listed below with the reason.",
        "",
        f"**{killed} of {len(mutants)} killed, {100 * killed / len(mutants):.1f}%** (required: {100 * REQUIRED:.0f}%).",
        f"Sources: {', '.join(f'{folder}/ `{digest}`' for folder, digest in sources.items())}. Programs: "
        f"{'; '.join(programs)}.",
        "",
        "## By function",
        "",
        *_table("function", mutants, verdicts, lambda m: f"{m.path.removeprefix('cuda/')} `{m.function}`"),
        "",
        "## By kind",
        "",
        *_table("kind", mutants, verdicts, lambda m: m.kind),
        "",
        "## Killed by",
        "",
        *_killers(mutants, verdicts),
        "",
        "## Survivors",
        "",
        *_survivors(mutants, verdicts, reasons),
    ]
    return "\n".join(lines) + "\n"


def _table(head, mutants, verdicts, group):
    rows = {}
    for mutant in mutants:
        row = rows.setdefault(group(mutant), [0, 0])
        row[0] += 1
        row[1] += verdicts[mutant.number].killed
    yield f"| {head} | mutants | killed | survived |"
    yield "|---|--:|--:|--:|"
    for name, (count, killed) in rows.items():
        yield f"| {name} | {count} | {killed} | {count - killed or ''} |"


def _killers(mutants, verdicts):
    counts = {}
    for mutant in mutants:
        verdict = verdicts[mutant.number]
        if verdict.killed:
            counts[verdict.by] = counts.get(verdict.by, 0) + 1
    yield "| by | mutants |"
    yield "|---|--:|"
    for by, count in sorted(counts.items(), key=lambda item: -item[1]):
        yield f"| {by} | {count} |"


def _survivors(mutants, verdicts, reasons):
    groups = {}
    for mutant in mutants:
        if not verdicts[mutant.number].killed:
            groups.setdefault(reasons.get(mutant.title), []).append(mutant)
    if not groups:
        yield "None."
    for reason, members in sorted(groups.items(), key=lambda item: (item[0] is not None, item[0] or "")):
        yield reason or f"**No reason given** in {REASONS}:"
        yield ""
        for mutant in members:
            yield f"- `{mutant.title}`"
        yield ""

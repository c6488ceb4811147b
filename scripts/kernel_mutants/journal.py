"""verdicts.jsonl of a work folder: one line per mutant tried, written as soon as it was."""

import json
import os

from kernel_mutants.trial import Verdict


class Journal:
    """`sources`: what the mutants and their tests were built from. Lines of other sources are of an earlier build."""

    def __init__(self, work, sources):
        self._path, self._sources = os.path.join(work, "verdicts.jsonl"), sources
        self._entries = {}  # by title, the last one
        if os.path.exists(self._path):
            with open(self._path, "r+b") as file:
                lines = file.read()
                whole = lines[: lines.rfind(b"\n") + 1]  # a run that was killed may have left half a line
                file.truncate(len(whole))
            self._entries = {entry["title"]: entry for entry in map(json.loads, whole.splitlines())}

    def add(self, mutant, verdict, every_program):
        entry = {"title": mutant.title, "sources": self._sources, "killed": verdict.killed, "by": verdict.by}
        entry |= {"cases": verdict.cases, "every_program": every_program}
        self._entries[mutant.title] = entry
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def survived(self, mutant):
        """When it was last tried, whatever the sources."""
        return mutant.title in self._entries and not self._entries[mutant.title]["killed"]

    def verdict(self, mutant):
        """None where these sources have none yet, or one by some programs that let it live."""
        entry = self._entries.get(mutant.title)
        if not entry or entry["sources"] != self._sources or not (entry["killed"] or entry["every_program"]):
            return None
        return Verdict(entry["killed"], entry["by"], entry["cases"])

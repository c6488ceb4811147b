"""All mutants of a file in one source: each changed expression asks which mutant runs. And the tree to build of it."""

import os
import re

SWITCH = "cuda/mutant.h"
_FIRST = "cuda/device.cuh"  # every kernel file includes it first
_COMMENT_OR_LITERAL = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.DOTALL)

HEADER = """#pragma once
/// The mutant that this process runs; 0 none; -1 none, and notes which functions are reached.
extern "C" const int running_mutant;
extern "C" void note_reached(int function);
#define MUTANT(n) __builtin_expect(running_mutant == (n), 0)
#define REACHED(f) if (__builtin_expect(running_mutant < 0, 0)) note_reached(f)
"""

_CHOICE = """
#include <atomic>
#include <cstdio>
#include <cstdlib>
extern "C" const int running_mutant = std::getenv("MUTANT") ? std::atoi(std::getenv("MUTANT")) : 0;
namespace {
struct Reached {
  std::atomic<bool> function[%d] = {};
  ~Reached() {
    const char* path = std::getenv("MUTANT_REACHED");
    std::FILE* file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    int i = 0;
    for (const auto& f : function) {
      if (f) std::fprintf(file, "%%d\\n", i);
      ++i;
    }
    std::fclose(file);
  }
} reached;
}  // namespace
extern "C" void note_reached(int f) { reached.function[f].store(true, std::memory_order_relaxed); }
"""


def without_comments(text):
    """The same text with comments blanked out; every offset stays."""

    def blank(match):
        word = match.group()
        return re.sub(r"[^\n]", " ", word) if word.startswith("/") else word

    return _COMMENT_OR_LITERAL.sub(blank, text)


def mutated(text, mutants, bodies):
    """Source in which MUTANT(number) chooses; `bodies`: [(offset of a function's brace, its number)]."""
    layers = {}
    for mutant in mutants:
        # Of two expressions that cover the same text the one found first is the outer one.
        layers.setdefault((mutant.begin, mutant.end, mutant.shape), []).append(mutant)
    sites = [(begin, -end, order, group) for order, ((begin, end, _), group) in enumerate(layers.items())]
    sites += [(brace + 1, -(brace + 1), -1, number) for brace, number in bodies]
    return _Renderer(text, sorted(sites, key=lambda site: site[:3])).render(0, len(text))


class _Renderer:
    def __init__(self, text, sites):
        self._text, self._sites, self._next = text, sites, 0

    def render(self, begin, end):
        parts, at = [], begin
        while self._next < len(self._sites):
            first, minus_last, _, group = self._sites[self._next]
            if first >= end and not (first == end == -minus_last) or -minus_last > end:
                break
            self._next += 1
            parts.append(self._text[at:first])
            at = -minus_last
            parts.append(f" REACHED({group});" if isinstance(group, int) else _choice(group, self.render(first, at)))
        parts.append(self._text[at:end])
        return "".join(parts)


def _choice(group, original):
    if group[0].shape == "condition":
        original = f"static_cast<bool>({original})"
    elif group[0].shape == "statement":
        original = f"void({original})"
    return "(" + "".join(f"MUTANT({m.number}) ? {m.replacement} : " for m in group) + original + ")"


def write_tree(top, tree, functions, mutants):
    """A copy of the tree with the mutants in cuda/, so that an edit meanwhile changes nothing. Files that are right already
    are left alone: a second build is small."""
    wanted = {SWITCH: HEADER}
    for path in files(top):
        with open(os.path.join(top, path), encoding="utf-8", errors="surrogateescape", newline="") as file:
            wanted[path] = file.read()
        if path.endswith((".cu", ".cuh")) and path.startswith("cuda/"):
            bodies = [(f.body, i) for i, f in enumerate(functions) if f.path == path]
            here = [m for m in mutants if m.path == path]
            wanted[path] = mutated(without_comments(wanted[path]), here, bodies)
        elif path.endswith(".cpp") and path.startswith("cuda/"):
            wanted[path] += _CHOICE % max(1, len(functions))
    wanted[_FIRST] = wanted[_FIRST].replace("#pragma once", f'#pragma once\n#include "{SWITCH}"', 1)
    for path, text in wanted.items():
        _write(os.path.join(tree, path), text)
    for path in files(tree):
        if path not in wanted:
            os.remove(os.path.join(tree, path))


def files(top):
    """What a build of the tests reads."""
    found = ["CMakeLists.txt"]
    for folder in ("app", "cmake", "core", "cuda", "profiles", "test_data", "tests"):
        for where, _, names in os.walk(os.path.join(top, folder)):
            found += [os.path.relpath(os.path.join(where, name), top) for name in names if not name.endswith(".pyc")]
    return sorted(found)


def _write(path, text):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)

"""The functions of cuda/ that the host target compiles, from clang's AST in JSON: operators, types and exact ranges."""

import json
import os
import subprocess
from dataclasses import dataclass

# What a dump is limited to; the rest of a translation unit is the standard library. CUDA's own intrinsics, which
# cuda/device.cuh writes out for the host in the global namespace, are the hardware's on a GPU and stay whole.
FILTERS = ("_kernel", "foxhunt::cuda", "(anonymous namespace)")
FUNCTIONS = ("FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl")
_RECORDS = ("CXXRecordDecl", "ClassTemplateDecl", "NamespaceDecl", "FunctionTemplateDecl", "LinkageSpecDecl")


class ParseError(Exception):
    pass


@dataclass
class Function:
    path: str  # relative to the top of the tree
    name: str  # a kernel's own, or Class::member
    node: dict  # the declaration; `begin` and `end` of every node are offsets into its file
    body: int  # offset of the brace that opens the body


def functions(top, paths, clang="clang++"):
    """Every function with a body in `paths`, once, by file and position."""
    found = {}
    for path in paths:
        if not path.endswith((".cu", ".cuh")):
            continue
        for wanted in FILTERS:
            for declaration in _dump(top, path, wanted, clang):
                _Placed(top).place(declaration)
                for function in _walk(declaration, ""):
                    if function.path in paths:
                        found.setdefault((function.path, function.node["begin"]), function)
    return [found[key] for key in sorted(found)]


def _dump(top, path, wanted, clang):
    command = [clang, "-std=c++20", "-I", top, "-x", "c++", "-fsyntax-only", "-Wno-everything"]
    command += ["-Xclang", "-ast-dump=json", "-Xclang", f"-ast-dump-filter={wanted}", os.path.join(top, path)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise ParseError(f"{path} does not parse: {run.stderr.strip().splitlines()[0]}")
    decoder, at = json.JSONDecoder(), 0
    while at < len(run.stdout):
        declaration, at = decoder.raw_decode(run.stdout, at)
        while at < len(run.stdout) and run.stdout[at].isspace():
            at += 1
        yield declaration


class _Placed:
    """Gives every node `file`, `begin`, `end` and `macro`. The dump names a file only where it changes, in its own order."""

    def __init__(self, top):
        self._top, self._file = top, None

    def place(self, node):
        if "loc" in node:
            self._spot(node["loc"])
        begin = end = None
        if "range" in node:
            begin, end = self._spot(node["range"]["begin"]), self._spot(node["range"]["end"])
        if begin and end:
            node["file"], node["begin"], node["end"] = begin[0], begin[1], end[2]
            node["macro"] = begin[3]  # an object-like macro may end it: INFINITY
        for child in node.get("inner", ()):
            self.place(child)

    def _spot(self, location):
        """(file, first, past the last, whether a macro wrote it) of a token, where the source has it."""
        if "expansionLoc" in location:
            spelled = self._spot(location["spellingLoc"])
            used = self._spot(location["expansionLoc"])
            if used and "isMacroArgExpansion" in location["expansionLoc"] and spelled:
                return spelled
            return used and (*used[:3], True)
        if "file" in location:
            self._file = os.path.relpath(location["file"], self._top)
        if "offset" not in location:
            return None
        return self._file, location["offset"], location["offset"] + location["tokLen"], False


def _walk(node, scope):
    kind = node.get("kind")
    if node.get("isImplicit"):
        return
    if kind in FUNCTIONS:
        body = next((c for c in node.get("inner", ()) if c.get("kind") == "CompoundStmt"), None)
        if body and "begin" in body and not node.get("constexpr"):
            yield Function(node["file"], scope + node["name"], node, body["begin"])
        return
    if kind in _RECORDS:
        inner = scope
        if kind == "CXXRecordDecl" and node.get("name"):
            inner = scope + node["name"] + "::"
        instances = False
        for child in node.get("inner", ()):
            if kind in ("ClassTemplateDecl", "FunctionTemplateDecl") and child.get("kind") in FUNCTIONS + ("CXXRecordDecl",):
                if instances:
                    continue  # what follows the pattern are its instances
                instances = True
            yield from _walk(child, inner)

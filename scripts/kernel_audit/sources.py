"""The source files, their includes and tokens, and the flags they are compiled with."""

import json
import os
import re
import shlex

FOLDERS = ("app", "core", "cuda", "tests")  # and what the top CMakeLists.txt adds
UNITS = (".cpp", ".cu", ".cc", ".cxx")
HEADERS = (".h", ".cuh", ".hpp", ".hh", ".hxx", ".inl")
PROTOTYPES = "core/kernels.h"
DECLARING = (PROTOTYPES, "core/alpha_kernels.h")  # all headers with prototypes; the first includes the others
CATALOGUE = "FOXHUNT_KERNELS"  # the macro there that lists them
DOOR = "core/device/"  # what lies here carries launches; everything else asks launch() for one
LAUNCHER = "core/device/cuda_device.cpp"  # alone calls CUDA to launch and to copy
# Its headers exist on machines with a CUDA toolkit alone; kernel_audit/words.py looks at its words instead.
NOT_PARSED = (LAUNCHER,)
# The host target as the tests have it, with blocks of many threads, is the one file that needs a definition.
_DEFINITIONS = {"cuda/host_threads.cpp": ("-DFOXHUNT_THREADED_BLOCKS",)}

# Comments and literals come first, so that nothing inside them is taken for code.
_LEXER = re.compile(
    r"""//(?:[^\n]*\\\n)*[^\n]*|/\*.*?\*/
      | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | (?:u8|[uUL])?'(?:\\.|[^'\\\n])*'
      | \.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*
      | (?P<word>[A-Za-z_]\w*) | (?P<sign><<<|\#\#|[^\s])""",
    re.VERBOSE | re.DOTALL,
)
_ADDED = re.compile(r"^[ \t]*add_subdirectory[ \t]*\([ \t]*([\w./-]+)", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


class Sources:
    """All source files, by path relative to the top. Text is decoded byte for byte: an offset is clang's."""

    def __init__(self, top):
        self.top = top
        self.paths = []
        self._texts, self._tokens, self._reached = {}, {}, {}
        for folder in sorted({*FOLDERS, *_ADDED.findall(self.build_text("."))}):
            for where, folders, names in os.walk(os.path.join(top, folder)):
                folders.sort()
                for name in sorted(names):
                    if name.endswith(UNITS + HEADERS):
                        self.paths.append(os.path.relpath(os.path.join(where, name), top))
        self.known = frozenset(self.paths)

    def text(self, path):
        if path not in self._texts:
            with open(os.path.join(self.top, path), "rb") as file:
                self._texts[path] = file.read().decode("latin-1")
        return self._texts[path]

    def build_text(self, folder):
        """The folder's CMakeLists.txt without comments, "" where there is none."""
        path = os.path.join(folder, "CMakeLists.txt")
        return re.sub(r"#[^\n]*", "", self.text(path)) if os.path.isfile(os.path.join(self.top, path)) else ""

    def is_built(self, path):
        """Whether a CMakeLists.txt of its folder, or of one above it, names the file, or takes all of its kind."""
        folder, name = os.path.split(path)
        pattern = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])|\*{re.escape(os.path.splitext(name)[1])}\b")
        while folder:
            if pattern.search(self.build_text(folder)):
                return True
            folder = os.path.dirname(folder)
        return False

    def line(self, path, offset):
        return self.text(path).count("\n", 0, offset) + 1

    def tokens(self, path):
        """(text, offset) of words and signs, without comments, literals and numbers."""
        if path not in self._tokens:
            self._tokens[path] = [
                (match.group(), match.start()) for match in _LEXER.finditer(self.text(path)) if match.lastgroup in ("word", "sign")
            ]
        return self._tokens[path]

    def words(self, path):
        return {text for text, _ in self.tokens(path)}

    def includes(self, path):
        return [match.group(2) for match in _INCLUDE.finditer(self.text(path))]

    def reached(self, path):
        """Everything that `path` includes, directly or through files of this project."""
        if path not in self._reached:
            self._reached[path], queue = set(), [path]
            while queue:
                for name in self.includes(queue.pop()):
                    if name not in self._reached[path]:
                        self._reached[path].add(name)
                        if os.path.isfile(os.path.join(self.top, name)):
                            queue.append(name)
        return self._reached[path]


class Flags:
    """Compile flags for clang: those of a build folder's compile_commands.json that a parse needs, or defaults."""

    def __init__(self, top, build=None):
        self._top = top
        self._of = {}
        self._default = (
            "-std=c++20",
            "-I" + top,
            "-DFMT_HEADER_ONLY=1",
            f'-DFOXHUNT_SOURCE_DIR="{top}"',
            '-DFOXHUNT_TRAIN="foxhunt-train"',
            '-DFOXHUNT_VERSION="0"',
        )
        if build is not None:
            with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
                for entry in json.load(file):
                    path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), top)
                    arguments = entry.get("arguments") or shlex.split(entry["command"])
                    self._of.setdefault(path, tuple(_kept(arguments, entry["directory"])))

    def of(self, path):
        return self._of.get(path, self._default + _DEFINITIONS.get(path, ()))


def _kept(arguments, directory):
    """Include paths, definitions and the language standard; warnings and code generation are the build's affair."""
    i = 1
    while i < len(arguments):
        argument = arguments[i]
        option = next((o for o in ("-isystem", "-include", "-I", "-D", "-U") if argument.startswith(o)), None)
        if option:
            value = argument[len(option) :]
            if not value:
                i += 1
                value = arguments[i]
            yield option + (os.path.join(directory, value) if option in ("-I", "-isystem") else value)
        elif argument.startswith("-std="):
            yield argument.replace("gnu++", "c++")
        i += 1

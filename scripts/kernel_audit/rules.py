"""What the facts must obey. Every failure is (path, line, text): what is wrong, and what to do."""

import os

from kernel_audit import spans, words
from kernel_audit.sources import CATALOGUE, DECLARING, NOT_PARSED, PROTOTYPES, UNITS


class Audit:
    """The facts of one state of the sources, and everything that is wrong with them."""

    def __init__(self, sources, prototypes, rows, facts):
        self.sources = sources
        self.prototypes = {kernel.name: kernel for kernel in prototypes if kernel.path in DECLARING}
        self.rows = rows
        self.facts = facts
        self.definitions = [kernel for kernel in facts.definitions if kernel.path not in DECLARING]
        self.launches, self.tested_by = {}, {}
        self.failures = []

    def kernels(self):
        """Every kernel by name: the catalogue's in its order, then those that it lacks."""
        known = {kernel.name: kernel for kernel in [*self.definitions, *self.prototypes.values()]}
        order = [*(name for name, _, _ in self.rows if name in known), *sorted(kernel.name for kernel in self.definitions)]
        return {name: known[name] for name in order}

    def fail(self, path, line, text):
        if (path, line, text) not in self.failures:
            self.failures.append((path, line, text))

    def run(self):
        for fault in self.facts.errors:
            self.fail(fault.path, fault.line, fault.text)
        for path in self.sources.paths:
            for line, text in words.check(self.sources, path):
                self.fail(path, line, text)
        if self.facts.errors:
            return  # what one file hides, the rules below would report as missing elsewhere
        for fault in self.facts.faults:
            self.fail(fault.path, fault.line, fault.text)
        self._catalogue()
        self._restrict()
        self._uses()
        self._all_seen()
        self._built()
        self._coverage()

    # ---- catalogue, prototypes, definitions ----

    def _catalogue(self):
        defined = {kernel.name: kernel for kernel in self.definitions}
        listed = {name: (line, arguments) for name, line, arguments in self.rows}
        if not listed:
            self.fail(PROTOTYPES, 1, f"no rows of {CATALOGUE} found: the catalogue is the macro #define {CATALOGUE}(X)")
        for name, kernel in defined.items():
            if name not in self.prototypes:
                self.fail(kernel.path, kernel.line, f"{name} has no prototype: declare it in {PROTOTYPES}, above its catalogue row")
            if name not in listed:
                self.fail(
                    kernel.path, kernel.line, f"{name} has no catalogue row: add X({name}, threads, unit, work, arguments) "
                    f"to {CATALOGUE} in {PROTOTYPES}",
                )  # fmt: skip
            elif name in self.prototypes:
                self._same(self.prototypes[name], kernel)
        for name, kernel in self.prototypes.items():
            if name not in defined and name not in listed:
                self.fail(kernel.path, kernel.line, f"{name} is declared and neither defined nor listed: delete the prototype")
        for name, (line, arguments) in listed.items():
            if name not in defined:
                self.fail(PROTOTYPES, line, f"{name} has a catalogue row and no definition: define it in cuda/, or delete the row")
            if name in self.prototypes:
                self._fits(self.prototypes[name], line, arguments)

    def _same(self, prototype, definition):
        ours, theirs = prototype.parameters, definition.parameters
        place = f"the prototype, {prototype.path}:{prototype.line}"
        if len(ours) != len(theirs):
            text = f"takes {len(theirs)} parameters, {place}, has {len(ours)}"
            self.fail(definition.path, definition.line, f"{definition.name} {text}: make them the same")
        for a, b in zip(ours, theirs):
            for what in ("name", "type", "restrict"):
                if getattr(a, what) != getattr(b, what):
                    text = f"parameter '{b.name}' is {_described(b)} here and {_described(a)} in {place}"
                    self.fail(definition.path, definition.line, f"{definition.name}: {text}: make them the same")
                    break

    def _fits(self, prototype, line, arguments):
        names = [name for name, _ in arguments]
        expected = [parameter.name for parameter in prototype.parameters]
        if names != expected:
            self.fail(
                PROTOTYPES, line, f"{prototype.name}: its catalogue row lists ({', '.join(names)}), its prototype, "
                f"{prototype.path}:{prototype.line}, ({', '.join(expected)}): correct the row",
            )  # fmt: skip
            return
        for (name, size), parameter in zip(arguments, prototype.parameters):
            if bool(size) != parameter.pointer:
                what = "a pointer: give its size in the row" if parameter.pointer else "no pointer: take its size out of the row"
                self.fail(PROTOTYPES, line, f"{prototype.name}: '{name}' is {what}")

    def _restrict(self):
        for kernel in [*self.prototypes.values(), *self.definitions]:
            pointers = [p for p in kernel.parameters if p.pointer]
            prototype = self.prototypes.get(kernel.name, kernel)
            for parameter in kernel.parameters:
                if parameter.hides:
                    self.fail(
                        kernel.path, kernel.line, f"{kernel.name}: '{parameter.name}' ({parameter.type}) hides a pointer from "
                        "the checks of launch(): make every pointer a parameter of its own",
                    )  # fmt: skip
            for parameter in pointers:
                if len(pointers) > 1 and parameter.written and not parameter.restrict and not prototype.may_overlap:
                    self.fail(
                        kernel.path, kernel.line, f"{kernel.name} writes '{parameter.name}', which is not __restrict__: add "
                        "__restrict__, or say 'may overlap' in the comment of its prototype",
                    )  # fmt: skip

    # ---- launches ----

    def _uses(self):
        for use in self.facts.uses:
            if use.how == "call":
                self.fail(use.path, use.line, f"direct call of {use.kernel}: call launch(device, {use.kernel}, ...)")
            elif use.how == "address":
                self._taken(use)
            elif use.how == "argument":
                self._given(use)
            elif use.how == "launch":
                self._launch(use)

    def _taken(self, use):
        self.fail(
            use.path, use.line, f"takes the address of {use.kernel}: name a kernel in launch(device, {use.kernel}, ...) alone, "
            "so that its arguments are checked",
        )  # fmt: skip

    def _given(self, use):
        """A kernel given to a function: to one that gives it to launch(), or only looks it up."""
        key = (use.callee, use.position)
        if key not in self.facts.passes:
            self._taken(use)
            return
        wrong, launches = self._passes_on(key, set())
        for inner in wrong:
            self.fail(
                inner.path, inner.line, f"{inner.function} is given {use.kernel} ({use.path}:{use.line}) and "
                f"{'calls it' if inner.how == 'call' else 'keeps it'}: give '{inner.kernel}' to launch() and nothing else",
            )  # fmt: skip
        if launches and not wrong:
            self._launch(use)

    def _passes_on(self, key, visited):
        """(uses of the parameter that are not allowed, whether one of the others launches)."""
        if key in visited:
            return [], False
        visited.add(key)
        wrong, launches = [], False
        for use in self.facts.passes[key]:
            if use.how == "argument" and (use.callee, use.position) in self.facts.passes:
                inner, deeper = self._passes_on((use.callee, use.position), visited)
                wrong += inner
                launches |= deeper
            elif use.how == "launch":
                launches = True
            elif use.how != "lookup":
                wrong.append(use)
        return wrong, launches

    def _launch(self, use):
        if use.refused:
            return
        self.launches.setdefault(use.kernel, []).append(use)
        prototype = self.prototypes.get(use.kernel)
        if prototype is None or len(prototype.parameters) != len(use.arguments) or prototype.may_overlap:
            return
        given = [(p, a) for p, a in zip(prototype.parameters, use.arguments) if p.pointer]
        for i, (parameter, argument) in enumerate(given):
            for other, same in given[i + 1 :]:
                if (parameter.written or other.written) and spans.overlap(argument, same):
                    writes = parameter if parameter.written else other
                    whole = min(argument, same, key=len)
                    self.fail(
                        use.path, use.line, f"launch of {use.kernel} gives '{whole}' twice, as '{parameter.name}' and as "
                        f"'{other.name}', and the kernel writes '{writes.name}': pass distinct spans",
                    )  # fmt: skip

    def _all_seen(self):
        """Every mention of a kernel in code was met in the AST: nothing hides in a macro or behind #ifdef."""
        names = set(self.prototypes) | {kernel.name for kernel in self.definitions}
        for path in self.sources.paths:
            if names.isdisjoint(self.sources.words(path)):
                continue
            for text, offset in self.sources.tokens(path):
                if text in names and (path, offset) not in self.facts.seen and not self._in_catalogue(path, offset):
                    where = "in a file that is not parsed" if path in NOT_PARSED else "in a macro or in code that the host target does not compile"
                    self.fail(
                        path, self.sources.line(path, offset), f"names {text} {where}, where a launch cannot be audited: launch it in plain code",
                    )  # fmt: skip
        for path in self.sources.paths:
            if path.startswith("cuda/") and path != "cuda/device.cuh":
                self._kernels_seen(path)

    def _in_catalogue(self, path, offset):
        return path == PROTOTYPES and any(line == self.sources.line(path, offset) for _, line, _ in self.rows)

    def _kernels_seen(self, path):
        """Every KERNEL in cuda/ begins a definition that the host target compiles."""
        words = [token for token in self.sources.tokens(path)]
        defined = {kernel.offset for kernel in self.definitions if kernel.path == path}
        for i, (text, offset) in enumerate(words):
            if text == "KERNEL":
                following = {at for _, at in words[i + 1 : i + 40]}
                if defined.isdisjoint(following):
                    self.fail(path, self.sources.line(path, offset), "a KERNEL that the host target does not compile, or does not define here")

    # ---- launched by the library, launched by a test ----

    def _built(self):
        """A launch in a file that is not compiled shows nothing."""
        sites = sorted((use.path, use.line) for uses in self.launches.values() for use in uses)
        for path, line in dict(reversed(sites)).items():
            if path.endswith(UNITS) and not self.sources.is_built(path):
                folder, file = os.path.split(path)
                self.fail(path, line, f"launches a kernel and is not built: name {file} in {folder}/CMakeLists.txt")

    def _coverage(self):
        self._tests()
        for kernel in self.definitions:
            name = kernel.name
            if not self.library_launches(name):
                self.fail(
                    kernel.path, kernel.line, f"{name} has no launch: nothing in core/ or app/ launches it: add "
                    f"launch(device, {name}, ...) where core/ needs it, or delete the kernel",
                )  # fmt: skip
            if not any(path.startswith("tests/cuda/") for path in self.tested_by.get(name, ())):
                stem = os.path.splitext(os.path.basename(kernel.path))[0]
                self.fail(
                    kernel.path, kernel.line, f"{name} has no test: no test case in tests/cuda launches it: add one to "
                    f"tests/cuda/test_{stem}.cpp",
                )  # fmt: skip

    def library_launches(self, name):
        return [use for use in self.launches.get(name, ()) if use.path.startswith(("core/", "app/"))]

    def _tests(self):
        """tested_by: kernel -> files with a test case from which a launch of it can be reached."""
        launched_in = {}
        for name, uses in self.launches.items():
            for use in uses:
                if use.path.startswith("tests/"):
                    launched_in.setdefault(use.node, set()).add(name)
        for case in self.facts.cases:
            reached, queue = {case}, [case]
            while queue:
                for callee in self.facts.calls.get(queue.pop(), ()):
                    if callee not in reached and callee[0].startswith("tests/"):
                        reached.add(callee)
                        queue.append(callee)
            for node in reached:
                for name in launched_in.get(node, ()):
                    self.tested_by.setdefault(name, set()).add(case[0])


def _described(parameter):
    return f"{parameter.type} {'__restrict__ ' if parameter.restrict else ''}{parameter.name}"

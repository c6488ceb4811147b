"""The parse: clang's AST of the host target, through libclang, into facts."""

import ctypes
import itertools
import os

import clang.cindex as cindex
from clang.cindex import CursorKind as Kind
from clang.cindex import TokenKind

from kernel_audit import spans
from kernel_audit.cursors import CASTS, FUNCTIONS, WRAPPERS, comment_above, is_at, is_function_pointer, is_kernel, is_recorded
from kernel_audit.cursors import parameters, qualified_name, strip, word_at
from kernel_audit.facts import Facts, Fault, Kernel, Use
from kernel_audit.sources import CATALOGUE, DECLARING, DOOR, PROTOTYPES

_PREFIX_OPTIONS = cindex.TranslationUnit.PARSE_INCOMPLETE | 0x10  # 0x10: CXTranslationUnit_ForSerialization
_REFERENCES = (Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR, Kind.OVERLOADED_DECL_REF)
# What core/device alone may use, and what to use instead.
_INNER_MEMBERS = {
    "host_call": "calls or sets a launch's host_call: only core/device runs launches; use launch()",
    "host_function": "takes a kernel's address out of the catalogue (host_function): call launch(device, kernel, ...)",
    "copy_bytes": "raw copy (copy_bytes): use Device::copy between spans, Device::upload or Device::download",
}
_LEAVES = (Kind.TYPE_REF, Kind.TEMPLATE_REF, Kind.NAMESPACE_REF, Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL, Kind.STRING_LITERAL)


def parse_prefix(sources, flags, header, includes):
    """Precompiles a header that is nothing but `includes`; gives the facts of the project's headers among them."""
    with open(header, "w", encoding="utf-8") as file:
        file.writelines(f'#include "{name}"\n' for name in includes)
    unit = _parse(header, ["-x", "c++-header", "-fpch-instantiate-templates", *flags], _PREFIX_OPTIONS)
    reader = _Reader(sources, unit)
    facts = reader.read()
    if not facts.errors:
        unit.save(header + ".pch")
    return facts


def parse_file(sources, flags, path, prefix=None):
    arguments = ["-x", "c++", *flags]
    if prefix:
        arguments = ["-include-pch", prefix + ".pch", *arguments]
    return _Reader(sources, _parse(os.path.join(sources.top, path), arguments, 0)).read()


def parse_catalogue(sources, flags):
    """(prototypes, rows): what core/kernels.h declares, and (name, line, [(argument, size or "")]) of its table."""
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    unit = _parse(os.path.join(sources.top, PROTOTYPES), ["-x", "c++", *flags], options)
    reader = _Reader(sources, unit)
    facts = reader.read()
    rows = []
    for cursor in unit.cursor.get_children():
        if cursor.kind == Kind.MACRO_DEFINITION and cursor.spelling == CATALOGUE:
            tokens = (token for token in cursor.get_tokens() if token.kind != TokenKind.COMMENT)
            rows = list(_rows([(token.spelling, token.location.line) for token in tokens]))
    return facts, rows


def _rows(tokens):
    """X(kernel, threads, unit, "work", "arguments" ...) out of the macro's tokens."""
    i = 4  # NAME ( X )
    while i + 2 < len(tokens):
        name, line = tokens[i + 2]
        close = next(j for j in range(i, len(tokens)) if tokens[j][0] == ")")
        commas = [j for j in range(i, close) if tokens[j][0] == ","]
        text = "".join(token[1:-1] for token, _ in tokens[commas[3] + 1 : close]) if len(commas) == 4 else ""
        yield name, line, [_argument(word.strip()) for word in text.split(",")]
        i = close + 1


def _argument(word):
    name, _, size = word.partition("[")
    return name, size.rstrip("]")


def _parse(path, arguments, options):
    index = cindex.Index.create(excludeDecls=True)
    return index.parse(path, args=arguments, options=options)


class _Reader:
    def __init__(self, sources, unit):
        self._sources, self._unit = sources, unit
        self._facts = Facts()
        self._paths = {}
        self._restricted = {}  # node of a function of cuda/ -> its parameters; [] when none is __restrict__

    def read(self):
        for diagnostic in self._unit.diagnostics:
            if diagnostic.severity >= cindex.Diagnostic.Error:
                path, line, _ = self._place(diagnostic.location)
                path = path or diagnostic.location.file and diagnostic.location.file.name or self._unit.spelling
                self._facts.errors.append(Fault(path, line, f"does not parse: {diagnostic.spelling}"))
                return self._facts
        for cursor in self._unit.cursor.get_children():
            if self._place(cursor.location)[0]:
                self._walk(cursor, [], "", None)
        return self._facts

    def _place(self, location):
        """(path, line, offset): inside a macro's argument where that was written, else where the macro was used. The path
        is None outside the project's files."""
        file, line, offset = cindex.c_object_p(), ctypes.c_uint(), ctypes.c_uint()
        get = cindex.conf.lib.clang_getFileLocation
        get(location, ctypes.byref(file), ctypes.byref(line), None, ctypes.byref(offset))
        if not file:
            return None, 0, 0
        handle = ctypes.cast(file, ctypes.c_void_p).value
        if handle not in self._paths:
            path = os.path.relpath(os.path.join(self._sources.top, cindex.File(file).name), self._sources.top)
            self._paths[handle] = path if path in self._sources.known else None
        return self._paths[handle], line.value, offset.value

    def _node(self, cursor):
        path, _, offset = self._place(cursor.canonical.location)
        return (path, offset) if path else None

    def _walk(self, cursor, parents, function, node):
        kind = cursor.kind
        if kind in FUNCTIONS:
            inner = self._function(cursor)
            if node and inner:
                self._facts.calls.setdefault(node, set()).add(inner)
            function, node = qualified_name(cursor), inner or node
        elif kind in _REFERENCES:
            self._reference(cursor, parents, function, node)
        elif kind == Kind.CALL_EXPR:
            self._call(cursor, parents, function, node)
        if kind in _LEAVES:
            return
        for i, child in enumerate(cursor.get_children()):
            self._walk(child, parents + [(cursor, i)], function, node)

    # ---- declarations ----

    def _function(self, cursor):
        path, line, offset = self._place(cursor.location)
        if cursor.kind == Kind.FUNCTION_DECL and path and is_kernel(cursor, path):
            if path in DECLARING or cursor.is_definition():
                comment = comment_above(self._sources.text(path), cursor.extent.start.line)
                taken = tuple(parameters(cursor))
                self._facts.definitions.append(
                    Kernel(cursor.spelling, path, line, offset, taken, "may overlap" in comment)
                )
            self._facts.seen.add((path, offset))
        node = self._node(cursor)
        if node and path:
            if path.startswith("tests/") and self._is_case(cursor, path, offset):
                self._facts.cases.add(node)
            for position, parameter in enumerate(p for p in cursor.get_children() if p.kind == Kind.PARM_DECL):
                if is_function_pointer(parameter.type):
                    self._facts.passes.setdefault((node, position), [])
        return node

    def _is_case(self, cursor, path, offset):
        """A test case that runs unasked: not one with a hiding tag, [.] or [.reason]."""
        return "TEST_CASE" in self._macro(cursor.location) and "[." not in self._sources.text(path)[offset:].partition("{")[0]

    # ---- uses ----

    def _reference(self, cursor, parents, function, node):
        if cursor.kind == Kind.MEMBER_REF_EXPR:
            self._inner_member(cursor, parents)
        target = cursor.referenced
        if cursor.kind == Kind.OVERLOADED_DECL_REF:
            lib = cindex.conf.lib
            targets = [lib.clang_getOverloadedDecl(cursor, i) for i in range(lib.clang_getNumOverloadedDecls(cursor))]
        else:
            targets = [target] if target is not None else []
        for target in targets:
            if target.kind in FUNCTIONS:
                place = self._node(target)
                if place and node:
                    self._facts.calls.setdefault(node, set()).add(place)
                if place and is_kernel(target, place[0]):
                    path, _, offset = self._place(cursor.location)
                    self._facts.seen.add((path, offset))
                    self._facts.uses.append(self._use(target.spelling, cursor, parents, function, node))
                    return
            elif target.kind == Kind.PARM_DECL and is_function_pointer(target.type):
                self._parameter_use(target, cursor, parents, function, node)

    def _inner_member(self, cursor, parents):
        member = self._member(cursor)
        if member not in _INNER_MEMBERS:
            return
        path, _, _ = self._place(cursor.location)
        around = itertools.takewhile(lambda kind: kind in CASTS + WRAPPERS, (parent.kind for parent, _ in reversed(parents)))
        looks = member == "host_function" and path and path.startswith("tests/") and not any(kind in CASTS for kind in around)
        if not looks:
            self._outside_door(cursor, _INNER_MEMBERS[member])

    def _parameter_use(self, parameter, cursor, parents, function, node):
        owner = parameter.semantic_parent
        key_node = self._node(owner) if owner is not None and owner.kind in FUNCTIONS else node
        if key_node is None or key_node[0].startswith(DOOR):
            return
        children = [c for c in (owner or cursor).get_children() if c.kind == Kind.PARM_DECL]
        position = next((i for i, c in enumerate(children) if c.spelling == parameter.spelling), 0)
        use = self._use(parameter.spelling, cursor, parents, function, node)
        self._facts.passes.setdefault((key_node, position), []).append(use)

    def _use(self, name, cursor, parents, function, node):
        """Classifies a reference by the call that it stands in."""
        path, line, _ = self._place(cursor.location)
        use = Use(name, path, line, "address", function, node)
        cast, call, index = False, None, 0
        for parent, child in reversed(parents):
            if parent.kind in CASTS:
                cast = True
            elif parent.kind not in WRAPPERS:
                if parent.kind == Kind.CALL_EXPR:
                    call, index = parent, child
                break
        if call is not None:
            constructs = call.referenced is not None and call.referenced.kind == Kind.CONSTRUCTOR
            if index == 0 and not constructs:
                use.how = "call"
                return use
            callee, position = self._callee(call), index if constructs else index - 1
            if is_at(callee, "launch", "core/device/launch.h") and position == 1 and not cast:
                use.how = "launch"
            elif is_at(callee, "kernel_info", "core/device/catalogue.h"):
                use.how = "lookup"
            elif callee and not cast:
                use.how, use.callee, use.position = "argument", callee[1], position
            if use.how in ("launch", "argument"):
                _, use.line, _ = self._place(call.extent.start)
                use.arguments = tuple(self._span_text(c) for c in list(call.get_children())[index + 1 :])
                use.refused = path.startswith("tests/") and self._expected_to_throw(cursor, parents)
        if self._macro(cursor.location) == CATALOGUE:
            use.how = "catalogue"
        return use

    def _call(self, cursor, parents, function, node):
        children = list(cursor.get_children())
        callee = self._callee(cursor)
        if cursor.referenced is not None and cursor.referenced.kind == Kind.CONSTRUCTOR and node:
            place = self._node(cursor.referenced)
            if place:
                self._facts.calls.setdefault(node, set()).add(place)
        if is_at(callee, "launch", "core/device/launch.h") and len(children) > 2:
            self._launched(children[2], cursor, parents, function, node)
        if callee and callee[1][0].startswith("cuda/"):
            self._device_call(cursor, callee, children)
        if children and children[0].kind == Kind.MEMBER_REF_EXPR and self._member(children[0]) == "submit":
            if not (len(children) == 2 and is_recorded(children[1], parents)):
                self._outside_door(
                    children[0],
                    "submits a Launch that was not taken from Program::launches(): launch() alone makes launches, and checks them",
                )

    def _launched(self, argument, call, parents, function, node):
        """launch() of something that is not a kernel's name or a parameter."""
        target = strip(argument)
        known = target.kind == Kind.DECL_REF_EXPR and target.referenced is not None
        if known and target.referenced.kind == Kind.PARM_DECL and is_function_pointer(target.referenced.type):
            return
        if known and target.referenced.kind == Kind.FUNCTION_DECL:
            place = self._node(target.referenced)
            if place and is_kernel(target.referenced, place[0]):
                return
        path, line, _ = self._place(call.extent.start)
        if path.startswith(DOOR) or path.startswith("tests/") and self._expected_to_throw(call, parents):
            return
        text = self._span_text(argument)
        self._facts.faults.append(
            Fault(path, line, f"launch of '{text}', which is not the name of a kernel of core/kernels.h: name the kernel here")
        )

    def _device_call(self, call, callee, children):
        """A function of cuda/ that takes __restrict__ pointers, given one pointer twice."""
        if callee[1] not in self._restricted:
            listed = parameters(self._target(call))
            self._restricted[callee[1]] = listed if any(p.restrict for p in listed) else []
        pairs = [(p, self._span_text(c)) for p, c in zip(self._restricted[callee[1]], children[1:]) if p.pointer]
        for i, (a, first) in enumerate(pairs):
            for b, second in pairs[i + 1 :]:
                if (a.written or b.written) and (a.restrict or b.restrict) and spans.overlap(first, second):
                    path, line, _ = self._place(call.extent.start)
                    text = f"'{first}' twice, as '{a.name}' and as '{b.name}', of which it writes one through __restrict__"
                    self._facts.faults.append(Fault(path, line, f"call of {callee[0]} gives {text}: pass distinct memory"))

    # ---- parts ----

    def _outside_door(self, cursor, text):
        path, line, _ = self._place(cursor.location)
        if path and not path.startswith(DOOR):
            self._facts.faults.append(Fault(path, line, text))

    def _callee(self, call):
        """(name, node) of the project's function that is called, or None."""
        target = self._target(call)
        node = self._node(target) if target is not None else None
        return (target.spelling, node) if node else None

    def _target(self, call):
        target = call.referenced
        if target is None or target.kind not in FUNCTIONS:
            first = next(iter(call.get_children()), None)
            while first is not None and first.kind != Kind.OVERLOADED_DECL_REF:
                first = next(iter(first.get_children()), None) if first.kind in WRAPPERS + (Kind.DECL_REF_EXPR,) else None
            if first is None:
                return None
            target = cindex.conf.lib.clang_getOverloadedDecl(first, 0)
        return target

    def _member(self, cursor):
        """The member's name; in a template, where it is not resolved, as written."""
        target = cursor.referenced
        if cursor.spelling:
            path = self._place(target.location)[0] if target is not None else None
            return cursor.spelling if path == "core/device/device.h" or path and path.startswith(DOOR) else ""
        path, _, offset = self._place(cursor.location)
        return word_at(self._sources.text(path), offset) if path else ""

    def _macro(self, location):
        """The word where a location is expanded: the macro's name when it comes out of one."""
        if location.file is None:
            return ""
        path = self._place(location)[0]
        return word_at(self._sources.text(path), location.offset) if path else ""

    def _expected_to_throw(self, cursor, parents):
        if self._macro(cursor.location).startswith(("REQUIRE_THROWS", "CHECK_THROWS")):
            return True
        return any(parent.kind == Kind.CALL_EXPR and parent.spelling == "device_error" for parent, _ in parents)

    def _span_text(self, cursor):
        return spans.text(cursor, self._sources, self._place)

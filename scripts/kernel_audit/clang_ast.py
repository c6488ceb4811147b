"""The parse: clang's AST of the host target, through libclang, into facts."""

import ctypes
import os

import clang.cindex as cindex
from clang.cindex import CursorKind as Kind
from clang.cindex import TypeKind

from kernel_audit.facts import Facts, Fault, Kernel, Parameter, Use

_PREFIX_OPTIONS = cindex.TranslationUnit.PARSE_INCOMPLETE | 0x10  # 0x10: CXTranslationUnit_ForSerialization
_FUNCTIONS = (Kind.FUNCTION_DECL, Kind.FUNCTION_TEMPLATE, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.CONVERSION_FUNCTION)
_WRAPPERS = (Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR, Kind.UNARY_OPERATOR)
_CASTS = (Kind.CXX_REINTERPRET_CAST_EXPR, Kind.CSTYLE_CAST_EXPR, Kind.CXX_STATIC_CAST_EXPR)
_REFERENCES = (Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR, Kind.OVERLOADED_DECL_REF)
_LEAVES = (Kind.TYPE_REF, Kind.TEMPLATE_REF, Kind.NAMESPACE_REF, Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL, Kind.STRING_LITERAL)
CATALOGUE = "FOXHUNT_KERNELS"
PROTOTYPES = "core/kernels.h"
DOOR = "core/device/"  # what lies here carries launches; everything else asks launch() for one


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
            rows = list(_rows([(token.spelling, token.location.line) for token in cursor.get_tokens()]))
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
        if kind in _FUNCTIONS:
            inner = self._function(cursor)
            if node and inner:
                self._facts.calls.setdefault(node, set()).add(inner)
            function, node = _name(cursor), inner or node
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
        if cursor.kind == Kind.FUNCTION_DECL and path and _is_kernel(cursor, path):
            if path == PROTOTYPES or cursor.is_definition():
                comment = _comment_above(self._sources.text(path), cursor.extent.start.line)
                parameters = tuple(_parameter(p) for p in cursor.get_arguments())
                self._facts.definitions.append(
                    Kernel(cursor.spelling, path, line, offset, parameters, "may overlap" in comment)
                )
            self._facts.seen.add((path, offset))
        node = self._node(cursor)
        if node and path:
            if path.startswith("tests/") and "TEST_CASE" in self._macro(cursor.location):
                self._facts.cases.add(node)
            for position, parameter in enumerate(p for p in cursor.get_children() if p.kind == Kind.PARM_DECL):
                if _is_function_pointer(parameter.type):
                    self._facts.passes.setdefault((node, position), [])
        return node

    # ---- uses ----

    def _reference(self, cursor, parents, function, node):
        if cursor.kind == Kind.MEMBER_REF_EXPR and self._member(cursor) == "host_call":
            self._outside_door(cursor, "calls or sets a launch's host_call: only core/device runs launches; use launch()")
        target = cursor.referenced
        if cursor.kind == Kind.OVERLOADED_DECL_REF:
            lib = cindex.conf.lib
            targets = [lib.clang_getOverloadedDecl(cursor, i) for i in range(lib.clang_getNumOverloadedDecls(cursor))]
        else:
            targets = [target] if target is not None else []
        for target in targets:
            if target.kind in _FUNCTIONS:
                place = self._node(target)
                if place and node:
                    self._facts.calls.setdefault(node, set()).add(place)
                if place and _is_kernel(target, place[0]):
                    path, _, offset = self._place(cursor.location)
                    self._facts.seen.add((path, offset))
                    self._facts.uses.append(self._use(target.spelling, cursor, parents, function, node))
                    return
            elif target.kind == Kind.PARM_DECL and _is_function_pointer(target.type):
                self._parameter_use(target, cursor, parents, function, node)

    def _parameter_use(self, parameter, cursor, parents, function, node):
        owner = parameter.semantic_parent
        key_node = self._node(owner) if owner is not None and owner.kind in _FUNCTIONS else node
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
            if parent.kind in _CASTS:
                cast = True
            elif parent.kind not in _WRAPPERS:
                if parent.kind == Kind.CALL_EXPR:
                    call, index = parent, child
                break
        if call is not None:
            constructs = call.referenced is not None and call.referenced.kind == Kind.CONSTRUCTOR
            if index == 0 and not constructs:
                use.how = "call"
                return use
            callee, position = self._callee(call), index if constructs else index - 1
            if _is_at(callee, "launch", "core/device/launch.h") and position == 1 and not cast:
                use.how = "launch"
            elif _is_at(callee, "kernel_info", "core/device/catalogue.h"):
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
        if _is_at(callee, "launch", "core/device/launch.h") and len(children) > 2:
            self._launched(children[2], cursor, parents, function, node)
        if children and children[0].kind == Kind.MEMBER_REF_EXPR and self._member(children[0]) == "submit":
            if not (len(children) == 2 and _is_recorded(children[1], parents)):
                self._outside_door(
                    children[0],
                    "submits a Launch that was not taken from Program::launches(): launch() alone makes launches, and checks them",
                )

    def _launched(self, argument, call, parents, function, node):
        """launch() of something that is not a kernel's name or a parameter."""
        target = _strip(argument)
        known = target.kind == Kind.DECL_REF_EXPR and target.referenced is not None
        if known and target.referenced.kind == Kind.PARM_DECL and _is_function_pointer(target.referenced.type):
            return
        if known and target.referenced.kind == Kind.FUNCTION_DECL:
            place = self._node(target.referenced)
            if place and _is_kernel(target.referenced, place[0]):
                return
        path, line, _ = self._place(call.extent.start)
        if path.startswith(DOOR) or path.startswith("tests/") and self._expected_to_throw(call, parents):
            return
        text = self._span_text(argument)
        self._facts.faults.append(
            Fault(path, line, f"launch of '{text}', which is not the name of a kernel of core/kernels.h: name the kernel here")
        )

    # ---- parts ----

    def _outside_door(self, cursor, text):
        path, line, _ = self._place(cursor.location)
        if path and not path.startswith(DOOR):
            self._facts.faults.append(Fault(path, line, text))

    def _callee(self, call):
        """(name, node) of the project's function that is called, or None."""
        target = call.referenced
        if target is None or target.kind not in _FUNCTIONS:
            first = next(iter(call.get_children()), None)
            while first is not None and first.kind != Kind.OVERLOADED_DECL_REF:
                first = next(iter(first.get_children()), None) if first.kind in _WRAPPERS + (Kind.DECL_REF_EXPR,) else None
            if first is None:
                return None
            target = cindex.conf.lib.clang_getOverloadedDecl(first, 0)
        node = self._node(target)
        return (target.spelling, node) if node else None

    def _member(self, cursor):
        """The member's name; in a template, where it is not resolved, as written."""
        target = cursor.referenced
        if cursor.spelling:
            path = self._place(target.location)[0] if target is not None else None
            return cursor.spelling if path == "core/device/device.h" or path and path.startswith(DOOR) else ""
        path, _, offset = self._place(cursor.location)
        return _word_at(self._sources.text(path), offset) if path else ""

    def _macro(self, location):
        """The word where a location is expanded: the macro's name when it comes out of one."""
        if location.file is None:
            return ""
        path = self._place(location)[0]
        return _word_at(self._sources.text(path), location.offset) if path else ""

    def _expected_to_throw(self, cursor, parents):
        if self._macro(cursor.location).startswith(("REQUIRE_THROWS", "CHECK_THROWS")):
            return True
        return any(parent.kind == Kind.CALL_EXPR and parent.spelling == "device_error" for parent, _ in parents)

    def _span_text(self, cursor):
        """An argument as written, without spaces and without what only converts."""
        path, _, first = self._place(cursor.extent.start)
        last = self._place(cursor.extent.end)[2]
        text = "".join(self._sources.text(path)[first:last].split()) if path else ""
        return text.removeprefix("this->").removesuffix(".span()")


def _is_kernel(function, path):
    """C linkage, declared in the catalogue's header or in cuda/; clang places a builtin where it was first used."""
    name = function.spelling
    inside = path == PROTOTYPES or path.startswith("cuda/")
    return inside and function.mangled_name == name and not name.startswith("__builtin_")


def _is_at(callee, name, path):
    return callee is not None and callee[0] == name and callee[1][0] == path


def _is_function_pointer(type_):
    type_ = type_.get_canonical()
    return type_.kind == TypeKind.POINTER and type_.get_pointee().get_canonical().kind == TypeKind.FUNCTIONPROTO


def _is_recorded(argument, parents):
    """True for the variable of `for (const Launch& launch : program.launches())`."""
    target = _strip(argument)
    if target.kind != Kind.DECL_REF_EXPR or target.referenced is None:
        return False
    for parent, _ in parents:
        if parent.kind == Kind.CXX_FOR_RANGE_STMT:
            parts = list(parent.get_children())
            if target.referenced in parts and target.referenced.type.get_canonical().spelling == "const foxhunt::Launch &":
                return any(_strip(part).spelling == "launches" for part in parts if part != target.referenced)
    return False


def _strip(cursor):
    """Without parentheses, conversions and copies."""
    while True:
        children = list(cursor.get_children())
        copies = cursor.kind == Kind.CALL_EXPR and cursor.referenced is not None and cursor.referenced.kind == Kind.CONSTRUCTOR
        if len(children) != 1 or not (copies or cursor.kind in _WRAPPERS):
            return cursor
        cursor = children[0]


def _name(cursor):
    parent = cursor.semantic_parent
    inside = parent is not None and parent.kind in (Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.CLASS_TEMPLATE)
    return f"{parent.spelling}::{cursor.spelling}" if inside else cursor.spelling


def _parameter(cursor):
    type_ = cursor.type
    pointer = type_.get_canonical().kind == TypeKind.POINTER
    spelling = type_.get_canonical().spelling.replace("__restrict", "").strip()
    written = pointer and not type_.get_canonical().get_pointee().is_const_qualified()
    return Parameter(cursor.spelling, spelling, pointer, written, type_.is_restrict_qualified())


def _comment_above(text, line):
    lines = text.split("\n")[: line - 1]
    comment = []
    while lines and lines[-1].lstrip().startswith("//"):
        comment.insert(0, lines.pop().strip().lstrip("/").strip())
    return " ".join(comment)


def _word_at(text, offset):
    end = offset
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return text[offset:end]

"""What a span or pointer argument stands for, as text: the same text is the same memory."""

import re

from clang.cindex import CursorKind as Kind

from kernel_audit.cursors import CASTS, FUNCTIONS, is_reference

_TYPES = (Kind.TYPE_REF, Kind.TEMPLATE_REF, Kind.NAMESPACE_REF)
_TRANSPARENT = (Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR, Kind.CXX_CONST_CAST_EXPR, *CASTS)
_SAME_OBJECT = ("as_const", "move", "ref", "cref")
_PART = ".part("


def overlap(a, b):
    """Whether two texts are certainly one memory: the same, or a whole and a part of it."""
    return bool(a and b) and (a == b or a.startswith(b + _PART) or b.startswith(a + _PART))


def text(cursor, sources, place):
    """The argument as written, without what only converts and with an alias replaced by what it is an alias of; "" for a
    temporary, which is distinct from any other. `place` gives (path, line, offset) of a location."""
    cursor = _stripped(cursor)
    parts = _expressions(cursor)
    if cursor.kind == Kind.CALL_EXPR:
        if cursor.spelling == "part" and parts and _object(parts[0]):
            whole = _object(parts[0])
            return text(whole, sources, place) + _between(whole.extent.end, cursor.extent.end, sources, place)
        if _is_temporary(cursor):
            return ""
    if cursor.kind == Kind.DECL_REF_EXPR and cursor.referenced is not None and cursor.referenced.kind == Kind.VAR_DECL:
        same = _alias(cursor.referenced, sources, place)
        if same:
            return same
    written = _between(cursor.extent.start, cursor.extent.end, sources, place)
    written = written.removeprefix("this->").removesuffix(".span()")
    return written[1:-3] if written.startswith("&") and written.endswith("[0]") else written


def _stripped(cursor):
    while True:
        inner = _inner(cursor)
        if inner is None:
            return cursor
        cursor = inner


def _inner(cursor):
    """What `cursor` is but another form of, or None."""
    parts = _expressions(cursor)
    if cursor.kind in _TRANSPARENT:
        return parts[0] if len(parts) == 1 else None
    if cursor.kind != Kind.CALL_EXPR or not parts:
        return None
    function = cursor.referenced
    if function is not None and function.kind == Kind.CONSTRUCTOR:
        if len(parts) == 1 and (_is_span(cursor) or function.is_copy_constructor() or function.is_move_constructor()):
            return parts[0]
        first = _stripped(parts[0])
        return _object(first) if _is_span(cursor) and first.spelling == "data" else None
    if function is not None and function.kind == Kind.CONVERSION_FUNCTION or cursor.spelling == "span" and len(parts) == 1:
        return _object(parts[0])
    return parts[1] if cursor.spelling in _SAME_OBJECT and len(parts) == 2 else None


def _expressions(cursor):
    return [child for child in cursor.get_children() if child.kind not in _TYPES]


def _object(member):
    """What stands before the dot or arrow; None for a member of *this."""
    return next(iter(_expressions(member)), None) if member.kind == Kind.MEMBER_REF_EXPR else None


def _is_span(cursor):
    return "DeviceSpan<" in cursor.type.get_canonical().spelling


def _is_temporary(call):
    """An object made here; not a reference to one, nor a span, which owns nothing, nor a pointer."""
    function = call.referenced
    if function is None or function.kind not in FUNCTIONS:
        return False
    if function.kind == Kind.CONSTRUCTOR:
        return not _is_span(call)
    pointer = "*" in call.type.get_canonical().spelling
    return not (_is_span(call) or pointer or is_reference(function.result_type))


def _alias(variable, sources, place):
    """What the variable was set to and still is, or ""."""
    value = _expressions(variable)
    if not value:
        return ""
    same = text(value[-1], sources, place)
    first = re.match(r"\w*", same).group()  # a copy differs from then on when either is set anew
    if not is_reference(variable.type) and not _are_kept({variable.spelling, first}, variable, sources, place):
        return ""
    initial = _stripped(value[-1])
    if initial.kind in (Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR):
        return same
    # What a call gave may differ from what it gives now; a part is still within its whole.
    whole, part, _ = same.partition(_PART)
    return f"{whole}{_PART}{variable.spelling})" if part else ""


def _are_kept(names, variable, sources, place):
    """Whether the function that declares the variable sets none of the names anew, as far as words tell."""
    function = variable.semantic_parent
    if function is None or function.kind not in FUNCTIONS:
        return False
    path, _, first = place(function.extent.start)
    _, _, last = place(function.extent.end)
    _, _, own = place(variable.location)
    if path is None:
        return False
    tokens = sources.tokens(path)
    inside = [i for i, (_, at) in enumerate(tokens) if first < at < last]
    for i in inside:
        (before, _), (word, at) = tokens[i - 1 : i + 1]
        after = "".join(text for text, _ in tokens[i + 1 : i + 4])
        declares = at == own or before in "&*>" or before.isidentifier()  # a type stands before it
        if word == "swap" or word in names and not declares and (before in "+-" or _sets(after)):
            return False
    return True


def _sets(after):
    return after.startswith(("++", "--", "+=", "-=", ".data=", ".size=")) or after.startswith("=") and not after.startswith("==")


def _between(start, end, sources, place):
    path, _, first = place(start)
    last = place(end)[2]
    return "".join(sources.text(path)[first:last].split()) if path else ""

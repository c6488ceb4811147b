"""Questions to clang's cursors and types that need no more than what is asked about."""

from clang.cindex import CursorKind as Kind
from clang.cindex import TypeKind

from kernel_audit.facts import Parameter
from kernel_audit.sources import DECLARING

FUNCTIONS = (Kind.FUNCTION_DECL, Kind.FUNCTION_TEMPLATE, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.CONVERSION_FUNCTION)
WRAPPERS = (Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR, Kind.UNARY_OPERATOR)
CASTS = (Kind.CXX_REINTERPRET_CAST_EXPR, Kind.CSTYLE_CAST_EXPR, Kind.CXX_STATIC_CAST_EXPR, Kind.CXX_FUNCTIONAL_CAST_EXPR)
_REFERENCES = (TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)


def is_kernel(function, path):
    """C linkage, declared in the catalogue's header or in cuda/; clang places a builtin where it was first used."""
    name = function.spelling
    inside = path in DECLARING or path.startswith("cuda/")
    return inside and function.mangled_name == name and not name.startswith("__builtin_")


def is_at(callee, name, path):
    return callee is not None and callee[0] == name and callee[1][0] == path


def is_function_pointer(type_):
    type_ = type_.get_canonical()
    return type_.kind == TypeKind.POINTER and type_.get_pointee().get_canonical().kind == TypeKind.FUNCTIONPROTO


def is_recorded(argument, parents):
    """True for the variable of `for (const Launch& launch : program.launches())`."""
    target = strip(argument)
    if target.kind != Kind.DECL_REF_EXPR or target.referenced is None:
        return False
    for parent, _ in parents:
        if parent.kind == Kind.CXX_FOR_RANGE_STMT:
            parts = list(parent.get_children())
            if target.referenced in parts and target.referenced.type.get_canonical().spelling == "const foxhunt::Launch &":
                return any(strip(part).spelling == "launches" for part in parts if part != target.referenced)
    return False


def strip(cursor):
    """Without parentheses, conversions and copies."""
    while True:
        children = list(cursor.get_children())
        copies = cursor.kind == Kind.CALL_EXPR and cursor.referenced is not None and cursor.referenced.kind == Kind.CONSTRUCTOR
        if len(children) != 1 or not (copies or cursor.kind in WRAPPERS):
            return cursor
        cursor = children[0]


def qualified_name(cursor):
    parent = cursor.semantic_parent
    inside = parent is not None and parent.kind in (Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.CLASS_TEMPLATE)
    return f"{parent.spelling}::{cursor.spelling}" if inside else cursor.spelling


def parameter(cursor):
    type_ = cursor.type.get_canonical()
    pointer = type_.kind == TypeKind.POINTER
    spelling = type_.spelling.replace("__restrict", "").strip()
    written = pointer and not type_.get_pointee().is_const_qualified()
    hides = _holds_pointer(type_.get_pointee() if pointer else type_)
    return Parameter(cursor.spelling, spelling, pointer, written, type_.is_restrict_qualified(), hides)


def _holds_pointer(type_):
    """A pointer, a reference, or something with one inside."""
    type_ = type_.get_canonical()
    if type_.kind == TypeKind.RECORD:
        bases = (c.type for c in type_.get_declaration().get_children() if c.kind == Kind.CXX_BASE_SPECIFIER)
        return any(map(_holds_pointer, (*bases, *(field.type for field in type_.get_fields()))))
    if type_.kind == TypeKind.CONSTANTARRAY:
        return _holds_pointer(type_.element_type)
    return type_.kind == TypeKind.POINTER or type_.kind in _REFERENCES


def parameters(function):
    """Those of a function or a function template."""
    return [parameter(cursor) for cursor in function.get_children() if cursor.kind == Kind.PARM_DECL]


def is_reference(type_):
    return type_.get_canonical().kind in _REFERENCES


def comment_above(text, line):
    lines = text.split("\n")[: line - 1]
    comment = []
    while lines and lines[-1].lstrip().startswith("//"):
        comment.insert(0, lines.pop().strip().lstrip("/").strip())
    return " ".join(comment)


def word_at(text, offset):
    end = offset
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return text[offset:end]

"""The small ways in which a function is broken: a list of mutants, each one expression with another in its place."""

import re
from dataclasses import dataclass

ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&"}
COMPARISON = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGICAL = {"&&": "||", "||": "&&"}
COMPOUND = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "^=": "|="}
EXTREME = {"fmaxf": "fminf", "fminf": "fmaxf"}
STRIDES = ("grid_stride", "block_per_item", "thread_stride", "tile_per_item", "over")
BARRIERS = ("__syncthreads", "sync")
# One argument, and a result of its kind: left out of the way, the argument is what remains.
UNWRAPPED = ("fabsf", "expf", "logf", "sqrtf", "tanhf", "cosf", "block_sum", "block_max", "sum", "max", "inclusive_sum")
_TRANSPARENT = ("ImplicitCastExpr", "ParenExpr", "ExprWithCleanups", "MaterializeTemporaryExpr", "ConstantExpr")
_SIMPLE = re.compile(r"[\w.]+(\[[\w.]+\])?")
SAYS_LITTLE = 32  # characters
_CALLS = ("CallExpr", "CXXMemberCallExpr")


@dataclass
class Mutant:
    path: str
    function: str
    kind: str
    begin: int  # the expression that changes
    end: int
    source: str  # its text, and what takes its place: one line each
    replacement: str
    shape: str  # value, condition or statement: how the two are joined
    line: int
    around: str  # the source line, where the expression alone says little
    nth: int = 1  # which of the mutants that read alike
    number: int = 0

    @property
    def title(self):
        """Names the mutant by what it reads, so that an edit elsewhere leaves the name as it is."""
        around = f" in: {self.around}" if self.around else ""
        again = f" (no. {self.nth})" if self.nth > 1 else ""
        return f"{self.path} {self.function} {self.kind}: {self.source} -> {self.replacement}{around}{again}"


def mutants(function, text):
    """Mutants of one function; `text` is its file without comments, offsets kept."""
    return _Visitor(function, text).run()


def number(found):
    """Numbers mutants from 1 and tells apart those that read alike."""
    alike = {}
    for i, mutant in enumerate(found, 1):
        mutant.number, mutant.nth = i, 1
        name = mutant.title
        alike[name] = mutant.nth = alike.get(name, 0) + 1


class _Visitor:
    def __init__(self, function, text):
        self._function, self._text = function, text
        self._found, self._seen = [], set()

    def run(self):
        for child in self._function.node.get("inner", ()):
            if child.get("kind") in ("CompoundStmt", "CXXCtorInitializer"):
                self._visit(child)
        return self._found

    def _add(self, node, kind, replacement, shape="value"):
        place = (node["begin"], node["end"], replacement)
        if node["macro"] or node["file"] != self._function.path or place in self._seen:
            return
        self._seen.add(place)
        begin, end = node["begin"], node["end"]
        source, replacement = _one_line(self._text[begin:end]), _one_line(replacement)
        line = self._text.count("\n", 0, begin)
        around = _one_line(self._text.split("\n", line + 1)[line]) if len(source) < SAYS_LITTLE else ""
        path, name = self._function.path, self._function.name
        self._found.append(Mutant(path, name, kind, begin, end, source, replacement, shape, line + 1, around))

    def _of(self, node):
        return self._text[node["begin"] : node["end"]]

    def _joined(self, left, operator, right):
        return f"{self._operand(left)} {operator} {self._operand(right)}"

    def _operand(self, node):
        text = self._of(node)
        return text if _SIMPLE.fullmatch(text) else f"({text})"

    # ---- the walk ----

    def _visit(self, node, index=False, narrow=False):
        kind = node.get("kind")
        if kind is None or "begin" not in node and kind != "CXXCtorInitializer":
            for child in node.get("inner", ()) if kind else ():
                self._visit(child, index)
            return
        if kind == "VarDecl" and (node.get("constexpr") or node.get("storageClass") == "static"):
            return  # what has to be a constant cannot be chosen when the program starts
        if kind in ("CXXRecordDecl", "StaticAssertDecl", "TypedefDecl", "TypeAliasDecl", "CXXDefaultArgExpr"):
            return  # of a lambda the body itself is visited, not its class
        if kind in _TRANSPARENT:
            narrow = narrow or node.get("castKind") == "IntegralCast"
            for child in node.get("inner", ()):
                self._visit(child, index, narrow)
            return
        handler = None if node.get("macro") else getattr(self, "_" + kind, None)
        if handler:
            handler(node, index, narrow)
        else:
            self._children(node, index)

    def _children(self, node, index=False):
        for child in node.get("inner", ()):
            self._visit(child, index)

    # ---- statements ----

    def _statement(self, node):
        inner = _strip(node)
        if inner.get("kind") in _CALLS and "begin" in inner:
            self._add(inner, "barrier" if _callee(inner) in BARRIERS else "call", "void()", "statement")
        self._visit(node)

    def _CompoundStmt(self, node, index, narrow):
        for child in node.get("inner", ()):
            self._statement(child)

    def _IfStmt(self, node, index, narrow):
        condition, *branches = node["inner"]
        self._condition(condition)
        for branch in branches:
            self._statement(branch)

    def _ForStmt(self, node, index, narrow):
        init, _, condition, _, body = node["inner"]  # the increment stays: without it a loop only never ends
        self._visit(init)
        self._visit(condition)
        compared = _strip(condition)
        if compared.get("opcode") in COMPARISON and _is_integer(compared["inner"][1]):
            right = compared["inner"][1]
            self._add(right, "bound", f"{self._operand(right)} - 1")
        self._statement(body)

    def _WhileStmt(self, node, index, narrow):
        self._visit(node["inner"][0])
        self._statement(node["inner"][-1])

    def _CXXForRangeStmt(self, node, index, narrow):
        declarations = [c for c in node["inner"] if c.get("kind") == "DeclStmt"]
        self._visit(declarations[0])  # the range; begin, end and step are the compiler's
        self._statement(node["inner"][-1])

    def _condition(self, node):
        self._add(node, "condition", "false", "condition")
        self._add(node, "condition", "true", "condition")
        self._visit(node)

    # ---- expressions ----

    def _ConditionalOperator(self, node, index, narrow):
        condition, yes, no = node["inner"]
        self._condition(condition)
        self._visit(yes)
        self._visit(no)

    def _BinaryOperator(self, node, index, narrow):
        left, right = node["inner"]
        # i < 4 becoming i <= 4 is i < 5 as well: one mutant, not two.
        if node["opcode"] in ("<", ">=") and _strip(right).get("kind") == "IntegerLiteral" and _is_integer(left):
            self._seen.add((right["begin"], right["end"], "constant"))
        operator = node["opcode"]
        if operator in ARITHMETIC and not (_is_pointer(left) and _is_pointer(right)):
            self._add(node, "arithmetic", self._joined(left, ARITHMETIC[operator], right))
        elif operator in COMPARISON:
            self._add(node, "comparison", self._joined(left, COMPARISON[operator], right))
        elif operator in LOGICAL:
            self._add(node, "logical", self._joined(left, LOGICAL[operator], right))
        if operator == ",":
            self._statement(left)
            self._statement(right)
        else:
            self._children(node, index and operator in ARITHMETIC)

    def _CompoundAssignOperator(self, node, index, narrow):
        left, right = node["inner"]
        operator = node["opcode"]
        if operator in COMPOUND:
            self._add(node, "arithmetic", self._joined(left, COMPOUND[operator], right))
        if operator in ("+=", "-=") and not _is_pointer(left):
            self._add(node, "assignment", self._joined(left, "=", right))
        self._children(node)

    def _UnaryOperator(self, node, index, narrow):
        operand, operator = node["inner"][0], node["opcode"]
        if operator in ("!", "-"):
            self._add(node, "logical" if operator == "!" else "arithmetic", f"({self._of(operand)})")
        elif operator in ("++", "--"):
            other = "--" if operator == "++" else "++"
            value = self._of(operand)
            self._add(node, "arithmetic", value + other if node.get("isPostfix") else other + value)
        self._children(node, index)

    def _ArraySubscriptExpr(self, node, index, narrow):
        base, at = node["inner"]
        self._add(at, "index", f"{self._operand(at)} + 1")
        self._visit(base)
        self._visit(at, index=True)

    def _CallExpr(self, node, index, narrow):
        name, arguments = _callee(node), node["inner"][1:]
        if name in STRIDES and len(arguments) == 1:
            self._add(arguments[0], "bound", f"{self._operand(arguments[0])} + 1")
            self._add(arguments[0], "bound", f"{self._operand(arguments[0])} - 1")
        elif name in EXTREME and len(arguments) == 2:
            self._add(node, "extreme", f"{EXTREME[name]}({self._of(arguments[0])}, {self._of(arguments[1])})")
        elif name in UNWRAPPED and len(arguments) == 1:
            self._add(node, "call", f"({self._of(arguments[0])})")
        elif name == "is_finite":
            self._add(node, "call", "true")
        for child in node["inner"]:
            self._visit(child, index=name in STRIDES and child is not node["inner"][0])

    _CXXMemberCallExpr = _CallExpr

    def _CXXOperatorCallExpr(self, node, index, narrow):
        for child in node["inner"][1:]:
            self._visit(child)

    def _LambdaExpr(self, node, index, narrow):
        self._visit(node["inner"][-1])

    # ---- constants ----

    def _IntegerLiteral(self, node, index, narrow):
        if index and self._only_index(node):
            return  # an index is moved as a whole
        if (node["begin"], node["end"], "constant") not in self._seen and not (narrow and self._braced(node)):
            digits = self._of(node).rstrip("uUlL")
            suffix = self._of(node)[len(digits) :]
            more = int(digits, 0) + 1
            self._add(node, "constant", f"{hex(more) if digits.startswith('0x') else more}{suffix}")

    def _only_index(self, node):
        before, after = self._text[: node["begin"]].rstrip(), self._text[node["end"] :].lstrip()
        return before.endswith("[") and after.startswith("]")

    def _braced(self, node):
        return self._text[: node["begin"]].rstrip().endswith("{")

    def _FloatingLiteral(self, node, index, narrow):
        one = "1.0f" if self._of(node).endswith("f") else "1.0"
        zero = float(self._of(node).rstrip("f")) == 0.0
        self._add(node, "constant", one if zero else f"{one.replace('1.0', '1.5')} * {self._of(node)}")

    def _CXXBoolLiteralExpr(self, node, index, narrow):
        self._add(node, "constant", "false" if node["value"] else "true")

    def _DeclRefExpr(self, node, index, narrow):
        if node.get("referencedDecl", {}).get("kind") == "EnumConstantDecl" and not index:
            name = self._of(node)
            # 0 and 1 become each other, a flag the next one.
            self._add(node, "constant", f"static_cast<decltype({name})>({name} < 2 ? {name} ^ 1 : {name} << 1)")


def _strip(node):
    while node.get("kind") in _TRANSPARENT:
        node = node["inner"][0]
    return node


def _callee(call):
    node = call["inner"][0]
    while node.get("inner") and node.get("kind") in _TRANSPARENT:
        node = node["inner"][0]
    return node.get("name") or node.get("member") or node.get("referencedDecl", {}).get("name", "")


def _type(node):
    kind = node.get("type", {})
    return kind.get("desugaredQualType", kind.get("qualType", ""))


def _is_pointer(node):
    return _type(_strip(node)).rstrip().endswith(("*", "*const", "*__restrict"))


def _is_integer(node):
    return _type(node).replace("const ", "") in ("int", "unsigned int", "long", "unsigned long")


def _one_line(text):
    return " ".join(text.split())

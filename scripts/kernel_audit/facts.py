"""What one parse says, in plain data: it travels between processes and merges with that of other files.

A `node` names a function by the place of its first declaration, (path, offset): every translation unit agrees on it.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str  # canonical, without __restrict__
    pointer: bool
    written: bool  # T*; false for const T*
    restrict: bool
    hides: bool  # a pointer or reference lies inside, where launch() cannot see it


@dataclass
class Kernel:
    """A prototype in core/kernels.h, or a definition in cuda/."""

    name: str
    path: str
    line: int
    offset: int
    parameters: tuple
    may_overlap: bool


@dataclass
class Use:
    """A kernel's name (or, in a function that passes it on, the parameter that holds it) at one place.

    how: "launch"     second argument of launch()
         "argument"   argument number `position` of the function `callee`
         "lookup"     kernel_info(reinterpret_cast<const void*>(kernel))
         "catalogue"  through FOXHUNT_KERNELS
         "call"       called directly
         "address"    anything else
    """

    kernel: str
    path: str
    line: int
    how: str
    function: str = ""  # enclosing function, as text
    node: tuple = None  # enclosing function
    callee: tuple = None
    position: int = 0
    refused: bool = False  # a test expects this launch to throw
    arguments: tuple = ()  # texts of the arguments after the kernel


@dataclass
class Fault:
    """Something wrong by itself, wherever it stands."""

    path: str
    line: int
    text: str


@dataclass
class Facts:
    definitions: list = field(default_factory=list)  # Kernel
    uses: list = field(default_factory=list)  # Use
    faults: list = field(default_factory=list)  # Fault
    errors: list = field(default_factory=list)  # Fault: what clang could not parse
    seen: set = field(default_factory=set)  # (path, offset) of every kernel name that the AST holds
    calls: dict = field(default_factory=dict)  # node -> set of nodes it refers to
    cases: set = field(default_factory=set)  # nodes of test cases
    passes: dict = field(default_factory=dict)  # (node, position) of function-pointer parameters -> [Use]

    def merge(self, other):
        """Headers are met in many translation units: what they say counts once."""
        for mine, theirs in (
            (self.definitions, other.definitions),
            (self.uses, other.uses),
            (self.faults, other.faults),
            (self.errors, other.errors),
        ):
            mine.extend(x for x in theirs if x not in mine)
        self.seen |= other.seen
        self.cases |= other.cases
        for node, callees in other.calls.items():
            self.calls.setdefault(node, set()).update(callees)
        for key, uses in other.passes.items():
            mine = self.passes.setdefault(key, [])
            mine.extend(use for use in uses if use not in mine)

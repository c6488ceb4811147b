"""What scripts/mutate-kernels is made of.

clang_ast.py  the functions of cuda/, from clang's AST
operators.py  the small ways in which a function is broken
schemata.py   all mutants of a file in one source, chosen when the program starts, and the tree they are built in
trial.py      builds that tree, runs the tests under each mutant
reasons.py    why a survivor may survive: tests/mutants/survivors.toml
report.py     tests/mutants/report.md
"""

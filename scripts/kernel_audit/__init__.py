"""What scripts/audit-kernels is made of.

sources.py  which files there are, what they include, their tokens without comments and strings, compile flags
facts.py    what a parse says of kernels, launches and functions: plain data
clang_ast.py  the parse itself: clang's AST, through libclang, into facts
rules.py    what the facts must obey
report.py   the table, and cuda/AUDIT.md
"""

"""What scripts/audit-kernels is made of.

sources.py  which files there are, what they include, their tokens without comments and strings, compile flags
facts.py    what a parse says of kernels, launches and functions: plain data
parsing.py  which files are parsed, several at a time
clang_ast.py  the parse itself: clang's AST, through libclang, into facts; cursors.py and spans.py, what it asks of a node
words.py    rules on CUDA's own names, which are looked for without a parse
rules.py    what the facts must obey
report.py   the table, and cuda/AUDIT.md
"""

#pragma once
// The one way to toml++. It asserts (and under clang, in release builds, assumes) what malformed text can break, such
// as that a key begins with a key's character; the check that follows each reports the same as a parse error. Without
// the assertions damaged files are refused, not fatal.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

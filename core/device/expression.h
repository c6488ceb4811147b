#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace foxhunt {

using IntegerArguments = std::map<std::string, std::int64_t, std::less<>>;

/// Value of an integer expression over named arguments: + - * / and parentheses, "/" rounding up, as the kernel
/// catalogue uses for sizes and work. Throws Error(device) with the text on a syntax error or an unknown name.
std::int64_t evaluate(std::string_view expression, const IntegerArguments& arguments);

}  // namespace foxhunt

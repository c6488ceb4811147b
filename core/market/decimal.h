#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace foxhunt::market {

/// Decimal text ("1676.75", "-37.63", "5e-05") as an integer of 1e-9 units, without going through floating point;
/// digits beyond the ninth decimal are rounded to nearest. False when it is no number or does not fit.
bool parse_price(std::string_view text, std::int64_t& price);

/// The shortest decimal text that parses to this price.
std::string format_price(std::int64_t price);
/// Appends it.
void append_price(std::string& text, std::int64_t price);

}  // namespace foxhunt::market

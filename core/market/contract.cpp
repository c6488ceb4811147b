#include "core/market/contract.h"

#include <array>
#include <cctype>
#include <string_view>

namespace foxhunt::market {
namespace {

struct Entry {
  const char* root;
  std::int64_t tick_size;
  double multiplier;
  double commission;
  const char* calendar;
};

// Ticks and multipliers are the exchange's contract specifications. A commission is what a non-member pays a side at a
// discount broker: Interactive Brokers' fixed rate ($0.85; micro $0.25), CME Group's exchange and clearing fee on
// Globex (ES, NQ $1.38; MES $0.35; CL $1.50; GC, 6E $1.60) and the NFA's assessment ($0.02), as of 2024.
constexpr std::array<Entry, 6> contracts{{
    {"ES", 250'000'000, 50, 2.25, "cme-equity-index"},
    {"MES", 250'000'000, 5, 0.62, "cme-equity-index"},
    {"NQ", 250'000'000, 20, 2.25, "cme-equity-index"},
    {"CL", 10'000'000, 1'000, 2.37, "cme-energy-metals"},
    {"GC", 100'000'000, 100, 2.47, "cme-energy-metals"},
    {"6E", 50'000, 125'000, 2.47, "cme-fx"},
}};
constexpr Entry default_contract{"", 10'000'000, 1, 0, "none"};

const Entry* find_root(const std::string& root) {
  for (const Entry& entry : contracts)
    if (root == entry.root) return &entry;
  return nullptr;
}

}  // namespace

std::string future_root(const std::string& symbol) {
  constexpr std::string_view months = "FGHJKMNQUVXZ";
  std::size_t end = symbol.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(symbol[end - 1]))) --end;
  const std::size_t digits = symbol.size() - end;
  if (digits < 1 || digits > 2 || end < 2 || months.find(symbol[end - 1]) == std::string_view::npos) return "";
  const std::string root = symbol.substr(0, end - 1);
  for (const char c : root)
    if (!std::isalnum(static_cast<unsigned char>(c))) return "";
  return root;
}

Contract contract_for(const std::string& symbol) {
  const std::string stem = symbol.substr(0, symbol.find('.'));  // ES.FUT, ES.c.0
  const Entry* entry = find_root(stem);
  if (!entry) entry = find_root(future_root(stem));
  const Entry& found = entry ? *entry : default_contract;
  return {entry ? entry->root : symbol, found.tick_size, found.multiplier, found.commission, found.calendar};
}

}  // namespace foxhunt::market

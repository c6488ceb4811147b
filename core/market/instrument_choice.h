#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace foxhunt::market {

/// Whether `wanted` (data.instrument) names an instrument: its id in decimal, its symbol as the file has it, or the
/// parent ("ES.FUT") or root ("ES") of an outright future. "" names every instrument.
bool names_instrument(const std::string& wanted, std::uint32_t id, const std::string& symbol);

/// Sorts instruments into wanted and others as they turn up.
class InstrumentFilter {
 public:
  /// `symbols` may grow while the filter is used; a symbol must be there before its instrument's first row.
  InstrumentFilter(std::string wanted, const std::map<std::uint32_t, std::string>& symbols)
      : wanted_(std::move(wanted)), symbols_(symbols) {}

  bool wants(std::uint32_t id);

  /// Throws Error(data), with the instruments that there are, when some turned up and none is wanted.
  void check_found(const std::string& source) const;

 private:
  std::string wanted_;
  const std::map<std::uint32_t, std::string>& symbols_;
  std::map<std::uint32_t, bool> seen_;
};

/// What the choice of a front contract looks at: rows in order of time, of any kind.
struct FrontRows {
  std::span<const std::int64_t> ts;  ///< UTC ns, ascending
  std::span<const std::uint32_t> instrument;
  std::function<std::uint64_t(std::size_t row)> volume;  ///< contracts traded in a row
  const std::map<std::uint32_t, std::string>& symbols;
};

/// Which rows are of the front contract: of instruments that trade over the same time, the one that stays.
///
/// It is chosen at the start of each UTC day, as the one that traded most on the last day that has rows, so a choice
/// never sees what comes after it. There are two exceptions, neither of which looks at a price. On the first day, which
/// has none before it, it is chosen by that day's first minute, whose rows stay. And an instrument that starts after
/// the front's last row in the file (the next piece of a spliced series) follows it at once. Equal volumes: more rows.
/// The first front is an outright future where there is one, and those after it have its root.
std::vector<char> front_rows(const FrontRows& rows);

}  // namespace foxhunt::market

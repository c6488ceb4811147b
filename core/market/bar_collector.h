#pragma once
#include <string>
#include <unordered_map>

#include "core/market/tape.h"

namespace foxhunt::market {

struct Bar {
  std::int64_t ts_open = 0;
  std::int64_t open = 0, high = 0, low = 0, close = 0;  ///< 1e-9 points; undefined is INT64_MAX
  std::uint64_t volume = 0;
  std::uint32_t instrument = 0;
};

/// Takes rows in file order, leaves out those that cannot be true, counting why, and puts the rest in order.
class BarCollector {
 public:
  void add(const Bar& bar);
  void reject(const std::string& reason, std::int64_t rows = 1) { bars_.rejects[reason] += rows; }
  std::size_t size() const { return bars_.size(); }
  const std::map<std::string, std::int64_t>& rejects() const { return bars_.rejects; }

  /// Bars in ascending order of time, one instrument at a time: of instruments that trade over the same time, the one
  /// with the greatest volume of each UTC day (the front contract) stays, so that rolls are changes of instrument.
  /// Instruments that follow one another all stay. Rows that start before the one before has ended are left out.
  /// An interval of 0 is taken to be the most common step.
  Bars finish(std::int64_t interval) &&;

 private:
  const char* fault(const Bar& bar);

  Bars bars_;
  std::unordered_map<std::uint32_t, std::int64_t> last_time_;
};

/// Most common step from one bar to the next of the same instrument, in ns; the shortest of several. 0: no two bars.
std::int64_t most_common_step(const Bars& bars);

void append(Bars& bars, const Bar& bar);
Bar bar_at(const Bars& bars, std::size_t row);

}  // namespace foxhunt::market

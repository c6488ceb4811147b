#pragma once
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

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
  /// `extra_names` are Bars::extra's.
  explicit BarCollector(const std::vector<std::string>& extra_names = {}) {
    for (const std::string& name : extra_names) bars_.extra.push_back({name, {}});
  }

  void reserve(std::size_t rows);
  /// `extra` has a value for each of them.
  void add(const Bar& bar, const double* extra = nullptr);
  void reject(const std::string& reason, std::int64_t rows = 1) { bars_.rejects[reason] += rows; }
  std::size_t size() const { return bars_.size(); }
  const std::map<std::string, std::int64_t>& rejects() const { return bars_.rejects; }

  /// Which instruments to keep, see ReadOptions::instrument, and what they are called.
  struct Choice {
    std::string wanted{};
    std::map<std::uint32_t, std::string> symbols{};
    std::string source{};  ///< file, for the error
  };

  /// Bars in ascending order of time, one instrument at a time: of the chosen instruments that trade over the same time
  /// the front contract stays (see front_rows), so that rolls are changes of instrument; instruments that follow one
  /// another all stay. Rows that start before the one before has ended are left out.
  /// An interval of 0 is taken to be the most common step.
  /// Throws Error(data) when there are bars and none is of a wanted instrument.
  Bars finish(std::int64_t interval, const Choice& choice) &&;
  Bars finish(std::int64_t interval) && { return std::move(*this).finish(interval, Choice{}); }

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

#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/market/csv_options.h"
#include "core/market/time_text.h"
#include "core/market/time_zone.h"

namespace foxhunt::market {

/// Reads the times of one file: all in one format, all with a zone of their own or all without.
class CsvTimes {
 public:
  /// Throws Error(usage) for a zone that there is not.
  explicit CsvTimes(const CsvOptions& options);

  static constexpr std::int64_t undefined = INT64_MAX;

  /// ns since 1970, of the wall clock where local(); `undefined` for a field that says that there is no time; nothing
  /// when it cannot be read. The first time settles the format.
  std::optional<std::int64_t> read(std::string_view field);

  /// What read() takes, for an error.
  std::string expected() const;

  /// Whether times are a wall clock's, which resolve() turns into UTC.
  bool local() const { return local_.value_or(false) && clock_.zone().name() != "UTC"; }

  /// UTC of a local time. Of the two hours that a clock set back shows alike, the first unless that lies before
  /// `earliest` (UTC ns). `undefined` for a time that a clock set forward left out.
  std::int64_t resolve(std::int64_t local, std::int64_t earliest);

  /// What was taken for granted, a line each.
  std::vector<std::string> notes() const;

 private:
  bool guess_format_;
  bool guess_zone_;
  std::optional<TimeFormat> format_;
  std::optional<bool> local_;
  LocalClock clock_;
};

}  // namespace foxhunt::market

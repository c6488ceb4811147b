#include "core/market/csv_times.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/market/csv_numbers.h"

namespace foxhunt::market {
namespace {

std::string name_of(TimeFormat format) { return time_format_names()[static_cast<std::size_t>(format)]; }

std::optional<TimeFormat> format_named(const std::string& name) {
  const auto& names = time_format_names();
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? std::nullopt : std::optional(static_cast<TimeFormat>(at - names.begin()));
}

bool is_epoch(TimeFormat format) { return format >= TimeFormat::epoch_s; }

}  // namespace

CsvTimes::CsvTimes(const CsvOptions& options)
    : guess_format_(options.time_format == "auto"),
      guess_zone_(options.time_zone == "auto"),
      format_(format_named(options.time_format)),
      clock_(guess_zone_ ? TimeZone() : TimeZone(options.time_zone)) {}

std::optional<std::int64_t> CsvTimes::read(std::string_view field) {
  constexpr std::string_view databento_undefined = "18446744073709551615";
  if (!format_) format_ = time_format_of(field);
  const auto time = format_ ? parse_time(field, *format_) : std::nullopt;
  if (!time) return says_missing(field) || field == databento_undefined ? std::optional(undefined) : std::nullopt;
  if (!local_) local_ = time->local;
  return *local_ == time->local ? std::optional(time->ns) : std::nullopt;
}

std::string CsvTimes::expected() const {
  if (!format_) return "ISO 8601, dd.mm.yyyy hh:mm:ss or a Unix time";
  return fmt::format("{} like the rows before{}", name_of(*format_),
                     is_epoch(*format_) || !local_ ? ""
                     : *local_                     ? ", without a zone"
                                                   : ", with a zone");
}

std::int64_t CsvTimes::resolve(std::int64_t local, std::int64_t earliest) {
  const TimeZone::Instants at = clock_.instants(local);
  if (!at.exists) return undefined;
  return at.first >= earliest ? at.first : at.second;
}

std::vector<std::string> CsvTimes::notes() const {
  std::vector<std::string> notes;
  if (!format_) return notes;
  if (guess_format_ && is_epoch(*format_))
    notes.push_back(fmt::format("times taken as {} by their size (data.csv_time_format)", name_of(*format_)));
  if (guess_zone_ && local_.value_or(false)) notes.push_back("times name no zone: taken as UTC (data.csv_time_zone)");
  return notes;
}

}  // namespace foxhunt::market

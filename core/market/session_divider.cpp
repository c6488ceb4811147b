#include "core/market/session_divider.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/market/civil_time.h"

namespace foxhunt::market {

bool SessionDivider::enters_date(std::int64_t begin, std::int64_t known) {
  if (clock_.calendar().is_none()) return false;
  const TradingDay& day = clock_.day_of(begin);
  const bool enters = dates_.empty() || dates_.back().date != day.date;
  if (enters) dates_.push_back({.date = day.date, .last = 0, .left = 0, .half_left = (day.close - day.open) / 2});
  ++rows_;
  if (day.trades_at(begin)) {
    dates_.back().last = known;
    dates_.back().left = day.close - known;
  } else {
    ++outside_;
  }
  return enters;
}

bool SessionDivider::starts_session(std::int64_t begin, std::int64_t known, bool other_instrument) {
  const bool enters = enters_date(begin, known);
  const bool starts = known_before_ && (other_instrument || enters || begin - *known_before_ > gap_);
  known_before_ = known;
  return starts;
}

std::vector<SessionDivider::Date> SessionDivider::early_closes() const {
  constexpr std::int64_t least = 30 * ns_per_minute, most_days_apart = 4;
  std::vector<std::int64_t> left;
  for (std::size_t i = 0; i + 1 < dates_.size(); ++i)
    if (dates_[i].left < dates_[i].half_left) left.push_back(std::max<std::int64_t>(dates_[i].left, 0));
  if (left.empty()) return {};
  const auto middle = left.begin() + static_cast<std::ptrdiff_t>((left.size() - 1) / 2);
  std::nth_element(left.begin(), middle, left.end());
  std::vector<Date> early;
  for (std::size_t i = 0; i + 1 < dates_.size(); ++i)
    if (dates_[i].left >= *middle + least && dates_[i].left < dates_[i].half_left &&
        dates_[i + 1].date - dates_[i].date <= most_days_apart)
      early.push_back(dates_[i]);
  return early;
}

void SessionDivider::add_notes(std::vector<std::string>& notes) const {
  if (outside_ > 0)
    notes.push_back(fmt::format("{} of {} rows lie outside the hours of the calendar {}; they stay (data.calendar)",
                                outside_, rows_, clock_.calendar().name()));
  const std::vector<Date> early = early_closes();
  if (early.empty()) return;
  constexpr std::size_t most_shown = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(early.size(), most_shown); ++i)
    list += fmt::format("{}{} UTC", i ? ", " : "", format_utc(early[i].last));
  if (early.size() > most_shown) list += fmt::format(" and {} more", early.size() - most_shown);
  notes.push_back(fmt::format("{} trading day{} of the calendar {} ended early: {}", early.size(),
                              early.size() == 1 ? "" : "s", clock_.calendar().name(), list));
}

}  // namespace foxhunt::market

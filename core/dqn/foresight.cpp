#include "core/dqn/foresight.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/market/civil_time.h"

namespace foxhunt::dqn {

using market::format_utc;

Foresight foresight_of(const market::BookModel& model, const market::Tape& tape, const market::Splits& splits) {
  const auto first = [&](const market::Split& split) { return tape.ts[static_cast<std::size_t>(split.begin)]; };
  const std::int64_t validation = first(splits.validation), test = first(splits.test);
  const std::string judged =
      fmt::format("validation begins at {}, test at {} UTC", format_utc(validation), format_utc(test));
  if (!model.seen())
    return {std::nullopt, fmt::format("features.alpha: {} does not say until when it was trained (an older program "
                                      "wrote it), so that it may have seen what the agent is judged on: {}; train it "
                                      "again, on data before that",
                                      model.file().string(), judged)};
  const market::SeenRows& seen = *model.seen();
  const bool saw_test = test < std::max(seen.trained_until, seen.chosen_until);
  if (!saw_test && validation >= seen.trained_until) return {false, ""};
  return {saw_test,
          fmt::format("features.alpha: {} has seen what the agent is judged on: it was trained{}{} until {} "
                      "and chosen by rows until {} UTC, but {}; train it on data before that, or on the same "
                      "data with the same data.train_fraction and data.validation_fraction",
                      model.file().string(), seen.instrument.empty() ? "" : " on ", printable(seen.instrument),
                      format_utc(seen.trained_until), format_utc(seen.chosen_until), judged)};
}

}  // namespace foxhunt::dqn

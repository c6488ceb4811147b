#include "core/dqn/market_fingerprint.h"

#include "core/checksum.h"

namespace foxhunt::dqn {

run::MarketFingerprint fingerprint(const MarketTables& market) {
  const auto over = [](std::uint64_t sum, const auto& values) {
    return xxh64(std::as_bytes(std::span(values.data(), values.size())), sum);
  };
  const int size[] = {market.rows, market.features};
  run::MarketFingerprint print{xxh64(std::as_bytes(std::span(size))), 0};
  for (const auto* rows : {&market.train_starts, &market.validation.start_rows, &market.test.start_rows})
    print.rows = over(print.rows, *rows);
  for (const auto* steps : {&market.validation.steps, &market.test.steps}) print.rows = over(print.rows, *steps);
  print.rows = over(print.rows, market.flags);
  print.values = over(print.values, market.table);
  for (const auto* column : {&market.open_gap, &market.hold_gap, &market.cost})
    print.values = over(print.values, *column);
  return print;
}

}  // namespace foxhunt::dqn

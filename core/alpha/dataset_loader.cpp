#include "core/alpha/dataset_loader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/alpha/config.h"
#include "core/run/market_input.h"

namespace foxhunt::alpha {
namespace {

using market::MarketContent;

const char* name_of(MarketContent content) {
  switch (content) {
    case MarketContent::bars:
      return "bars";
    case MarketContent::trades:
      return "trades";
    case MarketContent::definitions:
      return "definitions";
    default:
      return "nothing that is read here";
  }
}

std::string split_text(const Dataset& data, const market::Split& split) {
  return fmt::format("{} in {} sessions", split.rows(), session_ranges(data, split).size());
}

nlohmann::ordered_json split_json(const Dataset& data, const market::Split& split,
                                  const std::array<LabelCounts, alpha_horizons>& balance) {
  const auto milliseconds = [&](std::int64_t row) { return data.input[static_cast<std::size_t>(row)].ts / 1'000'000; };
  auto labels = nlohmann::ordered_json::array();
  for (std::size_t h = 0; h < alpha_horizons; ++h)
    labels.push_back({{"horizon", data.horizons[h].text()},
                      {"up", balance[h].up},
                      {"down", balance[h].down},
                      {"tied", balance[h].tied},
                      {"unlabelled", balance[h].unlabelled}});
  return {{"begin", milliseconds(split.begin)},
          {"end", milliseconds(split.end - 1)},
          {"rows", split.rows()},
          {"sessions", session_ranges(data, split).size()},
          {"first_row", split.begin},
          {"labels", labels}};
}

}  // namespace

Dataset load_dataset(const profile::Profile& p) {
  const std::filesystem::path source = run::market_source(p);
  const market::ReadOptions options = run::read_options(p.data);
  const MarketContent content = market::market_content_of(source, options);
  if (content != MarketContent::books)
    throw Error(ExitCode::data,
                fmt::format("{}: it holds {}, the alpha model reads ten-level order books; give it mbp-10 or mbo data",
                            source.string(), name_of(content)));
  const market::Books books = market::read_books(source, options);
  return make_dataset(books, dataset_options(p, run::contract_of(p.contract, books)));
}

std::string report(const Dataset& data) {
  std::string text = fmt::format(
      "data: {}: {} snapshots, {} sessions ({}); train {}, validation {}, test {}\n"
      "features: {}; tick {} points",
      data.source, data.rows(), data.sessions(), data.calendar, split_text(data, data.splits.train),
      split_text(data, data.splits.validation), split_text(data, data.splits.test), snapshot_features,
      static_cast<double>(data.tick) / static_cast<double>(market::price_scale));
  std::string rejected;
  for (const auto& [reason, count] : data.rejects) rejected += fmt::format(", {} x {}", count, reason);
  if (!rejected.empty()) text += "; left out" + rejected.substr(1);
  for (const std::string& line : balance_lines(data)) text += "\n" + line;
  for (const std::string& note : data.notes) text += "\nnote: " + note;
  return text;
}

nlohmann::ordered_json splits_json(const Dataset& data) {
  nlohmann::ordered_json json;
  json["train"] = split_json(data, data.splits.train, data.balance.train);
  json["validation"] = split_json(data, data.splits.validation, data.balance.validation);
  json["test"] = split_json(data, data.splits.test, data.balance.test);
  json["rows"] = data.rows();
  return json;
}

}  // namespace foxhunt::alpha

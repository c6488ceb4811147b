#include "core/market/instrument_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/market/civil_time.h"
#include "core/market/contract.h"

namespace foxhunt::market {
namespace {

struct Activity {
  std::uint64_t volume = 0, rows = 0;
  bool operator>(const Activity& other) const {
    return volume != other.volume ? volume > other.volume : rows > other.rows;
  }
};

struct Instrument {
  std::string root;  ///< "" is not known: may be any
  bool outright = false;
  std::size_t first = 0, last = 0;  ///< its rows
  Activity day, before;             ///< today so far, and on the last day that has rows
};

class FrontChoice {
 public:
  explicit FrontChoice(const FrontRows& rows) : rows_(rows) {
    for (std::size_t i = 0; i < rows.ts.size(); ++i) {
      const auto [at, fresh] = instruments_.try_emplace(rows.instrument[i]);
      if (fresh) at->second.first = i, name(at->second, at->first);
      at->second.last = i;
    }
  }

  std::vector<char> choose() {
    const std::size_t n = rows_.ts.size();
    std::vector<char> kept(n, 1);
    if (instruments_.size() < 2) return kept;
    std::uint32_t front = first_front();
    root_ = instruments_.at(front).root;
    for (std::size_t i = 0; i < n; ++i) {
      const bool new_day = i > 0 && utc_day(rows_.ts[i]) != utc_day(rows_.ts[i - 1]);
      if (new_day) end_day(), front = best(i, front);
      if (follows(rows_.instrument[i], front)) front = rows_.instrument[i];
      kept[i] = rows_.instrument[i] == front;
      add(instruments_.at(rows_.instrument[i]).day, i);
    }
    return kept;
  }

 private:
  void name(Instrument& instrument, std::uint32_t id) const {
    const auto symbol = rows_.symbols.find(id);
    if (symbol == rows_.symbols.end()) return;
    instrument.root = future_root(symbol->second);
    instrument.outright = !instrument.root.empty();
    if (!instrument.outright) instrument.root = symbol->second;  // a spread or a continuous symbol: like itself alone
  }

  void add(Activity& activity, std::size_t row) const { activity.volume += rows_.volume(row), ++activity.rows; }

  std::uint32_t first_front() const {
    std::map<std::uint32_t, Activity> minute;
    for (std::size_t i = 0; i < rows_.ts.size() && rows_.ts[i] - rows_.ts[0] < ns_per_minute; ++i)
      add(minute[rows_.instrument[i]], i);
    const auto outright = [&](std::uint32_t id) { return instruments_.at(id).outright; };
    auto most = minute.begin();
    for (auto at = minute.begin(); at != minute.end(); ++at) {
      const bool alike = outright(at->first) == outright(most->first);
      if (alike ? at->second > most->second : outright(at->first)) most = at;
    }
    return most->first;
  }

  void end_day() {
    for (auto& [id, instrument] : instruments_) instrument.before = std::exchange(instrument.day, {});
  }

  /// Of the instruments seen by row `at` and not over, the one that traded most; `front` if there is none.
  std::uint32_t best(std::size_t at, std::uint32_t front) const {
    const Instrument* most = nullptr;
    for (const auto& [id, instrument] : instruments_) {
      if (instrument.first > at || instrument.last < at || !may_follow(instrument)) continue;
      if (most && !(traded(instrument) > traded(*most))) continue;
      most = &instrument, front = id;
    }
    return front;
  }

  bool may_follow(const Instrument& instrument) const {
    return root_.empty() || instrument.root.empty() || instrument.root == root_;
  }

  bool follows(std::uint32_t id, std::uint32_t front) const {
    const Instrument& next = instruments_.at(id);
    return next.first > instruments_.at(front).last && may_follow(next);
  }

  static Activity traded(const Instrument& instrument) {
    return {instrument.before.volume + instrument.day.volume, instrument.before.rows + instrument.day.rows};
  }

  const FrontRows& rows_;
  std::map<std::uint32_t, Instrument> instruments_;
  std::string root_;  ///< of the first front
};

}  // namespace

bool names_instrument(const std::string& wanted, std::uint32_t id, const std::string& symbol) {
  if (wanted.empty() || wanted == symbol || wanted == std::to_string(id)) return true;
  constexpr std::string_view parent = ".FUT";
  const std::string root = future_root(symbol);
  return !root.empty() && (wanted == root || wanted == root + std::string(parent));
}

bool InstrumentFilter::wants(std::uint32_t id) {
  const auto [at, fresh] = seen_.try_emplace(id, false);
  if (!fresh) return at->second;
  const auto name = symbols_.find(id);
  return at->second = names_instrument(wanted_, id, name == symbols_.end() ? "" : name->second);
}

void InstrumentFilter::check_found(const std::string& source) const {
  constexpr std::size_t most_named = 10;
  std::vector<std::string> there;
  for (const auto& [id, wanted] : seen_) {
    if (wanted) return;
    const auto name = symbols_.find(id);
    there.push_back(name == symbols_.end() ? std::to_string(id) : fmt::format("{} ({})", name->second, id));
  }
  if (there.empty()) return;
  const std::size_t more = there.size() - std::min(there.size(), most_named);
  there.resize(there.size() - more);
  throw Error(ExitCode::data,
              fmt::format("{}: data.instrument \"{}\" is not in this file, which holds {}{}; name one of these, or a "
                          "parent such as ES.FUT",
                          source, wanted_, fmt::join(there, ", "), more ? fmt::format(" and {} more", more) : ""));
}

std::vector<char> front_rows(const FrontRows& rows) { return FrontChoice(rows).choose(); }

}  // namespace foxhunt::market

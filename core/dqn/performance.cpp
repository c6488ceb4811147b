#include "core/dqn/performance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/market/civil_time.h"

namespace foxhunt::dqn {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }

/// The rows [begin, end) of one session as trading periods.
class Periods {
 public:
  Periods(const market::Tape& tape, std::int64_t begin, std::int64_t end)
      : ts_(tape.ts), daily_(tape.ts[at(end - 1)] - tape.ts[at(begin)] > market::ns_per_day) {}
  /// Of the time up to a row: the same number for the rows of one period. A row known at midnight ends its day.
  std::int64_t of(std::int64_t row) const { return daily_ ? market::utc_day(ts_[at(row)] - 1) : 0; }

 private:
  const std::vector<std::int64_t>& ts_;
  bool daily_;
};

double ratio(double mean, double risk, double periods_per_year) {
  if (risk > 0) return mean / risk * std::sqrt(periods_per_year);
  return mean == 0 ? 0.0 : mean * std::numeric_limits<double>::infinity();
}

/// Sharpe (1994) and Sortino (1994) ratios of the gains of periods.
void set_ratios(Performance& p, std::span<const double> gains, double periods_per_year) {
  const auto n = static_cast<double>(gains.size());
  p.periods = static_cast<std::int64_t>(gains.size());
  p.periods_per_year = periods_per_year;
  p.sharpe = p.sortino = not_known;
  if (gains.size() < 2) return;
  const double mean = std::accumulate(gains.begin(), gains.end(), 0.0) / n;
  double squares = 0, losses = 0;
  for (const double g : gains) {
    squares += (g - mean) * (g - mean);
    losses += g < 0 ? g * g : 0;
  }
  p.sharpe = ratio(mean, std::sqrt(squares / (n - 1)), periods_per_year);
  p.sortino = ratio(mean, std::sqrt(losses / n), periods_per_year);
}

/// Follows the position through the sessions: turnover, exposure, round trips.
class Ledger {
 public:
  Ledger(const Account& account, std::vector<RoundTrip>* log) : account_(account), log_(log) {}

  void open(std::int64_t session) { session_ = session; }

  /// Position q from the fill of `row` on; `net` is the gain of the step.
  void step(std::int64_t row, double q, double net) {
    const double p = position_, fill = points(account_.tape.fill_mid[at(row)]);
    const double to_fill = p * static_cast<double>(account_.tables.open_gap[at(row)]);
    const double from_fill = q * static_cast<double>(account_.tables.hold_gap[at(row)]);
    if (p * q < 0) {
      // What the old position made up to the fill, and its way out, are its own; the rest is the new one's.
      const double closed = to_fill - std::abs(p) * static_cast<double>(account_.tables.cost[at(row)]);
      gain(to_fill, closed);
      reduce(std::abs(p), fill);
      end_trip(row);
      begin_trip(row, q);
      gain(from_fill, net - closed);
      add(std::abs(q), fill);
    } else {
      if (p == 0) begin_trip(row, q);
      gain(to_fill + from_fill, net);
      if (std::abs(q) > std::abs(p)) add(std::abs(q - p), fill);
      if (std::abs(q) < std::abs(p)) reduce(std::abs(q - p), fill);
      if (p != 0 && q == 0) end_trip(row);
    }
    trade(q - p, fill);
    position_ = q;
    size_ += std::abs(q);
    in_market_ += q != 0;
  }

  /// The session ends at `row`: its last step has paid for the way out.
  void close(std::int64_t row) {
    const double mid = points(account_.tape.mid[at(row)]);
    if (position_ != 0) {
      reduce(std::abs(position_), mid);
      end_trip(row);
    }
    trade(-position_, mid);
    position_ = 0;
  }

  void report(Performance& p) const {
    const auto mean = [](double sum, std::int64_t n) { return n ? sum / static_cast<double>(n) : not_known; };
    p.round_trips = trips_;
    p.hit_rate = mean(static_cast<double>(hits_), trips_);
    p.mean_holding_steps = mean(static_cast<double>(held_steps_), trips_);
    p.mean_holding_minutes = mean(held_ns_ / static_cast<double>(market::ns_per_minute), trips_);
    p.contracts = contracts_;
    p.notional = notional_;
    p.exposure = mean(size_ / account_.max_contracts, p.steps);
    p.time_in_market = mean(static_cast<double>(in_market_), p.steps);
  }

 private:
  static double points(std::int64_t price) {
    return static_cast<double>(price) / static_cast<double>(market::price_scale);
  }

  void begin_trip(std::int64_t row, double q) {
    trip_ = {.session = session_, .entry_row = row, .side = q > 0 ? 1 : -1};
    paid_in_ = taken_out_ = 0;
  }
  void gain(double gross, double net) {
    trip_.gross += gross;
    trip_.net += net;
  }
  void add(double contracts, double price) {
    trip_.contracts += contracts;
    paid_in_ += contracts * price;
  }
  void reduce(double contracts, double price) { taken_out_ += contracts * price; }

  void end_trip(std::int64_t row) {
    ++trips_;
    hits_ += trip_.net > 0;
    held_steps_ += row - trip_.entry_row;
    held_ns_ += static_cast<double>(account_.tape.ts[at(row)] - account_.tape.ts[at(trip_.entry_row)]);
    if (!log_) return;
    trip_.exit_row = row;
    trip_.entry_price = paid_in_ / trip_.contracts;
    trip_.exit_price = taken_out_ / trip_.contracts;
    log_->push_back(trip_);
  }

  void trade(double contracts, double price) {
    contracts_ += std::abs(contracts);
    notional_ += std::abs(contracts * price) * account_.tape.contract.multiplier;
  }

  const Account& account_;
  std::vector<RoundTrip>* log_;
  RoundTrip trip_;
  double paid_in_ = 0, taken_out_ = 0;  ///< contracts times price of the trip's fills
  double position_ = 0, held_ns_ = 0;
  double contracts_ = 0, notional_ = 0, size_ = 0;
  std::int64_t session_ = 0, trips_ = 0, hits_ = 0, held_steps_ = 0, in_market_ = 0;
};

}  // namespace

double entropy(std::span<const std::int64_t> histogram) {
  const auto total = static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), std::int64_t{0}));
  double sum = 0;
  for (const std::int64_t count : histogram)
    if (count > 0) sum -= static_cast<double>(count) / total * std::log(static_cast<double>(count) / total);
  return sum;
}

double periods_per_year(const market::Tape& tape) {
  constexpr std::int64_t fewest = 20, shortest = 28 * market::ns_per_day;
  constexpr double year = 365.2425 * static_cast<double>(market::ns_per_day), usual = 252;
  const auto rows = static_cast<std::int64_t>(tape.rows());
  std::int64_t count = 0, last_start = 0;
  for (std::int64_t begin = 0, end = 0; begin < rows; begin = end) {
    while (end < rows && tape.session[at(end)] == tape.session[at(begin)]) ++end;
    const Periods periods(tape, begin, end);
    for (std::int64_t row = begin; row < end; ++row)
      if (row == begin || periods.of(row) != periods.of(row - 1)) ++count, last_start = tape.ts[at(row)];
  }
  const std::int64_t span = rows > 0 ? last_start - tape.ts.front() : 0;
  if (count < fewest || span < shortest) return usual;
  return static_cast<double>(count - 1) / (static_cast<double>(span) / year);
}

Performance measure(std::span<const SessionRecord> sessions, const Account& account,
                    std::vector<RoundTrip>* round_trips) {
  Performance p;
  p.actions.assign(account.positions.size(), 0);
  Ledger ledger(account, round_trips);
  std::vector<double> gains;
  double peak = 0;
  for (const SessionRecord& session : sessions) {
    const auto steps = static_cast<std::int64_t>(session.net.size());
    const std::int64_t last_row = session.first_row + steps;
    const Periods periods(account.tape, session.first_row, last_row + 1);
    ledger.open(&session - sessions.data());
    for (std::int64_t k = 0; k < steps; ++k) {
      const std::int64_t row = session.first_row + k;
      const double net = session.net[at(k)];
      const auto action = static_cast<std::size_t>(session.action[at(k)]);
      ++p.actions.at(action);
      ledger.step(row, static_cast<double>(account.positions[action]), net);
      if (k == 0 || periods.of(row + 1) != periods.of(row)) gains.push_back(0);
      gains.back() += net;
      p.net += net;
      peak = std::max(peak, p.net);
      p.max_drawdown = std::max(p.max_drawdown, peak - p.net);
    }
    ledger.close(last_row);
    p.gross += session.gross;
    p.trades += session.trades;
    p.steps += steps;
  }
  p.sessions = static_cast<std::int64_t>(sessions.size());
  p.costs = p.gross - p.net;
  p.mean_step = p.steps ? p.net / static_cast<double>(p.steps) : 0.0;
  p.drawdown_share = p.max_drawdown / account.capital;
  p.action_entropy = entropy(p.actions);
  set_ratios(p, gains, account.periods_per_year);
  ledger.report(p);
  return p;
}

}  // namespace foxhunt::dqn

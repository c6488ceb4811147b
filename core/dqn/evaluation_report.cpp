// An Evaluation as JSON, as a table and as CSV.
#include <fmt/format.h>

#include "core/dqn/evaluation.h"
#include "core/dqn/performance_report.h"
#include "core/market/civil_time.h"

namespace foxhunt::dqn {
namespace {

std::string span_text(const Evaluation& e) {
  return fmt::format("{} to {} UTC", market::format_utc(e.begin), market::format_utc(e.end));
}

double minutes(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to - from) / static_cast<double>(market::ns_per_minute);
}

}  // namespace

nlohmann::ordered_json evaluation_json(const Evaluation& e, const Model& model) {
  const std::vector<double> positions = action_positions(model.profile);
  nlohmann::ordered_json json;
  json["model"] = model.file.string();
  json["profile"] = model.profile.name;
  json["epoch"] = model.epoch;
  json["iteration"] = model.iteration;
  json["fingerprint"] = fmt::format("{:016x}", fingerprint(model.learner));
  json["device"] = e.device;
  json["data"] = e.source;
  json["contract"] = e.contract;
  json["split"] = e.split;
  json["begin_utc"] = market::format_utc(e.begin);
  json["end_utc"] = market::format_utc(e.end);
  json["rows"] = e.rows;
  json["notes"] = e.notes;
  json["agent"] = performance_json(e.agent, positions);
  for (const auto& [name, performance] : e.baselines)
    json["baselines"][name] = performance_json(performance, positions);
  json["periods_per_year"] = e.agent.periods_per_year;
  json["sessions"] = nlohmann::ordered_json::array();
  for (const SessionResult& session : e.sessions)
    json["sessions"].push_back({{"begin_utc", market::format_utc(session.begin)},
                                {"end_utc", market::format_utc(session.end)},
                                {"net_pnl", session.performance.net},
                                {"gross_pnl", session.performance.gross},
                                {"costs", session.performance.costs},
                                {"trades", session.performance.trades},
                                {"round_trips", session.performance.round_trips}});
  return json;
}

std::string evaluation_text(const Evaluation& e, const Model& model) {
  std::string text = fmt::format(
      "model: {} (profile {}, epoch {}, iteration {})\ndevice: {}\ndata: {}: {} of {}, {} rows, {} sessions, {}\n",
      model.file.string(), model.profile.name, model.epoch, model.iteration, e.device, e.source, e.split, e.contract,
      e.rows, e.sessions.size(), span_text(e));
  for (const std::string& note : e.notes) text += "note: " + note + "\n";
  text += "\n" + performance_header(e.split) + performance_row("agent", e.agent);
  for (const auto& [name, performance] : e.baselines) text += performance_row("  " + name, performance);
  return text + fmt::format("  Sharpe and Sortino of {} trading periods, a year taken as {:.1f}\n", e.agent.periods,
                            e.agent.periods_per_year);
}

std::string sessions_csv(const Evaluation& e) {
  std::string text =
      "session,begin_utc,end_utc,steps,net,gross,costs,trades,round_trips,contracts,time_in_market,max_drawdown\n";
  for (std::size_t s = 0; s < e.sessions.size(); ++s) {
    const auto& [begin, end, p] = e.sessions[s];
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", s, market::format_utc(begin), market::format_utc(end),
                        p.steps, p.net, p.gross, p.costs, p.trades, p.round_trips, p.contracts, p.time_in_market,
                        p.max_drawdown);
  }
  return text;
}

std::string trades_csv(const Evaluation& e) {
  std::string text =
      "session,entry_utc,exit_utc,side,contracts,entry_price,exit_price,gross,costs,net,holding_steps,holding_"
      "minutes\n";
  for (const auto& [trip, entry, exit] : e.trades)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", trip.session, market::format_utc(entry),
                        market::format_utc(exit), trip.side > 0 ? "long" : "short", trip.contracts, trip.entry_price,
                        trip.exit_price, trip.gross, trip.gross - trip.net, trip.net, trip.exit_row - trip.entry_row,
                        minutes(entry, exit));
  return text;
}

}  // namespace foxhunt::dqn

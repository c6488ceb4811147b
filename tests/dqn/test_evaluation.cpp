// A model on its own: what its checkpoint says of it, and evaluation on splits and on other data.
#include "core/dqn/evaluation.h"

#include <fstream>

#include "core/dqn/performance_report.h"
#include "core/market/writer.h"
#include "core/run/json.h"
#include "tests/dqn/trained_model.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

bool skipped() {
  if (have_baseline()) return false;
  skip("the bundled futures-baseline is not there");
  return true;
}

template <class F>
std::string refusal(ExitCode code, const F& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  FAIL("was not refused");
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string json_of(const dqn::Performance& performance, const dqn::Model& model) {
  return run::json_text(dqn::performance_json(performance, dqn::action_positions(model.profile)));
}

}  // namespace

TEST_CASE("evaluation: the best model on its own test split gives the numbers of its training, twice the same bits") {
  if (skipped()) return;
  const TrainedModel trained;
  const dqn::Model model = trained.load();
  REQUIRE(model.file.stem() == "best");
  const dqn::Evaluation once = dqn::evaluate(model, {}), twice = dqn::evaluate(model, {"", "test"});
  REQUIRE(json_of(once.agent, model) == json_of(trained.outcome.test, model));
  REQUIRE(once.baselines.size() == trained.outcome.baselines.size());
  for (std::size_t b = 0; b < once.baselines.size(); ++b) {
    REQUIRE(once.baselines[b].first == trained.outcome.baselines[b].name);
    REQUIRE(json_of(once.baselines[b].second, model) == json_of(trained.outcome.baselines[b].test, model));
  }
  const dqn::Evaluation validation = dqn::evaluate(model, {"", "validation"});
  REQUIRE(json_of(validation.agent, model) == json_of(trained.outcome.validation, model));
  REQUIRE(run::json_text(dqn::evaluation_json(once, model)) == run::json_text(dqn::evaluation_json(twice, model)));
  REQUIRE(dqn::sessions_csv(once) == dqn::sessions_csv(twice));
  REQUIRE(dqn::trades_csv(once) == dqn::trades_csv(twice));
}

TEST_CASE("evaluation: round trips and sessions add up to the net, gross and costs of the whole") {
  if (skipped()) return;
  const TrainedModel trained;
  // Every action at random turns, adds to and reduces positions: the trades of a baseline are held to the same sums.
  dqn::Evaluator& test = trained.training->trainer.test();
  const dqn::Account& account = trained.training->trainer.account();
  const auto policy = [](std::int64_t row) { return static_cast<std::int32_t>((row * 2654435761LL >> 7) % 5); };
  std::vector<dqn::RoundTrip> trips;
  const dqn::Performance whole = dqn::measure(test.run(policy), account, &trips);
  REQUIRE(trips.size() == static_cast<std::size_t>(whole.round_trips));
  REQUIRE(trips.size() > 100);
  double net = 0, gross = 0, contracts = 0;
  for (const dqn::RoundTrip& trip : trips) {
    net += trip.net;
    gross += trip.gross;
    contracts += trip.contracts;
    REQUIRE(trip.exit_row > trip.entry_row);
    REQUIRE(trip.gross == Approx(trip.side * trip.contracts * (trip.exit_price - trip.entry_price) * 50).margin(0.01));
  }
  REQUIRE(net == Approx(whole.net).margin(0.01));
  REQUIRE(gross == Approx(whole.gross).margin(0.01));
  REQUIRE(2 * contracts == Approx(whole.contracts));

  const dqn::Evaluation e = dqn::evaluate(trained.load(), {"", "all"});
  double of_trades = 0, of_sessions = 0;
  for (const dqn::Trade& trade : e.trades) of_trades += trade.trip.net;
  for (const dqn::SessionResult& session : e.sessions) of_sessions += session.performance.net;
  REQUIRE(of_trades == Approx(e.agent.net).margin(0.01));
  REQUIRE(of_sessions == Approx(e.agent.net).margin(1e-6));
  REQUIRE(e.sessions.size() == 31);
  REQUIRE(e.rows == 11920);
  REQUIRE(contains(e.notes.back(), "which these rows meet"));
}

TEST_CASE("evaluation: other data is standardised by the model's numbers, and lacks none of its features") {
  if (skipped()) return;
  const TrainedModel trained;
  dqn::Model model = trained.load();
  const auto other = (trained.folder / "other.csv").string();
  market::SynthOptions options;
  options.sessions = 3;
  options.holes = options.roll = false;
  market::write_bars(market::synthesize(options), other);
  const dqn::LoadedMarket market = [&] {
    profile::Profile profile = model.profile;
    profile.data.path = other;
    return dqn::load_market(profile, model.card.features, false);
  }();
  REQUIRE(market.features.mean == model.card.features.mean);
  REQUIRE(market.features.names == model.card.features.names);
  const dqn::Evaluation e = dqn::evaluate(model, {other, ""});
  REQUIRE(e.split == "all");
  REQUIRE(e.sessions.size() == 3);

  model.card.features.names[2] = "phase_of_the_moon";
  const std::string unknown = refusal(ExitCode::data, [&] { dqn::evaluate(model, {other, ""}); });
  REQUIRE(contains(unknown, "other.csv"));
  REQUIRE(contains(unknown, "phase_of_the_moon"));
  model = trained.load();
  model.card.interval *= 5;
  REQUIRE(contains(refusal(ExitCode::data, [&] { dqn::evaluate(model, {other, ""}); }), "bars of 300 s"));
}

TEST_CASE("evaluation: its own data must be what it was trained on") {
  if (skipped()) return;
  const TrainedModel trained;
  dqn::Model model = trained.load();
  model.card.features.mean[7] += 1e-12;
  const std::string message = refusal(ExitCode::data, [&] { dqn::evaluate(model, {}); });
  REQUIRE(contains(message, model.card.features.names[7]));
  REQUIRE(contains(message, "--data"));
  model = trained.load();
  model.profile.environment.max_contracts = 2;
  REQUIRE(contains(refusal(ExitCode::usage, [&] { dqn::evaluate(model, {}); }), "environment.max_contracts"));
}

TEST_CASE("model_card: what is written is read back, and nonsense is refused by name") {
  if (skipped()) return;
  const TrainedModel trained;
  const dqn::Model model = trained.load("last");
  REQUIRE(model.epoch == 4);
  REQUIRE(model.iteration == 200);
  const auto metadata = dqn::model_metadata(model.card, model.profile);
  REQUIRE(dqn::card_text(dqn::parse_model_card(metadata, "x")) == metadata.at("model"));
  REQUIRE(model.card.features.names == trained.training->market.features.names);
  REQUIRE(model.weights().size() == static_cast<std::size_t>(model.card.network().parameters()));

  const auto refused = [&](const std::string& card, const std::string& why) {
    const std::string message = refusal(ExitCode::storage, [&] { dqn::parse_model_card({{"model", card}}, "file"); });
    INFO(message);
    REQUIRE(contains(message, "file: "));
    REQUIRE(contains(message, why));
  };
  refused("", "cannot be read");
  refused("[]", "cannot be read");
  refused("{\"version\": 2}", "another version");
  dqn::ModelCard bad = model.card;
  bad.features.deviation[0] = 0;
  refused(dqn::card_text(bad), "deviation");
  bad = model.card;
  bad.features.names[1] = bad.features.names[0];
  refused(dqn::card_text(bad), "twice");
  REQUIRE(contains(refusal(ExitCode::storage, [] { dqn::parse_model_card({}, "file"); }), "no model card"));
  const auto alpha = refusal(ExitCode::usage, [] { dqn::parse_model_card({{"format", "foxhunt-alpha-1"}}, "file"); });
  REQUIRE(contains(alpha, "file: an alpha model"));
  REQUIRE(contains(alpha, "gate.json"));
}

TEST_CASE("model: the checkpoint that is meant") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "run/checkpoints");
  const auto none = refusal(ExitCode::usage, [&] { dqn::find_checkpoint(folder / "run", ""); });
  REQUIRE(contains(none, "no checkpoint best or last"));
  std::ofstream(folder / "run/checkpoints/last.safetensors") << "x";
  REQUIRE(dqn::find_checkpoint(folder / "run", "").stem() == "last");
  std::ofstream(folder / "run/checkpoints/best.safetensors") << "x";
  REQUIRE(dqn::find_checkpoint(folder / "run", "").stem() == "best");
  REQUIRE(dqn::find_checkpoint(folder / "run", "last").stem() == "last");
  REQUIRE(contains(refusal(ExitCode::usage, [&] { dqn::find_checkpoint(folder / "run", "epoch-1"); }), "best, last"));
  REQUIRE(contains(refusal(ExitCode::usage, [&] { dqn::find_checkpoint(folder / "walk", ""); }), "walk"));
  REQUIRE(contains(refusal(ExitCode::storage, [&] { dqn::load_model(folder / "run/checkpoints/best.safetensors"); }),
                   "best.safetensors"));
}

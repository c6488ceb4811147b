// Outputs of a frozen model of books as features of an agent: from the loader to the card. Here it is a made-up one.
#include "core/dqn/evaluation.h"
#include "core/market/civil_time.h"
#include "core/market/feature_cache.h"
#include "core/market/synth.h"
#include "core/market/writer.h"
#include "core/profile/printer.h"
#include "core/run/run_directory.h"
#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// Says a number of each row alone, now and then a large one.
class MadeUpModel : public market::BookModel {
 public:
  explicit MadeUpModel(std::string checksum) : checksum_(std::move(checksum)) {}
  const std::filesystem::path& file() const override { return file_; }
  const std::string& checksum() const override { return checksum_; }
  const std::optional<market::SeenRows>& seen() const override { return saw; }
  std::string identity() const override { return checksum_ + " on paper"; }
  std::vector<std::string> names() const override { return {"alpha_projection_1"}; }
  std::vector<market::ExtraColumn> columns(const market::Books& books, const market::Contract&,
                                           const market::TapeOptions&) override {
    ++computed;
    market::ExtraColumn column{"alpha_projection_1", {}};
    for (std::size_t i = 0; i < books.rows(); ++i)
      column.values.push_back(i % 5000 == 0 ? 1e6 : 0.5 + static_cast<double>(i % 97) * 0.01);
    return {column};
  }
  int computed = 0;
  std::optional<market::SeenRows> saw;

 private:
  std::filesystem::path file_ = "made/up.safetensors";
  std::string checksum_;
};

/// Error(code) that says all of `words`.
template <class Work>
void require_error(ExitCode code, const std::vector<std::string>& words, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string message = error.what();
    INFO(message);
    REQUIRE(error.code() == code);
    for (const std::string& word : words) REQUIRE(message.find(word) != std::string::npos);
    return;
  }
  FAIL("no error");
}

market::Books books_of(std::int64_t sessions, std::int64_t rows) {
  market::SynthOptions options;
  options.sessions = sessions;
  options.rows = rows;
  return market::synthesize_books(options);
}

std::string setting(const char* key, const std::string& value) {
  return std::string(key) + "=" + profile::toml_text(value);
}

}  // namespace

TEST_CASE("book_model: its outputs are features like others: standardised by the training split, clipped, last") {
  const TemporaryFolder folder;
  const std::string file = (folder / "books.dbn").string();
  market::write_books(books_of(6, 1500), file);
  MadeUpModel model("0123456789abcdef");
  const profile::Profile p = smoke_profile({setting("data.path", file), setting("features.alpha", "x")});
  const dqn::LoadedMarket with = dqn::load_market(p, &model);
  const dqn::LoadedMarket without = dqn::load_market(smoke_profile({setting("data.path", file)}));
  REQUIRE(with.features.width() == without.features.width() + 1);
  REQUIRE(with.features.names.back() == "alpha_projection_1");
  REQUIRE(with.tables.features == static_cast<int>(with.features.width()));
  REQUIRE(with.report().find("some by the alpha model 0123456789abcdef") != std::string::npos);
  REQUIRE(without.report().find("alpha") == std::string::npos);
  const std::size_t width = with.features.width();
  float smallest = 0, largest = 0;
  for (std::size_t i = 0; i < with.tape.rows(); ++i) {
    for (std::size_t f = 0; f + 1 < width; ++f)
      REQUIRE(with.features.values[i * width + f] == without.features.values[i * (width - 1) + f]);
    const float value = with.features.values[i * width + width - 1];
    smallest = std::min(smallest, value), largest = std::max(largest, value);
  }
  REQUIRE(largest == static_cast<float>(p.features.clip));
  REQUIRE(smallest > -1);
  REQUIRE(with.features.mean.back() > 0.5);

  // By the model's own numbers, on a market that is there already.
  market::Standardisation numbers = market::standardisation_of(with.features);
  numbers.mean.back() = 0, numbers.deviation.back() = 1;
  const dqn::LoadedMarket seen = dqn::load_market(p, numbers, false, &model);
  REQUIRE(with.features.values[2 * width - 1] != seen.features.values[2 * width - 1]);
  REQUIRE(with.features.values[2 * width - 1] * with.features.deviation.back() + with.features.mean.back() ==
          Approx(seen.features.values[2 * width - 1]));
}

TEST_CASE("book_model: a market in the cache is another one for another checkpoint") {
  const TemporaryFolder folder;
  const std::string file = (folder / "books.dbn").string();
  const auto cache = folder / "cache";
  market::write_books(books_of(9, 12'000), file);
  const auto load = [&](MadeUpModel& model, const char* outputs = "projections", const char* where = "x") {
    return dqn::load_market(
        smoke_profile({setting("data.path", file), setting("data.cache", cache.string()),
                       setting("features.alpha", where), setting("features.alpha_outputs", outputs)}),
        &model);
  };
  const auto kept = [&] { return std::distance(std::filesystem::directory_iterator(cache), {}); };
  MadeUpModel model("0123456789abcdef"), other("fedcba9876543210");
  const dqn::LoadedMarket cold = load(model);
  REQUIRE(cold.tape.rows() >= market::FeatureCache::least_rows);
  REQUIRE((model.computed == 1 && kept() == 1));
  const dqn::LoadedMarket warm = load(model, "projections", "the same file elsewhere");
  REQUIRE((model.computed == 1 && kept() == 1));
  REQUIRE(warm.features.values == cold.features.values);
  REQUIRE(warm.features.names == cold.features.names);
  REQUIRE(warm.report() == cold.report());
  load(other);
  REQUIRE((other.computed == 1 && kept() == 2));
  load(model, "probabilities");
  REQUIRE((model.computed == 2 && kept() == 3));
}

TEST_CASE("book_model: features.alpha needs books, and its model") {
  const TemporaryFolder folder;
  MadeUpModel model("0123456789abcdef");
  const std::string bars = (folder / "bars.csv").string(), books = (folder / "books.dbn").string();
  market::SynthOptions options;
  options.sessions = 6;
  market::write_bars(market::synthesize(options), bars);
  market::write_books(books_of(6, 1500), books);
  require_error(ExitCode::data, {"bars.csv", "no order books", "features.alpha = \"mine\"", "mbp-10"}, [&] {
    dqn::load_market(smoke_profile({setting("data.path", bars), setting("features.alpha", "mine")}), &model);
  });
  require_error(ExitCode::data, {"no order books", "features.alpha"}, [&] {
    dqn::make_market(market::synthesize(options), smoke_profile({setting("features.alpha", "x")}));
  });
  require_error(ExitCode::usage, {"features.alpha = \"mine\"", "no alpha model", "books.dbn"}, [&] {
    dqn::load_market(smoke_profile({setting("data.path", books), setting("features.alpha", "mine")}));
  });
  require_error(ExitCode::usage, {"features.alpha = \"\"", "an alpha model"},
                [&] { dqn::load_market(smoke_profile({setting("data.path", books)}), &model); });
}

TEST_CASE("book_model: what it saw of the rows that the agent is judged on is told with its times, and only that") {
  const TemporaryFolder folder;
  const std::string file = (folder / "books.dbn").string();
  market::write_books(books_of(6, 1500), file);
  const profile::Profile p = smoke_profile({setting("data.path", file), setting("features.alpha", "x")});
  MadeUpModel model("0123456789abcdef");
  const dqn::LoadedMarket unknown = dqn::load_market(p, &model);
  const auto first = [&](const market::Split& rows) { return unknown.tape.ts[static_cast<std::size_t>(rows.begin)]; };
  const std::int64_t validation = first(unknown.splits.validation), test = first(unknown.splits.test);
  const auto require_warning = [&](const dqn::LoadedMarket& market, const std::vector<std::string>& words) {
    const std::string& warning = market.foresight.warning;
    INFO(warning);
    for (const std::string& word : words) REQUIRE(warning.find(word) != std::string::npos);
    for (const std::int64_t begins : {validation, test})
      REQUIRE(warning.find(market::format_utc(begins)) != std::string::npos);
    REQUIRE(warning.find('\n') == std::string::npos);
    REQUIRE(market.report().find("\nwarning: " + warning) != std::string::npos);
  };
  REQUIRE_FALSE(unknown.foresight.saw_test);
  require_warning(unknown, {"features.alpha: made/up.safetensors does not say", "train it again"});

  const auto saw = [&](std::int64_t trained_until, std::int64_t chosen_until) {
    model.saw = {"ES", trained_until, chosen_until};
    return dqn::load_market(p, &model);
  };
  const dqn::LoadedMarket nothing = saw(validation, test);
  REQUIRE(nothing.foresight.saw_test == false);
  REQUIRE(nothing.foresight.warning.empty());
  REQUIRE(nothing.report().find("warning") == std::string::npos);
  const auto require_seen = [&](std::int64_t trained_until, std::int64_t chosen_until, bool saw_test) {
    const dqn::LoadedMarket market = saw(trained_until, chosen_until);
    REQUIRE(market.foresight.saw_test == saw_test);
    require_warning(market,
                    {"features.alpha: made/up.safetensors has seen", "on ES until", market::format_utc(trained_until),
                     market::format_utc(chosen_until), "data.train_fraction"});
  };
  require_seen(validation + 1, validation + 2, false);
  require_seen(validation, test + 1, true);
  require_seen(test + 1, test, true);
  model.saw = {"E\nS", test + 1, test};  // a file can say anything
  require_warning(dqn::load_market(p, &model), {"on E?S until"});

  // The agent of another division of the same rows; and a market of which nothing is held out.
  const market::Standardisation numbers = market::standardisation_of(unknown.features);
  REQUIRE(dqn::load_market(p, numbers, true, &model).foresight.saw_test == true);
  REQUIRE(dqn::load_market(p, numbers, false, &model).foresight.warning.empty());
}

TEST_CASE("book_model: a card keeps its checksum, and only that one is taken") {
  const profile::Profile p = smoke_profile({setting("features.alpha", "mine")});
  dqn::ModelCard card;
  card.features = {{"a"}, {0}, {1}};
  card.clip = 5, card.positions = {0, 1}, card.atoms = 2, card.v_max = 1, card.reward_scale = 1, card.step_limit = 1;
  card.hidden = {8};
  REQUIRE(dqn::parse_model_card(dqn::model_metadata(card, p), "x").book_model.empty());
  card.book_model = "0123456789abcdef";
  REQUIRE(dqn::parse_model_card(dqn::model_metadata(card, p), "x").book_model == card.book_model);
  dqn::require_same_book_model(card, "x", p, card.book_model);
  for (const char* other : {"", "fedcba9876543210"})
    require_error(ExitCode::data, {"best.safetensors", "xxh64 0123456789abcdef", "features.alpha = \"mine\"", "--set"},
                  [&] { dqn::require_same_book_model(card, "best.safetensors", p, other); });
}

TEST_CASE("book_model: an agent is evaluated with the model that it was trained on, whatever the device rounds") {
  const TemporaryFolder folder;
  const std::string file = (folder / "books.dbn").string();
  market::write_books(books_of(6, 1500), file);
  const profile::Profile p =
      smoke_profile({setting("data.path", file), setting("features.alpha", "mine"), setting("device.device", "host"),
                     "training.epochs=1", "smoketest.enabled=false", "network.hidden=[16]"});
  const auto opens = [](const std::string& checksum) {
    return dqn::EvaluationOptions{
        "", "", [=](Device&, const profile::Profile&) { return std::make_unique<MadeUpModel>(checksum); }};
  };
  const auto directory = run::RunDirectory::create(folder.path(), "agent");
  MadeUpModel made_up("0123456789abcdef");
  Training training(p, "host", dqn::load_market(p, &made_up));
  const dqn::Outcome outcome = training.trainer.run({nullptr, nullptr, nullptr, &directory});
  dqn::Model model = dqn::load_model(dqn::find_checkpoint(directory.path(), "best"));
  REQUIRE(model.card.book_model == "0123456789abcdef");
  REQUIRE(model.card.features.names.back() == "alpha_projection_1");
  const double net = dqn::evaluate(model, opens("0123456789abcdef")).agent.net;
  REQUIRE(net == outcome.test.net);
  require_error(ExitCode::data, {"best.safetensors", "another alpha model"},
                [&] { dqn::evaluate(model, opens("fedcba9876543210")); });
  require_error(ExitCode::data, {"best.safetensors", "another alpha model"}, [&] { dqn::evaluate(model, {}); });
  model.card.features.mean.back() += 1e-6;
  REQUIRE(dqn::evaluate(model, opens("0123456789abcdef")).agent.net == net);
  model.card.features.mean[3] += 1e-12;
  require_error(ExitCode::data, {"no longer what", model.card.features.names[3]},
                [&] { dqn::evaluate(model, opens("0123456789abcdef")); });
}

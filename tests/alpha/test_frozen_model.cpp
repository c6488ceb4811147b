// A trained model as features: what the evaluator and the live path say after each book, and nothing of later ones.
#include "core/alpha/frozen_model.h"

#include <fstream>
#include <limits>

#include "core/alpha/live.h"
#include "core/market/book_tape.h"
#include "core/run/safetensors.h"
#include "tests/alpha/books_fixture.h"
#include "tests/alpha/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using namespace foxhunt::alpha;
using Output = FrozenModel::Output;

namespace {

const market::Contract contract{"ES", 2 * half_tick, 50, 0, "none"};
const market::TapeOptions sessions{.session_gap = 60 * second, .calendar = "none"};

/// A checkpoint of a model that has learned a little.
struct Saved {
  TemporaryFolder folder;
  std::filesystem::path file = folder / "model.safetensors";
  std::unique_ptr<Device> device = open_device("host");
  AlphaTraining training{*device, alpha_profile(), market::MarketKind::baseline};

  Saved() {
    training.trainer.advance(5);
    save(device->download(training.trainer.model().learner_block()));
  }
  void save(const std::vector<float>& learner) {
    save_model(file, training.trainer.model(), learner, training.trainer.description(), {});
  }
};

/// Sessions of 1400 rows (more than one forward pass takes), of 3 and of 200, the second and every ninth row one-sided:
/// so is the first row of the middle session.
market::Books three_sessions(std::mt19937_64& random) {
  market::Books books;
  std::int64_t ts = monday_noon, mid = 0;
  for (const std::size_t rows : {1400, 3, 200}) {
    for (std::size_t i = 0; i < rows; ++i) {
      ts += static_cast<std::int64_t>(random() % 400) * ms;
      mid += static_cast<std::int64_t>(random() % 3) - 1;
      add_book(books, ts, mid, 1, rows == 3 ? i == 0 : i % 9 == 1);
    }
    ts += 61 * second;
  }
  return books;
}

Dataset dataset_of(const market::Books& books) {
  DatasetOptions options = options_of(in_rows({1, 2, 5, 10, 20}));
  return make_unlabelled_dataset(books, options);
}

/// What the live path says of each book, shown one by one.
std::vector<Prediction> live_answers(Device& device, const SavedModel& model, const Dataset& data) {
  LiveModel live(device, model.description.trunk, data.tick);
  Arena arena(device);
  live.plan(arena);
  arena.commit();
  live.initialise(model.parameters);
  std::vector<Prediction> answers;
  for (const Mbp10RawInput& input : data.input) {
    live.snapshot().write(input);
    live.perceive();
    answers.push_back(live.wait());
  }
  device.synchronize();
  return answers;
}

/// [rows, 5]
std::vector<float> evaluated(Device& device, const SavedModel& model, const Dataset& data) {
  DeviceDataset dataset(device, data, {});
  Evaluator evaluator(device, model.description.trunk, data, {0, static_cast<std::int64_t>(data.rows())});
  DeviceSpan<float> parameters;
  Arena arena(device);
  dataset.plan(arena);
  evaluator.plan(arena);
  arena.plan("parameters", model.parameters.size(), parameters);
  arena.commit();
  dataset.upload();
  device.upload(parameters, model.parameters);
  return evaluator.run(parameters, dataset.snapshots());
}

bool same_head(const std::vector<market::ExtraColumn>& a, const std::vector<market::ExtraColumn>& b,
               std::size_t known) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!std::equal(a[k].values.begin(), a[k].values.begin() + static_cast<std::ptrdiff_t>(known), b[k].values.begin()))
      return false;
  return a.size() == b.size();
}

}  // namespace

TEST_CASE("alpha: a frozen model says after each book what the live path and the evaluator say, to the last bit") {
  const Saved saved;
  const SavedModel model = load_model(saved.file);
  std::mt19937_64 random(seed());
  const market::Books books = three_sessions(random);
  const Dataset data = dataset_of(books);
  REQUIRE(data.sessions() == 3);
  REQUIRE(data.input[1400].first == 1);
  ON_EVERY_DEVICE(device);
  FrozenModel projecting(device, saved.file, Output::projections), judging(device, saved.file, Output::probabilities);
  const auto projections = projecting.columns(books, contract, sessions);
  const auto probabilities = judging.columns(books, contract, sessions);
  REQUIRE(projections.size() == 8);
  REQUIRE(probabilities.size() == 5);
  REQUIRE(projections.back().name == "alpha_projection_8");
  REQUIRE(probabilities.front().name == "alpha_up_1_row");
  REQUIRE(probabilities.back().name == "alpha_up_20_rows");
  const std::vector<Prediction> live = live_answers(device, model, data);
  const std::vector<float> expected = evaluated(device, model, data);
  double smallest = 1, largest = -1;
  for (std::size_t i = 0; i < books.rows(); ++i) {
    for (std::size_t k = 0; k < 8; ++k) {
      REQUIRE(projections[k].values[i] == static_cast<double>(live[i].projection[k]));
      smallest = std::min(smallest, projections[k].values[i]), largest = std::max(largest, projections[k].values[i]);
    }
    for (std::size_t h = 0; h < 5; ++h) REQUIRE(probabilities[h].values[i] == static_cast<double>(expected[i * 5 + h]));
  }
  REQUIRE(smallest < largest - 0.01);
}

TEST_CASE("alpha: rows of a tape carry what was said after their own books, one-sided ones between them included") {
  const Saved saved;
  std::mt19937_64 random(seed() + 1);
  market::Books books = three_sessions(random);
  FrozenModel model(*saved.device, saved.file, Output::projections);
  const auto columns = model.columns(books, contract, sessions);
  const market::Tape tape = market::make_book_tape(books, contract, {.tape = sessions}, columns);
  std::size_t row = 0;
  for (std::size_t i = 0; i < books.rows(); ++i) {
    if (!books.two_sided(i)) continue;
    REQUIRE(tape.ts[row] == books.ts_recv[i]);
    for (std::size_t k = 0; k < 8; ++k)
      REQUIRE(tape.bars.extra[tape.bars.extra.size() - 8 + k].values[row] == columns[k].values[i]);
    ++row;
  }
  REQUIRE(row == tape.rows());
  REQUIRE(row < books.rows());
  // A one-sided book says something: without its sizes the rows after it are other ones.
  for (std::size_t l = 0; l < book_levels; ++l) books.level[19 * book_levels + l].bid_size = 1;
  REQUIRE_FALSE(books.two_sided(19));
  const auto other = model.columns(books, contract, sessions);
  REQUIRE(same_head(columns, other, 19));
  REQUIRE(columns[0].values[20] != other[0].values[20]);
}

TEST_CASE("alpha: nothing that a frozen model says depends on later books") {
  const Saved saved;
  std::mt19937_64 random(seed() + 2);
  const market::Books books = random_books(random, 1500);
  for (const Output output : {Output::projections, Output::probabilities}) {
    FrozenModel model(*saved.device, saved.file, output);
    const auto columns = model.columns(books, contract, sessions);
    for (int trial = 0; trial < 4; ++trial) {
      const std::size_t cut = 100 + random() % 1300;
      market::Books elsewhere = books, past = books;
      each_column(past, [&](auto& column, std::size_t width) { column.truncate((cut + 1) * width); });
      for (std::size_t i = cut + 1; i < books.rows(); ++i) {
        elsewhere.ts_recv[i] += (61 + static_cast<std::int64_t>(i - cut)) * second;
        elsewhere.instrument[i] += 7;
        elsewhere.buy_volume[i] = static_cast<std::uint32_t>(random() % 100);
        for (std::size_t l = 0; l < book_levels; ++l)
          elsewhere.level[i * book_levels + l].ask_size = static_cast<std::uint32_t>(random() % 9);
      }
      const auto changed = model.columns(elsewhere, contract, sessions);
      REQUIRE(same_head(columns, changed, cut + 1));
      REQUIRE_FALSE(same_head(columns, changed, books.rows()));
      REQUIRE(same_head(columns, model.columns(past, contract, sessions), cut + 1));
    }
  }
}

TEST_CASE("alpha: a frozen model is known by its checkpoint's bytes, and two outputs have other names") {
  Saved saved;
  Device& device = *saved.device;
  const FrozenModel model(device, saved.file, Output::projections), same(device, saved.file, Output::probabilities);
  REQUIRE(model.checksum() == same.checksum());
  REQUIRE(model.checksum().size() == 16);
  REQUIRE(model.identity() == model.checksum() + " on host");
  REQUIRE(model.names() != same.names());
  saved.training.trainer.advance(1);
  saved.save(device.download(saved.training.trainer.model().learner_block()));
  REQUIRE(FrozenModel(device, saved.file, Output::projections).checksum() != model.checksum());
}

TEST_CASE("alpha: what cannot be computed of a frozen model is refused in one line") {
  Saved saved;
  Device& device = *saved.device;
  std::mt19937_64 random(seed() + 3);
  market::Books books = random_books(random, 100);
  FrozenModel model(device, saved.file, Output::projections);
  market::Contract other = contract;
  other.tick_size *= 2;
  require_says(error_of(ExitCode::data, [&] { model.columns(books, other, sessions); }),
               {"made", "tick of 0.5 points", "0.25", "features.alpha", "model.safetensors", "contract.tick_size"});
  books.levels = 1;
  require_says(error_of(ExitCode::data, [&] { model.columns(books, contract, sessions); }), {"1 level,", "mbp-10"});
  books.levels = 10;

  const auto open = [&] { FrozenModel(device, saved.file, Output::projections); };
  std::vector<float> learner = device.download(saved.training.trainer.model().learner_block());
  std::fill(learner.begin(), learner.end(), std::numeric_limits<float>::quiet_NaN());
  saved.save(learner);
  require_says(
      error_of(ExitCode::numerics,
               [&] { FrozenModel(device, saved.file, Output::projections).columns(books, contract, sessions); }),
      {"model.safetensors", "alpha_projection_1", "row 0"});
  std::filesystem::resize_file(saved.file, std::filesystem::file_size(saved.file) / 2);
  require_says(error_of(ExitCode::storage, open), {"features.alpha", "model.safetensors"});
  run::save_safetensors(saved.file, {}, {{"format", "foxhunt-dqn-1"}});
  require_says(error_of(ExitCode::storage, open), {"features.alpha", "foxhunt-dqn-1", "foxhunt-alpha-1"});
}

TEST_CASE("alpha: features.alpha names a run's best checkpoint or a file, and nothing opens where it is empty") {
  const Saved saved;
  profile::Profile p = alpha_profile();
  REQUIRE(open_book_model(*saved.device, p) == nullptr);
  p.features.alpha = saved.file.string();
  REQUIRE(open_book_model(*saved.device, p)->names().size() == 8);
  p.features.alpha_outputs = "probabilities";
  REQUIRE(open_book_model(*saved.device, p)->names().size() == 5);
  std::filesystem::create_directories(saved.folder / "run/checkpoints");
  p.features.alpha = (saved.folder / "run").string();
  require_says(error_of(ExitCode::usage, [&] { open_book_model(*saved.device, p); }), {"features.alpha", "checkpoint"});
  std::filesystem::copy(saved.file, saved.folder / "run/checkpoints/best.safetensors");
  REQUIRE(open_book_model(*saved.device, p)->file().filename() == "best.safetensors");
  p.features.alpha = (saved.folder / "nowhere").string();
  require_says(error_of(ExitCode::usage, [&] { open_book_model(*saved.device, p); }), {"features.alpha", "nowhere"});
}

#include "tests/app/run_program.h"

using namespace foxhunt;

namespace {

std::string bundled() { return (test::source_dir() / "test_data" / "futures-baseline").string(); }

}  // namespace

TEST_CASE("app: data info goes on after a damaged file, says each error on a line, and exits with 3") {
  const test::TemporaryFolder folder;
  const std::string damaged = (folder / "damaged.dbn").string(), none = (folder / "none.dbn").string();
  std::ofstream(damaged) << "DBN";
  const test::Outcome outcome = test::run_program({"data", "info", damaged, bundled(), none});
  REQUIRE(outcome.code == 3);
  REQUIRE(outcome.out.find("\n  schema     ohlcv-1m\n") != std::string::npos);
  REQUIRE(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 2);
  REQUIRE(outcome.err.rfind("foxhunt-train: error: " + damaged, 0) == 0);
  REQUIRE(outcome.err.find("\nfoxhunt-train: error: " + none) != std::string::npos);
}

TEST_CASE("app: data info describes every real file, or refuses it in one line") {
  const char* named = std::getenv("FOXHUNT_TEST_DATA");
  const auto folder = named ? std::filesystem::path(named) : test::source_dir() / ".." / "shared" / "data";
  if (!std::filesystem::is_directory(folder))
    return test::skip(folder.string() + " is not there; set FOXHUNT_TEST_DATA");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const test::Outcome outcome = test::run_program({"data", "info", entry.path().string()});
    INFO(entry.path().string() << ": " << outcome.code << " " << outcome.err);
    if (outcome.code == 0)
      REQUIRE((outcome.err.empty() && !outcome.out.empty()));
    else
      test::require_refusal({"data", "info", entry.path().string()}, 3, {entry.path().filename().string()});
    ++files;
  }
  REQUIRE(files > 0);
}

TEST_CASE("app: data info takes an instrument and a policy for damage") {
  REQUIRE(test::run_program({"data", "info", bundled(), "--on-error", "skip"}).code == 0);
  test::require_refusal({"data", "info", bundled(), "--on-error", "hope"}, 2, {"hope"});
  test::require_refusal({"data", "info", bundled(), "--instrument", "NOSUCH"}, 3, {"data.instrument \"NOSUCH\""});
}

TEST_CASE("app: data synth writes bars and books that data info describes") {
  const test::TemporaryFolder folder;
  const std::string bars = (folder / "bars.csv").string(), books = (folder / "books.dbn.zst").string();
  REQUIRE(test::run_program({"data", "synth", "--kind", "regime", "--sessions", "2", "--signal", "0.3", "--out", bars})
              .out.find(" bars\n") != std::string::npos);
  REQUIRE(test::file_text(bars).find(",symbol,signal\n") != std::string::npos);
  const test::Outcome outcome =
      test::run_program({"data", "synth", "--books", "--sessions", "2", "--rows", "300", "--out", books});
  REQUIRE(outcome.code == 0);
  REQUIRE(outcome.out == books + ": 600 books\n");
  const test::Outcome info = test::run_program({"data", "info", bars, books});
  REQUIRE(info.code == 0);
  for (const char* word : {"ohlcv-1m", "mbp-10", "rows       600\n"}) REQUIRE(info.out.find(word) != std::string::npos);
}

TEST_CASE("app: data synth says in one line which option is wrong, and writes nothing") {
  const test::TemporaryFolder folder;
  const std::string csv = (folder / "a.csv").string(), dbn = (folder / "a.dbn").string();
  const auto refuse = [&](std::vector<std::string> options, const std::vector<std::string>& words) {
    options.insert(options.begin(), {"data", "synth"});
    test::require_refusal(options, 2, words);
    REQUIRE(std::filesystem::is_empty(folder.path()));
  };
  refuse({"--rows", "5", "--out", csv}, {"--rows", "--books"});
  refuse({"--books", "--signal", "0.5", "--out", csv}, {"--books", "--signal"});
  refuse({"--signal", "0.5", "--out", dbn}, {"column signal", ".csv", "data.csv_features"});
  refuse({"--signal", "2", "--out", csv}, {"signal", "between 0 and 1", "got 2"});
  refuse({"--kind", "walk", "--strength", "0.1", "--out", csv}, {"walk", "no strength"});
  refuse({"--kind", "regim", "--out", csv}, {"'regim'", "did you mean regime?"});
  refuse({"--books", "--rows", "1", "--out", csv}, {"rows", "got 1"});
  refuse({"--books", "--out", (folder / "a.zip").string()}, {"a.zip", ".dbn.zst"});
}

TEST_CASE("app: data synth --help names every kind of market") {
  const test::Outcome outcome = test::run_program({"data", "synth", "--help"});
  REQUIRE(outcome.code == 0);
  for (const char* kind : {"\n  baseline ", "\n  walk ", "\n  trend ", "\n  revert ", "\n  skewed ", "\n  regime "})
    REQUIRE(outcome.out.find(kind) != outcome.out.rfind(kind));  // once for bars, once for books
}

TEST_CASE("app: bench data times reading a file") {
  const test::Outcome outcome =
      test::run_program({"bench", "data", "--repeats", "1", bundled() + "/es-baseline.ohlcv-1m.dbn.zst"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  for (const char* word : {" rows, median of 1 reads", "wall ", "core ", "GB/s of file"})
    REQUIRE(outcome.out.find(word) != std::string::npos);
  test::require_refusal({"bench", "data", bundled()}, 2, {"futures-baseline", "is a folder", "name its files"});
}

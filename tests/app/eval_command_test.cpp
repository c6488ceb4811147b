// `eval` and `export` through the binary.
#include <nlohmann/json.hpp>

#include "tests/app/run_program.h"

using namespace foxhunt::test;

namespace {

/// A trained run in the folder.
std::string trained(const TemporaryFolder& folder) {
  const Outcome outcome = run_program({"--profile", "dqn-smoketest", "--device", "host", "--quiet", "--output",
                                       folder.path().string(), "--set", "training.epochs=4", "--set",
                                       "evaluation.every_epochs=2", "--set", "smoketest.enabled=false"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return std::filesystem::directory_iterator(folder.path())->path().string();
}

/// Lines of a file after its header.
std::size_t rows_of(const std::filesystem::path& file) {
  const std::string text = file_text(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) - 1;
}

double column_sum(const std::filesystem::path& file, const std::string& name) {
  std::istringstream lines(file_text(file));
  std::string line, cell;
  std::getline(lines, line);
  std::istringstream header(line);
  int column = 0;
  while (std::getline(header, cell, ',') && cell != name) ++column;
  REQUIRE(cell == name);
  double sum = 0;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (int i = 0; i <= column; ++i) std::getline(cells, cell, ',');
    sum += std::stod(cell);
  }
  return sum;
}

}  // namespace

TEST_CASE("eval: a run's best model on its test split gives the numbers of summary.json") {
  const TemporaryFolder folder, out;
  const std::string run = trained(folder);
  const auto summary = nlohmann::json::parse(file_text(std::filesystem::path(run) / "summary.json"));
  const Outcome eval = run_program({"eval", run, "--json", "--sessions", (out / "sessions.csv").string(), "--trades",
                                    (out / "trades.csv").string()});
  INFO(eval.err);
  REQUIRE(eval.code == 0);
  const auto result = nlohmann::json::parse(eval.out);
  REQUIRE(result.at("agent") == summary.at("test"));
  REQUIRE(result.at("baselines") == summary.at("baselines"));
  REQUIRE(result.at("sessions").size() == result.at("agent").at("sessions").get<std::size_t>());
  const double net = result.at("agent").at("net_pnl");
  REQUIRE(column_sum(out / "trades.csv", "net") == Approx(net).margin(0.01));
  REQUIRE(column_sum(out / "sessions.csv", "net") == Approx(net).margin(0.01));
  REQUIRE(rows_of(out / "trades.csv") == result.at("agent").at("round_trips").get<std::size_t>());

  const Outcome table = run_program({"eval", run, "--split", "validation"});
  REQUIRE(table.code == 0);
  for (const char* word : {"model: ", "best.safetensors", "validation", "agent", "buy_and_hold", "Sharpe"})
    REQUIRE(table.out.find(word) != std::string::npos);
}

TEST_CASE("eval: what it cannot take is refused in one line") {
  const TemporaryFolder folder, out;
  const std::string run = trained(folder);
  require_refusal({"eval", run, "--checkpoint", "bets"}, 2, {"no checkpoint bets", "best, last"});
  require_refusal({"eval", run, "--split", "tests"}, 2, {"--split"});
  require_refusal({"eval", run + "-of-nobody"}, 2, {"no run", "of-nobody"});
  require_refusal({"eval", run, "--data", "missing.csv"}, 3, {"missing.csv"});
  require_refusal({"eval", run + "/summary.json"}, 7, {"summary.json"});
  require_refusal({"eval", run, "--trades", (out / "no/folder.csv").string()}, 7, {"folder.csv"});
}

TEST_CASE("export: writes the policy, or says why not") {
  const TemporaryFolder folder, out;
  const std::string run = trained(folder), file = (out / "policy.onnx").string();
  const Outcome done = run_program({"export", run, "--onnx", file});
  INFO(done.err);
  REQUIRE(done.code == 0);
  REQUIRE(done.out.find("features [batch, 56]") != std::string::npos);
  REQUIRE(file_text(file).find("feature_names") != std::string::npos);
  require_refusal({"export", run}, 2, {"--onnx"});
  require_refusal({"export", run, "--onnx", (out / "no/policy.onnx").string()}, 7, {"policy.onnx"});
}

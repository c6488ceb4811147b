// A report opened in a real browser: headless Chromium (FOXHUNT_CHROMIUM names one), at the width of a phone and of a
// desk. Screenshots stay in report_screenshots/ of the build folder.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/app/run_program.h"

using namespace foxhunt::test;

namespace {

/// Runs after the report's own script and tells the page around it what a reader would see go wrong.
constexpr const char* kProbe = R"(
<script>
const probe = (tries) => {  // charts are drawn with a frame, which a busy machine may take its time for
  const root = document.documentElement, all = (selector) => [...document.querySelectorAll(selector)];
  const empty = all("figure.chart").filter((f) => !f.querySelector("svg path.line[d]")).map((f) => f.id).join(" ");
  if (empty && tries > 0) return setTimeout(() => probe(tries - 1), 100);
  parent.postMessage({
    drawn: root.dataset.drawn || "no",
    width: root.clientWidth,
    overflow: root.scrollWidth - root.clientWidth,
    empty: empty,
    injected: all("b#injected").length,
    ids: " " + all("[id]").map((e) => e.id).join(" ") + " ",
  }, "*");
};
window.addEventListener("load", () => setTimeout(() => probe(100), 300));
</script>
)";

/// Shows probed.html beside it as wide as asked, which a window cannot be made, and keeps what the probe says.
std::string frame(int width) {
  return "<!DOCTYPE html><script>onmessage = (e) => Object.assign(document.documentElement.dataset, e.data);</script>"
         "<iframe src='probed.html' style='border:0;height:4200px;width:" +
         std::to_string(width) + "px'></iframe>";
}

std::string chromium() {
  const char* named = std::getenv("FOXHUNT_CHROMIUM");
  return named ? named : "chromium";
}

bool have_chromium() { return std::system(("command -v " + quoted(chromium()) + " >/dev/null 2>&1").c_str()) == 0; }

struct Page {
  std::string dom, log;
  std::string probed(const std::string& name) const {
    const std::string key = "data-" + name + "=\"";
    const std::size_t at = dom.find(key);
    return at == std::string::npos ? "(none)"
                                   : dom.substr(at + key.size(), dom.find('"', at + key.size()) - at - key.size());
  }
};

/// FOLDER/probed.html after its scripts ran, and everything that the browser said meanwhile.
Page open(const TemporaryFolder& folder, int width, const std::filesystem::path& screenshot) {
  std::ofstream(folder / "frame.html") << frame(width);
  const std::string command = quoted(chromium()) +
                              " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars"
                              " --virtual-time-budget=20000 --enable-logging=stderr --user-data-dir=" +
                              quoted((folder / "user").string()) + " --window-size=" + std::to_string(width) + ",4200";
  const auto url = [&](const char* file) { return quoted("file://" + (folder / file).string()); };
  const std::string log = quoted((folder / "log").string()), dom = quoted((folder / "dom").string());
  REQUIRE(std::system((command + " --dump-dom " + url("frame.html") + " >" + dom + " 2>" + log).c_str()) == 0);
  REQUIRE(std::system(
              (command + " --screenshot=" + quoted(screenshot.string()) + " " + url("probed.html") + " >/dev/null 2>&1")
                  .c_str()) == 0);
  return {file_text(folder / "dom"), file_text(folder / "log")};
}

std::filesystem::path finished_run(const TemporaryFolder& folder, const std::string& profile = "dqn-smoketest") {
  // A name that would break a page which took it for markup; '/' is not allowed in one.
  const std::string name = R"(name='<b id="injected">x & "q" <script>throw 1')";
  const Outcome outcome = run_program({"--profile", profile, "--device", "host", "--quiet", "--output",
                                       folder.path().string(), "--set", "training.epochs=4", "--set", name});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return std::filesystem::directory_iterator(folder.path())->path();
}

}  // namespace

TEST_CASE("report: a run leaves one, and its folder alone gives the same again") {
  const TemporaryFolder folder;
  const std::filesystem::path run = finished_run(folder);
  for (const char* file : {"report.html", "metrics.csv", "evaluation.json"})
    REQUIRE(std::filesystem::file_size(run / file) > 0);
  const Outcome again = run_program({"report", run.string(), "--output", (folder / "again.html").string()});
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE(again.out == (folder / "again.html").string() + "\n");
  REQUIRE(file_text(folder / "again.html") == file_text(run / "report.html"));

  // The curves end where the summary says.
  const auto summary = nlohmann::json::parse(file_text(run / "summary.json"));
  const auto evaluation = nlohmann::json::parse(file_text(run / "evaluation.json"));
  const auto agree = [&](const std::string& policy, const nlohmann::json& result) {
    const auto& curve = evaluation.at("policies").at(policy);
    INFO(policy);
    REQUIRE(curve.at("net").size() == evaluation.at("time").size());
    REQUIRE(curve.at("net").back().get<double>() == Approx(result.at("net_pnl").get<double>()).margin(0.02));
    REQUIRE(curve.at("gross").back().get<double>() == Approx(result.at("gross_pnl").get<double>()).margin(0.02));
    double deepest = 0;
    for (const auto& fall : curve.at("drawdown")) deepest = std::max(deepest, fall.get<double>());
    REQUIRE(deepest == Approx(result.at("max_drawdown").get<double>()).margin(0.02));
  };
  agree("agent", summary.at("test"));
  for (const auto& [name, result] : summary.at("baselines").items()) agree(name, result);
  REQUIRE(evaluation.at("sessions").size() == summary.at("test").at("sessions"));
  for (const auto& state : evaluation.at("values").at("states"))
    for (const auto& distribution : state.at("distribution")) {
      double sum = 0;
      for (const auto& share : distribution) sum += share.get<double>();
      REQUIRE(sum == Approx(1).margin(1e-3));
    }
}

TEST_CASE("report: run.report = false leaves it out, and what is no run is exit 2") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program({"--profile", "dqn-smoketest", "--device", "host", "--quiet", "--output", folder.path().string(),
                   "--set", "training.epochs=4", "--set", "run.report=false"});
  REQUIRE(outcome.code == 0);
  REQUIRE_FALSE(std::filesystem::exists(std::filesystem::directory_iterator(folder.path())->path() / "report.html"));
  require_refusal({"report", folder.path().string()}, 2, {folder.path().string(), "profile.toml"});
  require_refusal({"report"}, 2, {"run"});
}

TEST_CASE("report: Chromium draws every chart at 400 and 1280 pixels without a script error") {
  if (!have_chromium()) return skip("no chromium (Debian package chromium; FOXHUNT_CHROMIUM names one)");
  const std::vector<std::string> of_dqn = {"chart-equity", "chart-drawdown", "chart-rewards", "chart-losses",
                                           "chart-values", "chart-actions",  "chart-state-0", "performance",
                                           "sessions",     "split",          "timing",        "checks",
                                           "profile",      "command",        "environment"};
  const std::vector<std::string> of_alpha = {"gate",   "chart-losses", "chart-gradients", "split",      "timing",
                                             "checks", "profile",      "command",         "environment"};
  const bool alpha = GENERATE(false, true);
  const std::string profile = alpha ? "alpha-smoketest" : "dqn-smoketest";
  const std::vector<std::string>& parts = alpha ? of_alpha : of_dqn;
  CAPTURE(profile);
  const TemporaryFolder folder;
  const std::filesystem::path run = finished_run(folder, profile);
  std::string text = file_text(run / "report.html");
  text.insert(text.rfind("</body>"), kProbe);
  std::ofstream(folder / "probed.html") << text;
  const std::filesystem::path screenshots = std::filesystem::current_path() / "report_screenshots";
  std::filesystem::create_directories(screenshots);

  for (const int width : {400, 1280}) {
    const Page page = open(folder, width, screenshots / (profile + "-" + std::to_string(width) + ".png"));
    INFO(page.log);
    REQUIRE(page.probed("drawn") == "true");
    REQUIRE(page.probed("width") == std::to_string(width));
    REQUIRE(page.probed("overflow") == "0");
    REQUIRE(page.probed("empty") == "");
    REQUIRE(page.probed("injected") == "0");
    REQUIRE(page.log.find("CONSOLE") == std::string::npos);
    for (const std::string& part : parts) {
      INFO(part);
      REQUIRE(page.probed("ids").find(std::string(1, ' ').append(part).append(1, ' ')) != std::string::npos);
    }
  }
}

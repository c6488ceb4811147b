#include "core/run/doctor.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/profile/schema.h"
#include "tests/catch.h"

using namespace foxhunt;
using namespace foxhunt::run;
using Level = Finding::Level;

namespace {

/// A machine on which all is well, with one card.
MachineFacts good_machine() {
  MachineFacts facts;
  facts.version = "0.1.0";
  facts.compiler = "GCC";
  facts.build_type = "Release";
  facts.cpu = "CPU";
  facts.cores = 8;
  facts.avx2_fma = true;
  facts.memory_available = std::uint64_t{16} << 30;
  facts.kernel_architectures = "86, 90";
  facts.driver = "570.1";
  facts.cards = {{"cuda:0", "cuda:0, NVIDIA H200, sm_90, 139.3 GiB free of 139.8", ""}};
  facts.device = "auto";
  facts.output = "runs";
  facts.output_free = std::uint64_t{100} << 30;
  facts.profiles = 6;
  facts.data = "es.csv";
  return facts;
}

const Finding& named(const std::vector<Finding>& findings, std::string_view name) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.name == name; });
  REQUIRE(found != findings.end());
  return *found;
}

/// What the change does to the good machine: the finding of that name and level has a remedy, the exit code is `code`.
template <class Change>
void require_finding(const char* name, Level level, ExitCode code, Change change) {
  MachineFacts facts = good_machine();
  change(facts);
  const std::vector<Finding> findings = diagnose(facts);
  INFO(to_text(findings));
  const Finding& finding = named(findings, name);
  REQUIRE(finding.level == level);
  REQUIRE_FALSE(finding.remedy.empty());
  REQUIRE(exit_code_of(findings) == code);
}

}  // namespace

TEST_CASE("doctor: a machine on which all is well is told so, without remedies") {
  const std::vector<Finding> findings = diagnose(good_machine());
  for (const Finding& finding : findings) {
    INFO(finding.name);
    REQUIRE(finding.level == Level::ok);
    REQUIRE(finding.remedy.empty());
    REQUIRE_FALSE(finding.detail.empty());
  }
  for (const char* name : {"program", "cpu", "memory", "gpu", "cuda:0", "disk", "profiles", "time zones", "data"})
    named(findings, name);
  REQUIRE(exit_code_of(findings) == ExitCode::ok);
}

TEST_CASE("doctor: a machine without a GPU is well unless a GPU is asked for") {
  MachineFacts facts = good_machine();
  facts.cards.clear();
  facts.driver.clear();
  facts.kernel_architectures.clear();
  REQUIRE(exit_code_of(diagnose(facts)) == ExitCode::ok);
  REQUIRE(named(diagnose(facts), "gpu").level == Level::ok);
  facts.device = "cuda:0";
  REQUIRE(exit_code_of(diagnose(facts)) == ExitCode::device);
  REQUIRE_FALSE(named(diagnose(facts), "gpu").remedy.empty());
}

TEST_CASE("doctor: each fault is named with its level, what to do, and the exit code of a run") {
  require_finding("cpu", Level::warn, ExitCode::ok, [](MachineFacts& f) { f.avx2_fma = false; });
  require_finding("memory", Level::warn, ExitCode::ok, [](MachineFacts& f) { f.memory_available = 1 << 20; });
  require_finding("gpu", Level::warn, ExitCode::ok, [](MachineFacts& f) { f.cards.clear(); });
  require_finding("gpu", Level::warn, ExitCode::ok, [](MachineFacts& f) {
    f.cards.clear();
    f.kernel_architectures.clear();
  });
  require_finding("cuda:0", Level::fail, ExitCode::device,
                  [](MachineFacts& f) { f.cards[0].error = "not usable (sm_61)"; });
  require_finding("cuda:0", Level::warn, ExitCode::ok, [](MachineFacts& f) {
    f.cards[0].error = "not usable (sm_61)";
    f.device = "host";
  });
  require_finding("cuda:7", Level::fail, ExitCode::device, [](MachineFacts& f) { f.device = "cuda:7"; });
  require_finding("disk", Level::warn, ExitCode::ok, [](MachineFacts& f) { f.output_free = 5; });
  require_finding("disk", Level::fail, ExitCode::storage, [](MachineFacts& f) { f.output_error = "read-only"; });
  require_finding("profiles", Level::fail, ExitCode::usage, [](MachineFacts& f) { f.profiles_error = "a.toml:1"; });
  require_finding("time zones", Level::warn, ExitCode::ok, [](MachineFacts& f) { f.time_zone_error = "no tzdata"; });
  require_finding("data", Level::fail, ExitCode::data, [](MachineFacts& f) { f.data_error = "no such file"; });
}

TEST_CASE("doctor: findings read the same as text and as JSON") {
  MachineFacts facts = good_machine();
  facts.data_error = "es.csv: no such file";
  const std::vector<Finding> findings = diagnose(facts);
  REQUIRE(to_text(findings).find("FAIL  data        es.csv: no such file\n") != std::string::npos);
  REQUIRE(to_text(findings).find("-> name market data") != std::string::npos);
  const auto json = to_json(findings);
  REQUIRE(json.size() == findings.size());
  REQUIRE(json.back()["name"] == "data");
  REQUIRE(json.back()["level"] == "fail");
}

TEST_CASE("doctor: this machine can be examined, and an output folder that cannot be is told") {
  const test::TemporaryFolder folder;
  profile::Profile profile = profile::default_profile();
  profile.run.output = (folder / "not/there/yet").string();
  const MachineFacts facts = examine_machine(profile);
  REQUIRE(facts.cores >= 1);
  REQUIRE(facts.memory_available > 1'000'000);
  REQUIRE(facts.output_error.empty());
  REQUIRE(facts.output_free > 0);
  std::ofstream(folder / "file") << "x";
  profile.run.output = (folder / "file" / "runs").string();
  REQUIRE(examine_machine(profile).output_error.find("no folder") != std::string::npos);
}

TEST_CASE("doctor: a card is read off a device's description") {
  const profile::GpuCard h200 = card_of("cuda:0, NVIDIA H200, sm_90, 139.3 GiB free of 139.8");
  REQUIRE(h200.name == "NVIDIA H200");
  REQUIRE(h200.major == 9);
  REQUIRE(h200.minor == 0);
  REQUIRE(profile::gpu_profile_for(h200) == "gpu-h200");
  const profile::GpuCard laptop = card_of("cuda:0, NVIDIA GeForce RTX 3050 Laptop GPU, sm_86, 3.1 GiB free of 3.8");
  REQUIRE(laptop.minor == 6);
  REQUIRE(profile::gpu_profile_for(laptop) == "gpu-rtx3050");
  REQUIRE(card_of("cuda:0, Blackwell, sm_120, 30.0 GiB free of 31.4").major == 12);
  REQUIRE(profile::gpu_profile_for(card_of("host, 8 threads (no GPU)")) == "none");
}

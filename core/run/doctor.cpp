#include "core/run/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/device/cuda_device.h"
#include "core/profile/loader.h"
#include "core/run/environment.h"
#ifdef FOXHUNT_HAVE_CUDA
#include "core/device/fatbins.h"
#endif

namespace foxhunt::run {
namespace {

namespace fs = std::filesystem;
using Level = Finding::Level;

constexpr double gib = 1 << 30;
constexpr std::uint64_t least_memory = std::uint64_t{1} << 30, least_disk = std::uint64_t{1} << 30;

std::string kernel_architectures() {
#ifdef FOXHUNT_HAVE_CUDA
  return fatbin_architectures();
#else
  return "";
#endif
}

std::string driver_line() {
  std::ifstream in("/proc/driver/nvidia/version");
  std::string line;
  std::getline(in, line);
  const std::size_t colon = line.find(": ");  // "NVRM version: NVIDIA UNIX ..."
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

std::vector<CardFacts> open_cards(std::string& why_none) {
  std::vector<CardFacts> cards;
  const int count = cuda_device_count(why_none);
  for (int i = 0; i < count; ++i) {
    CardFacts card{.name = fmt::format("cuda:{}", i), .description = {}, .error = {}};
    try {
      card.description = open_device(card.name)->description();
    } catch (const Error& error) {
      card.error = error.what();
    }
    cards.push_back(card);
  }
  return cards;
}

/// The folder itself, or of the folders above it the nearest that exists: where a run would begin to write.
fs::path nearest_existing(const fs::path& folder) {
  std::error_code error;
  fs::path at = fs::absolute(folder, error);
  while (!at.empty() && at != at.root_path() && !fs::exists(at, error)) at = at.parent_path();
  return at;
}

void examine_output(MachineFacts& facts) {
  const fs::path at = nearest_existing(facts.output);
  std::error_code error;
  if (!fs::is_directory(at, error)) {
    facts.output_error = fmt::format("{} is no folder", at.string());
  } else if (::access(at.c_str(), W_OK | X_OK) != 0) {
    facts.output_error = fmt::format("{} cannot be written", at.string());
  }
  facts.output_free = fs::space(at, error).available;
}

void examine_profiles(MachineFacts& facts) {
  try {
    const auto paths = profile::ProfilePaths::standard();
    for (const profile::ProfileFile& file : profile::list_profiles(paths)) {
      profile::load_profile(file.file.string(), {}, paths);
      ++facts.profiles;
    }
  } catch (const Error& error) {
    facts.profiles_error = error.what();
  }
}

Finding check_memory(const MachineFacts& facts) {
  Finding finding{"memory", Level::ok,
                  fmt::format("{:.1f} GiB available", static_cast<double>(facts.memory_available) / gib), "",
                  ExitCode::ok};
  if (facts.memory_available >= least_memory) return finding;
  finding.level = Level::warn;
  finding.remedy = "close other programs, or train on a small data set with a small training.buffer_size";
  return finding;
}

Finding check_cpu(const MachineFacts& facts) {
  Finding finding{
      "cpu", Level::ok,
      fmt::format("{}, {} cores, {}", facts.cpu, facts.cores, facts.avx2_fma ? "AVX2 and FMA" : "without AVX2 and FMA"),
      "", ExitCode::ok};
  if (facts.avx2_fma) return finding;
  finding.level = Level::warn;
  finding.remedy = "training on the host will be several times slower here; use a GPU, or a CPU of 2013 or later";
  return finding;
}

/// Of the build and the driver, before any card: nothing to say against a machine that has no GPU.
Finding check_gpu_support(const MachineFacts& facts) {
  const bool built = !facts.kernel_architectures.empty(), driver = !facts.driver.empty();
  Finding finding{"gpu", Level::ok, "", "", ExitCode::ok};
  finding.detail = fmt::format("{}; {}",
                               built ? "kernels for sm " + facts.kernel_architectures
                                     : std::string("built without the CUDA toolkit: host target only"),
                               driver ? "driver " + facts.driver : std::string("no NVIDIA driver"));
  if (!facts.cards.empty()) return finding;
  if (built && driver) {
    finding.detail += "; " + facts.no_cards;
    finding.remedy =
        "a driver is loaded, but no card is seen: in a container, start it with --gpus all; else check nvidia-smi and "
        "CUDA_VISIBLE_DEVICES";
  } else if (driver) {
    finding.remedy = "to use the GPU, put nvcc 12.8 or newer on PATH (or set CUDA_HOME) and build again";
  }
  if (!finding.remedy.empty()) finding.level = Level::warn;
  if (facts.device.starts_with("cuda:")) {
    finding.level = Level::fail;
    finding.code = ExitCode::device;
    finding.detail += fmt::format("; {} is asked for", facts.device);
    if (finding.remedy.empty()) finding.remedy = "use --device auto or host, or install the NVIDIA driver";
  }
  return finding;
}

Finding check_card(const CardFacts& card, const std::string& device) {
  if (card.error.empty()) return {card.name, Level::ok, card.description, "", ExitCode::ok};
  const bool wanted = device == card.name || (device == "auto" && card.name == "cuda:0");
  return {card.name, wanted ? Level::fail : Level::warn, card.error,
          "follow what the message says, or use --device host", wanted ? ExitCode::device : ExitCode::ok};
}

Finding check_disk(const MachineFacts& facts) {
  if (!facts.output_error.empty())
    return {"disk", Level::fail, facts.output_error, "name another folder with --output or run.output",
            ExitCode::storage};
  Finding finding{"disk", Level::ok,
                  fmt::format("{:.1f} GiB free for {}", static_cast<double>(facts.output_free) / gib, facts.output), "",
                  ExitCode::ok};
  if (facts.output_free >= least_disk) return finding;
  finding.level = Level::warn;
  finding.remedy = "make room, or lower checkpoint.keep";
  return finding;
}

/// Well, or `error` with what to do about it.
Finding plain_check(const char* name, const std::string& well, const std::string& error, const char* remedy,
                    Level level, ExitCode code) {
  if (error.empty()) return {name, Level::ok, well, "", ExitCode::ok};
  return {name, level, error, remedy, code};
}

const char* word(Level level) { return level == Level::ok ? "ok" : level == Level::warn ? "warn" : "FAIL"; }

}  // namespace

MachineFacts examine_machine(const profile::Profile& profile) {
  const nlohmann::ordered_json environment = describe_environment();
  MachineFacts facts;
  facts.version = environment["version"].get<std::string>();
  facts.compiler = environment["compiler"].get<std::string>();
  facts.build_type = environment["build_type"].get<std::string>();
  facts.cpu = environment["cpu"].get<std::string>();
  facts.cores = environment["cores"].get<int>();
  facts.avx2_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  facts.memory_available = open_device("host")->free_memory();
  facts.kernel_architectures = kernel_architectures();
  facts.driver = driver_line();
  facts.cards = open_cards(facts.no_cards);
  facts.device = profile.device.device;
  facts.output = profile.run.output;
  examine_output(facts);
  examine_profiles(facts);
  return facts;
}

std::vector<Finding> diagnose(const MachineFacts& facts) {
  std::vector<Finding> findings;
  findings.push_back({"program", Level::ok,
                      fmt::format("foxhunt-train {}, {}, {}", facts.version, facts.compiler, facts.build_type), "",
                      ExitCode::ok});
  findings.push_back(check_cpu(facts));
  findings.push_back(check_memory(facts));
  findings.push_back(check_gpu_support(facts));
  for (const CardFacts& card : facts.cards) findings.push_back(check_card(card, facts.device));
  if (!facts.cards.empty() && facts.device.starts_with("cuda:") &&
      std::none_of(facts.cards.begin(), facts.cards.end(), [&](const auto& card) { return card.name == facts.device; }))
    findings.push_back({facts.device, Level::fail, fmt::format("there is no such GPU; {} present", facts.cards.size()),
                        "use --device auto, or the number of a card above", ExitCode::device});
  findings.push_back(check_disk(facts));
  findings.push_back(plain_check("profiles", fmt::format("{} load", facts.profiles), facts.profiles_error,
                                 "correct the file, or unset FOXHUNT_PROFILES", Level::fail, ExitCode::usage));
  findings.push_back(plain_check("time zones", "America/Chicago is known", facts.time_zone_error,
                                 "install the package tzdata; only CSV times in a local zone need it", Level::warn,
                                 ExitCode::ok));
  findings.push_back(plain_check("data", facts.data, facts.data_error, "name market data with --data or data.path",
                                 Level::fail, ExitCode::data));
  return findings;
}

ExitCode exit_code_of(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    if (finding.level == Level::fail) return finding.code;
  return ExitCode::ok;
}

std::string to_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<5} {:<11} {}\n", word(finding.level), finding.name, finding.detail);
    if (!finding.remedy.empty()) text += fmt::format("{:<17} -> {}\n", "", finding.remedy);
  }
  return text;
}

nlohmann::ordered_json to_json(const std::vector<Finding>& findings) {
  auto json = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    json.push_back({{"name", finding.name},
                    {"level", finding.level == Level::fail ? "fail" : word(finding.level)},
                    {"detail", finding.detail},
                    {"remedy", finding.remedy}});
  return json;
}

profile::GpuCard card_of(const std::string& description) {
  profile::GpuCard card;
  const std::size_t comma = description.find(", "), capability = description.rfind(", sm_"),
                    total = description.rfind(" of ");
  if (!description.starts_with("cuda:") || capability == std::string::npos || total == std::string::npos) return card;
  card.name = description.substr(comma + 2, capability - comma - 2);
  const int number = std::atoi(description.c_str() + capability + 5);  // 90 is 9.0, 120 is 12.0
  card.major = number / 10;
  card.minor = number % 10;
  card.memory_bytes = static_cast<std::size_t>(std::atof(description.c_str() + total + 4) * gib);
  return card;
}

}  // namespace foxhunt::run

#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/profile/gpu_profile.h"
#include "core/profile/profile.h"

namespace foxhunt::run {

/// How one thing that training needs is.
struct Finding {
  enum class Level { ok, warn, fail };
  std::string name;
  Level level = Level::ok;
  std::string detail;
  std::string remedy;            ///< what to do; "" when it is well
  ExitCode code = ExitCode::ok;  ///< of a failure
};

/// A card, opened with every kernel resolved, or why it could not be.
struct CardFacts {
  std::string name;  ///< "cuda:0"
  std::string description, error;
};

/// What a diagnosis is made from.
struct MachineFacts {
  std::string version, compiler, build_type, cpu;
  int cores = 0;
  bool avx2_fma = false;
  std::uint64_t memory_available = 0;  ///< bytes
  std::string kernel_architectures;    ///< "86, 90"; "" in a build without the CUDA target
  std::string driver;                  ///< first line of the NVIDIA kernel driver's version; "" without one
  std::string no_cards;                ///< why there are no cards
  std::vector<CardFacts> cards;
  std::string device;             ///< device.device of the profile
  std::string output;             ///< run.output of the profile
  std::uint64_t output_free = 0;  ///< bytes
  std::string output_error;       ///< why nothing can be written there
  std::string profiles_error;     ///< the first shipped profile that does not load
  int profiles = 0;
  std::string time_zone_error;   ///< why America/Chicago is not known
  std::string data, data_error;  ///< the market data's place; why it cannot be read
};

/// All but the facts of the market (time zone, data), which the caller adds. Opens every card.
MachineFacts examine_machine(const profile::Profile& profile);

/// Every check, those that are well too.
std::vector<Finding> diagnose(const MachineFacts& facts);

/// ok, or the exit code of the first failure: what a run would end with.
ExitCode exit_code_of(const std::vector<Finding>& findings);
/// "ok    gpu   detail", and under what is not well the remedy.
std::string to_text(const std::vector<Finding>& findings);
nlohmann::ordered_json to_json(const std::vector<Finding>& findings);

/// The card behind Device::description(): "cuda:0, NVIDIA H200, sm_90, 139.3 GiB free of 139.8". All zero for the host.
profile::GpuCard card_of(const std::string& description);

}  // namespace foxhunt::run

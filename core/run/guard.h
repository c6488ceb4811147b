#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/device/arena.h"
#include "core/profile/profile.h"
#include "core/run/trainee.h"

namespace foxhunt::run {

/// "parameter, moment": the tensors of a NonfiniteIn mask, in the order in which an iteration meets them.
std::string nonfinite_names(std::uint32_t mask);

/// The host's side of the NaN guard: watches the health word and applies the profile's policy. The device has refused
/// the update already when this hears of it.
class Guard {
 public:
  Guard(Device& device, Trainee& trainee, const profile::Profile::Guards& options);
  /// Room for the last good state; before Arena::commit.
  void plan(Arena& arena);
  /// Looks at the health word; call with no more than the allowed iterations in flight. halt, or a policy at its limit:
  /// throws Error(numerics) that names iteration and tensors.
  void check(const Health& health);
  /// Keeps what a diagnosis starts from, when it is time. All queued iterations must be done.
  void keep_diagnosis_start(const Health& health);
  /// Keeps the learner's block as the last good state when it is time. All queued iterations must be done.
  void keep_good_state(const Health& health);

  /// Where a diagnosis leaves the tensors of the kernel it names; "" (at first): nowhere.
  void set_dump_folder(const std::filesystem::path& folder) { dump_folder_ = folder; }

  /// All there is to save and restore.
  struct State {
    std::int64_t trips = 0, rollbacks = 0, kept_at = 0;
    std::vector<float> good;  ///< Learner::block as it was at iteration kept_at; empty: none is kept
  };
  /// All queued iterations must be done.
  State state() const;
  /// Where the state has no good learner and the policy wants one, the agent's present one is taken.
  void restore(const State& state);

  std::int64_t trips() const { return trips_; }
  std::int64_t rollbacks() const { return rollbacks_; }

 private:
  void roll_back();
  std::string diagnosis(const Health& health);

  Device& device_;
  Trainee& trainee_;
  const Arena* arena_ = nullptr;
  profile::Profile::Guards options_;
  DeviceSpan<float> good_;
  DeviceSpan<std::byte> start_;  ///< Trainee::persistent as it was at iteration started_at_
  std::filesystem::path dump_folder_;
  bool have_good_ = false;
  std::int64_t trips_ = 0, rollbacks_ = 0, kept_at_ = 0, started_at_ = -1;
};

}  // namespace foxhunt::run

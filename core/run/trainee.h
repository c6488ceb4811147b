#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/device/device.h"
#include "core/isv_slots.h"

namespace foxhunt::run {

/// What the last kernel of a training iteration left for the host in mapped memory.
struct Health {
  std::array<float, isv_slot_count> isv;
  std::array<std::uint32_t, counter_count> counters;

  /// From the words [health_words] that end_iteration_kernel writes.
  static Health of(std::span<const std::uint32_t> words);
};

/// Writes into the words [health_words] what end_iteration_kernel would of this bus and these counters: for a trainee
/// whose memory was restored.
void show_health(Device& device, DeviceSpan<const float> isv, DeviceSpan<const std::uint32_t> counters,
                 std::span<std::uint32_t> words);

/// 64-bit FNV-1a of the parameters' bits: one number that says whether two runs ended alike.
std::uint64_t fingerprint(std::span<const float> parameters);

/// A model in training as its guard sees it: one recorded program that is run again and again.
class Trainee {
 public:
  virtual ~Trainee() = default;
  /// Queues `count` training iterations.
  virtual void iterate(int count) = 0;
  /// As the last finished iteration left it; exact after Device::synchronize.
  virtual Health health() const = 0;
  virtual const Program& program() const = 0;
  /// Everything that one iteration hands to the next, counters included. One run of memory.
  virtual DeviceSpan<std::byte> persistent() const = 0;
  virtual std::size_t persistent_bytes() const = 0;  ///< known once planned
  /// Parameters and what the optimiser keeps of them, as one run of memory: what a rollback puts back.
  virtual DeviceSpan<float> learner_block() const = 0;
  virtual std::size_t learner_floats() const = 0;  ///< known once planned
};

}  // namespace foxhunt::run

#pragma once
#include <exception>
#include <thread>
#include <utility>

#include "core/alpha/live.h"

namespace foxhunt::alpha {

/// A live model whose kernel stays on the device and waits for snapshots: no launch on their way. It leaves when asked,
/// and by itself after `idle` without a snapshot, so that nothing hangs when the host dies; the next snapshot then
/// starts it again, where it was. While it serves, the device's stream is taken: what else is queued waits until it
/// leaves.
class Resident {
 public:
  /// Starts to serve. The model, initialised, outlives this.
  Resident(LiveModel& model, std::chrono::nanoseconds idle);
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;
  ~Resident();

  /// Writes the snapshot and waits for its answer as LiveModel::wait() does.
  template <class F>
  Prediction answer(const Mbp10RawInput& snapshot, F meanwhile) {
    model_.snapshot().write(snapshot);
    return model_.wait([&] {
      stay();
      meanwhile();
    });
  }
  Prediction answer(const Mbp10RawInput& snapshot) {
    return answer(snapshot, [] {});
  }
  /// False once the kernel has left.
  bool serving() { return model_.left().load(std::memory_order_acquire) == 0; }
  /// Asks the kernel to leave and waits until it has; the model's state is then that after the last snapshot.
  void leave();

 private:
  void start();
  void stay();
  void join();

  LiveModel& model_;
  std::chrono::nanoseconds idle_;
  std::thread host_;  // where a launch returns only when it is done
  std::exception_ptr failure_;
};

}  // namespace foxhunt::alpha

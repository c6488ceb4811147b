#pragma once
#include <functional>
#include <future>

namespace foxhunt::run {

/// One piece of work at a time on a thread of its own. Destruction waits for it.
class BackgroundTask {
 public:
  /// Starts `work` once the one before it is done. Throws what that one threw; `work` is not started then.
  void start(std::function<void()> work) {
    wait();
    running_ = std::async(std::launch::async, std::move(work));
  }

  /// Returns when nothing runs any more. Throws what the work threw, once.
  void wait() {
    if (running_.valid()) running_.get();
  }

 private:
  std::future<void> running_;  // of std::async, whose destructor waits
};

}  // namespace foxhunt::run

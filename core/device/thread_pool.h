#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace foxhunt {

/// Threads that run the blocks of a host launch. Plain C++ threads, so that ThreadSanitizer sees every hand-over.
class ThreadPool {
 public:
  /// `threads` in all, the caller included; 0 means all cores.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int size() const { return static_cast<int>(workers_.size()) + 1; }
  /// Calls task(i) for every i in [0, count), in any order, on any thread; returns when all are done.
  void run(unsigned count, const std::function<void(unsigned)>& task);

 private:
  void work();
  void drain(const std::function<void(unsigned)>& task, unsigned count);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* task_ = nullptr;
  unsigned count_ = 0;
  std::atomic<unsigned> next_{0};
  unsigned long long round_ = 0;
  int busy_ = 0;
  bool stop_ = false;
};

}  // namespace foxhunt

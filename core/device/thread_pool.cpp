#include "core/device/thread_pool.h"

namespace foxhunt {

ThreadPool::ThreadPool(int threads) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int wanted = threads > 0 ? threads : cores > 0 ? cores : 1;
  for (int i = 1; i < wanted; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(unsigned count, const std::function<void(unsigned)>& task) {
  if (count <= 1 || workers_.empty()) {
    for (unsigned i = 0; i < count; ++i) task(i);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  start_.notify_all();
  drain(task, count);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::drain(const std::function<void(unsigned)>& task, unsigned count) {
  for (unsigned i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count;) task(i);
}

void ThreadPool::work() {
  unsigned long long seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    const std::function<void(unsigned)>& task = *task_;
    const unsigned count = count_;
    lock.unlock();
    drain(task, count);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace foxhunt

// The host target with blocks of real threads, for the tests: what is nothing or the identity in a block of one thread
// happens here, so that ThreadSanitizer sees a barrier that is missing.
#include <atomic>
#include <barrier>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "cuda/device.cuh"

#include "core/kernels.h"

thread_local constinit HostDim threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim{}, gridDim{};

namespace {

constexpr int lanes = 32;

/// A tile's barrier. Tiles meet far more often than blocks do, and with many threads on few cores giving the core away
/// is quicker than sleeping (45 us against 63 us for 32 threads on two).
class YieldingBarrier {
 public:
  void arrive_and_wait() {
    const unsigned round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == lanes - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
    } else {
      while (round_.load(std::memory_order_acquire) == round) std::this_thread::yield();
    }
  }

 private:
  std::atomic<unsigned> round_{0};
  std::atomic<int> arrived_{0};
};

/// What 32 threads exchange. Two sets of slots, used in turn: one barrier an exchange is enough.
struct TileExchange {
  YieldingBarrier barrier;
  float slot[2][lanes];
};

class Team;
thread_local Team* team_of_thread = nullptr;
thread_local int turn = 0;

/// The threads of a block, kept from launch to launch.
class Team {
 public:
  explicit Team(int threads) : begin_(threads + 1), end_(threads + 1), block_(threads), tiles_(threads / lanes) {
    for (int t = 0; t < threads; ++t) threads_.emplace_back([this, t, threads] { work(t, threads); });
  }
  ~Team() {
    kernel_ = nullptr;
    begin_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(unsigned block, unsigned blocks, const std::function<void()>& kernel) {
    kernel_ = &kernel;
    block_index_ = block;
    block_count_ = blocks;
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
  }

  void synchronize() { block_.arrive_and_wait(); }
  TileExchange& tile() { return tiles_[threadIdx.x / lanes]; }

 private:
  void work(int thread, int threads) {
    team_of_thread = this;
    threadIdx = {static_cast<unsigned>(thread), 0, 0};
    blockDim = {static_cast<unsigned>(threads), 1, 1};
    for (;;) {
      begin_.arrive_and_wait();
      if (!kernel_) return;
      blockIdx = {block_index_, 0, 0};
      gridDim = {block_count_, 1, 1};
      turn = 0;
      (*kernel_)();
      end_.arrive_and_wait();
    }
  }

  std::barrier<> begin_, end_, block_;
  std::vector<TileExchange> tiles_;
  std::vector<std::thread> threads_;
  const std::function<void()>* kernel_ = nullptr;
  unsigned block_index_ = 0, block_count_ = 0;
};

}  // namespace

void __syncthreads() { team_of_thread->synchronize(); }
void __syncwarp() { team_of_thread->tile().barrier.arrive_and_wait(); }

const float* gather_in_tile(float v) {
  TileExchange& tile = team_of_thread->tile();
  float* const slot = tile.slot[turn];
  turn ^= 1;
  slot[threadIdx.x % lanes] = v;
  tile.barrier.arrive_and_wait();
  return slot;
}

const std::vector<int>& foxhunt::host_block_sizes() {
  static const std::vector<int> sizes = {32, 96};
  return sizes;
}

void foxhunt::run_host_block(int threads, unsigned block, unsigned blocks, const std::function<void()>& kernel) {
  static std::mutex one_block_at_a_time;
  static std::map<int, std::unique_ptr<Team>> teams;
  const std::lock_guard lock(one_block_at_a_time);
  std::unique_ptr<Team>& team = teams[threads];
  if (!team) team = std::make_unique<Team>(threads);
  team->run(block, blocks, kernel);
}

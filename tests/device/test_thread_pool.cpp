#include "core/device/thread_pool.h"

#include "tests/catch.h"

using foxhunt::ThreadPool;

TEST_CASE("thread_pool: has the threads it was asked for") {
  REQUIRE(ThreadPool(1).size() == 1);
  REQUIRE(ThreadPool(4).size() == 4);
  REQUIRE(ThreadPool(0).size() >= 1);
}

TEST_CASE("thread_pool: every task runs once, and all are done on return") {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (const unsigned count : {0u, 1u, 2u, 7u, 16u, 1000u}) {
      std::vector<int> runs(count, 0);  // no task shares an element: the return orders their writes
      pool.run(count, [&](unsigned i) { ++runs[i]; });
      CAPTURE(threads, count);
      REQUIRE(runs == std::vector<int>(count, 1));
    }
  }
}

TEST_CASE("thread_pool: rounds follow each other without losing a task") {
  ThreadPool pool(4);
  std::vector<unsigned> total(16, 0);
  for (unsigned round = 0; round < 2000; ++round) pool.run(16, [&](unsigned i) { total[i] += round; });
  REQUIRE(total == std::vector<unsigned>(16, 1999u * 2000u / 2));
}

TEST_CASE("thread_pool: tasks run at the same time on different threads") {
  ThreadPool pool(3);
  // Each task waits for the others: only three threads at once can finish them.
  std::atomic<int> arrived{0};
  pool.run(3, [&](unsigned) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  REQUIRE(arrived == 3);
}

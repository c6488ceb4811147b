#include "core/run/background_task.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/catch.h"

using foxhunt::run::BackgroundTask;

TEST_CASE("background_task: one piece of work at a time, in order, on another thread") {
  BackgroundTask task;
  std::atomic<int> running{0}, most{0}, done{0};
  std::atomic<bool> elsewhere{true};
  const auto here = std::this_thread::get_id();
  for (int i = 0; i < 50; ++i)
    task.start([&, i] {
      most = std::max(most.load(), ++running);
      elsewhere = elsewhere && std::this_thread::get_id() != here && done == i;
      ++done;
      --running;
    });
  task.wait();
  REQUIRE(done == 50);
  REQUIRE(most == 1);
  REQUIRE(elsewhere);
}

TEST_CASE("background_task: what the work throws comes out once, at the next call, and nothing is started then") {
  BackgroundTask task;
  bool ran = false;
  task.start([] { throw std::runtime_error("disk full"); });
  REQUIRE_THROWS_WITH(task.start([&] { ran = true; }), "disk full");
  task.wait();
  REQUIRE_FALSE(ran);
  task.start([] { throw std::runtime_error("again"); });
  REQUIRE_THROWS_WITH(task.wait(), "again");
  task.wait();
}

TEST_CASE("background_task: the end waits for the work") {
  std::atomic<bool> done{false};
  {
    BackgroundTask task;
    task.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
  }
  REQUIRE(done);
}

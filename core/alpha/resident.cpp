#include "core/alpha/resident.h"

namespace foxhunt::alpha {
namespace {
constexpr int no_limit = std::numeric_limits<int>::max();
}

Resident::Resident(LiveModel& model, std::chrono::nanoseconds idle) : model_(model), idle_(idle) { start(); }

Resident::~Resident() {
  try {
    leave();
  } catch (const std::exception&) {
    // The device failed: whoever uses it next is told.
  }
}

void Resident::start() {
  model_.left().store(0, std::memory_order_release);
  if (model_.device().is_gpu()) return model_.serve(no_limit, idle_);
  host_ = std::thread([this] {
    try {
      model_.serve(no_limit, idle_);
    } catch (...) {
      failure_ = std::current_exception();
      model_.left().store(1, std::memory_order_release);
    }
  });
}

void Resident::join() {
  if (host_.joinable()) host_.join();
  model_.device().synchronize();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Resident::stay() {
  if (!serving()) {
    join();
    start();
  }
  if (host_.joinable()) std::this_thread::yield();  // both sides may have one core
}

void Resident::leave() {
  model_.asked_to_leave().store(1, std::memory_order_release);
  join();
  model_.asked_to_leave().store(0, std::memory_order_relaxed);  // Graph A is the same kernel
}

}  // namespace foxhunt::alpha

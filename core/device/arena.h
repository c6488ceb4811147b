#pragma once
#include <string>
#include <vector>

#include "core/device/device.h"

namespace foxhunt {

/// Shapes first, then one allocation: every buffer is planned by name, the total is known and checked against the
/// device's free memory before anything is allocated, and nothing is allocated afterwards.
class Arena {
 public:
  explicit Arena(Device& device) : device_(device) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    if (base_) device_.release(base_);
  }

  /// Plans `count` elements; `span`, which must outlive `commit`, receives them.
  template <class T>
  void plan(const std::string& name, std::size_t count, DeviceSpan<T>& span) {
    add(name, count * sizeof(T), [&span, count](void* at) { span = {static_cast<T*>(at), count}; });
  }

  std::size_t bytes() const { return bytes_; }
  /// Allocates, zeroed. `limit` bytes (0: none) plays a smaller card. Throws Error(device) when it does not fit: what
  /// is needed, what is free, which buffers are largest.
  void commit(std::size_t limit = 0);
  /// One line: "needs 1.21 GiB; 3.6 GiB free".
  std::string budget(std::size_t limit = 0) const;

  struct Entry {
    std::string name;
    std::size_t offset, bytes;
    std::function<void(void*)> assign;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  /// The committed memory of one entry.
  DeviceSpan<std::byte> memory(const Entry& entry) const { return {base_ + entry.offset, entry.bytes}; }

 private:
  void add(const std::string& name, std::size_t bytes, std::function<void(void*)> assign);
  std::size_t available(std::size_t limit) const;

  Device& device_;
  std::vector<Entry> entries_;
  std::size_t bytes_ = 0;
  std::byte* base_ = nullptr;
};

}  // namespace foxhunt

#include "core/device/arena.h"

#include <fmt/format.h>

#include <algorithm>

namespace foxhunt {
namespace {

constexpr std::size_t alignment = 256;

std::string readable(std::size_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.1f} MiB", mib) : fmt::format("{:.2f} GiB", mib / 1024);
}

}  // namespace

void Arena::add(const std::string& name, std::size_t bytes, std::function<void(void*)> assign) {
  if (base_) throw Error(ExitCode::device, "arena: '" + name + "' planned after the memory was taken");
  entries_.push_back({name, bytes_, bytes, std::move(assign)});
  bytes_ += (bytes + alignment - 1) / alignment * alignment;
}

std::size_t Arena::available(std::size_t limit) const {
  const std::size_t free_bytes = device_.free_memory();
  return limit > 0 ? std::min(limit, free_bytes) : free_bytes;
}

std::string Arena::budget(std::size_t limit) const {
  return fmt::format("needs {}; {} free{}", readable(bytes_), readable(available(limit)),
                     limit > 0 ? " under device.memory_limit" : "");
}

void Arena::commit(std::size_t limit) {
  if (base_) throw Error(ExitCode::device, "arena: committed twice");
  if (bytes_ > available(limit)) {
    std::vector<const Entry*> largest;
    for (const Entry& entry : entries_) largest.push_back(&entry);
    std::sort(largest.begin(), largest.end(), [](const Entry* a, const Entry* b) { return a->bytes > b->bytes; });
    std::string parts;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, largest.size()); ++i)
      parts += fmt::format("{}{} {}", i ? ", " : "", largest[i]->name, readable(largest[i]->bytes));
    throw Error(ExitCode::device, fmt::format("memory: {} (largest: {}); lower training.buffer_size, gpu_n_episodes or "
                                              "batch_size, or choose another device",
                                              budget(limit), parts));
  }
  base_ = static_cast<std::byte*>(device_.allocate(bytes_));
  for (const Entry& entry : entries_) entry.assign(base_ + entry.offset);
}

}  // namespace foxhunt

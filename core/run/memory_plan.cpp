#include "core/run/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace foxhunt::run {
namespace {

std::string row(const std::string& name, std::size_t bytes, std::size_t total) {
  return fmt::format("  {:<28} {:>14} {:>6.1f}%\n", name, bytes,
                     100.0 * static_cast<double>(bytes) / static_cast<double>(std::max<std::size_t>(1, total)));
}

}  // namespace

std::string memory_plan_text(const std::vector<Arena::Entry>& entries, std::size_t total_bytes) {
  std::vector<std::pair<std::size_t, std::string>> largest;
  std::size_t listed = 0;
  for (const Arena::Entry& entry : entries)
    if (entry.bytes * 100 >= total_bytes) largest.emplace_back(entry.bytes, entry.name), listed += entry.bytes;
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = fmt::format("  {:<28} {:>14}   share\n", "buffer", "bytes");
  for (const auto& [bytes, name] : largest) text += row(name, bytes, total_bytes);
  text += row(fmt::format("{} smaller ones", entries.size() - largest.size()), total_bytes - listed, total_bytes);
  return text + row("total", total_bytes, total_bytes);
}

}  // namespace foxhunt::run

#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "core/market/feature_cache.h"
#include "core/market/mapped_file.h"

// The layout of a .fxcache file: a header, then small values, then columns, each at a multiple of 64 bytes.
namespace foxhunt::market {

/// The parts of a file that holds this market, which must outlive them.
class CacheFileParts {
 public:
  CacheFileParts(const Tape& tape, const FeatureTable& features, std::uint64_t key);
  std::span<const std::span<const std::byte>> parts() const { return parts_; }

 private:
  std::vector<std::byte> head_;  ///< header and small values
  std::vector<std::span<const std::byte>> parts_;
};

/// The market that a file holds, or why it is not to be used: "damaged: ...", "of another version", "of other data".
std::variant<PreparedMarket, std::string> parse_cache_file(const std::shared_ptr<const MappedFile>& file,
                                                           std::uint64_t key);

}  // namespace foxhunt::market

#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/market/dbn_metadata.h"

namespace foxhunt::market {

/// Appends fields of DBN to a string, little-endian, one after the other.
class DbnEncoder {
 public:
  template <class T>
  void number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  /// NUL-padded. Throws Error(data) for a text that leaves no room for a NUL.
  void text(const std::string& value, std::size_t size);
  void bytes(const void* from, std::size_t size) { out_.append(static_cast<const char*>(from), size); }
  void zeros(std::size_t count) { out_.append(count, '\0'); }
  void overwrite(std::size_t at, std::uint32_t value) { std::memcpy(out_.data() + at, &value, sizeof value); }

  /// What every record begins with; no publisher.
  void record_header(std::size_t size, std::uint8_t rtype, std::uint32_t instrument, std::int64_t ts_event);

  /// The head of a DBN v3 file. An entry of `mappings` belongs to the symbol of its name.
  void metadata(const DbnMetadata& metadata);

  void reserve(std::size_t size) { out_.reserve(size); }
  std::size_t size() const { return out_.size(); }
  const std::string& written() const { return out_; }
  void clear() { out_.clear(); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// Metadata of dataset "SYNTHETIC": every symbol, mapped to its id over the days on which that has rows. Row i is of
/// instruments[i] at ts[i], UTC ns.
DbnMetadata synthetic_metadata(std::uint16_t schema, const std::map<std::uint32_t, std::string>& symbols,
                               std::span<const std::uint32_t> instruments, std::span<const std::int64_t> ts);

}  // namespace foxhunt::market

#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/safetensors.h"

namespace foxhunt::run {

// The header of a safetensors file as text and as values. Part of safetensors.cpp; parsing stands apart from files so
// that it can be fuzzed.

struct TensorEntry {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin, end;  ///< bytes, from the start of the data
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;  ///< by offset; they fill the data without gap or overlap
  std::map<std::string, std::string> metadata;
};

/// Throws std::invalid_argument with the reason when `text` is no header of a file with `data_size` bytes of data.
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_size);

/// JSON that begins with `__metadata__`, not padded. Throws std::invalid_argument when a name is not UTF-8.
std::string safetensors_header_text(const SafetensorsHeader& header);

/// Bytes of a tensor. Throws std::invalid_argument for a negative dimension or a product beyond 64 bits.
std::uint64_t tensor_bytes(DType dtype, const std::vector<std::int64_t>& shape);

}  // namespace foxhunt::run

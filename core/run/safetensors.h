#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.h"

namespace foxhunt::run {

// The safetensors format (github.com/huggingface/safetensors): u64 header length, JSON header, data; little-endian.

enum class DType { f32, f64, i32, u32, i64, u8 };

/// "F32" and so on, as in the file.
std::string_view dtype_name(DType dtype);
std::size_t dtype_size(DType dtype);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return DType::u32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DType::i64;
  else {
    static_assert(std::is_same_v<T, std::uint8_t>, "not a dtype of these files");
    return DType::u8;
  }
}

/// A tensor whose data, row-major, lies elsewhere.
struct TensorView {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;  ///< product of shape times dtype_size bytes
};

template <class T>
TensorView tensor_view(std::string name, std::vector<std::int64_t> shape, std::span<const T> values) {
  return {std::move(name), dtype_of<T>(), std::move(shape), std::as_bytes(values)};
}

/// Writes the file atomically (storage.h), with a checksum over everything in it in metadata keys that begin with
/// "foxhunt." (a tool that rewrites the file leaves them out). Throws Error(storage), also when a name comes twice or a
/// shape does not fit its data.
void save_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata);

/// A file read whole into memory. Nothing in it is believed before it is checked: sizes against the file's, offsets
/// against each other and the shapes, and the checksum of a file written here.
class SafetensorsFile {
 public:
  /// Throws Error(storage) with the file and the reason.
  static SafetensorsFile load(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// In the order of their data in the file.
  std::vector<std::string> names() const;
  bool contains(std::string_view name) const;

  /// The view lives as long as this object. Throws Error(storage) when the file has no such tensor.
  const TensorView& tensor(std::string_view name) const;

  /// Copies a tensor of T with exactly `destination.size()` elements. Throws Error(storage) when it is missing, of
  /// another dtype or of another size.
  template <class T>
  void copy(std::string_view name, std::span<T> destination) const {
    copy_bytes(name, dtype_of<T>(), std::as_writable_bytes(destination));
  }
  /// The same for a dtype that is known at run time.
  void copy_bytes(std::string_view name, DType dtype, std::span<std::byte> destination) const;

 private:
  SafetensorsFile() = default;

  std::filesystem::path path_;
  std::unique_ptr<std::byte[]> data_;
  std::vector<TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace foxhunt::run

#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace foxhunt::market {

/// The bytes of a file, mapped for reading as long as this lives.
class MappedFile {
 public:
  /// Null when it cannot be opened or mapped, errno says why; an empty file maps to no bytes.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& file);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace foxhunt::market

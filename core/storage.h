#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>

#include "core/error.h"

namespace foxhunt {

/// Replaces the file at `path` by `parts`, one after the other: afterwards it is the old file or the new one, whole,
/// and still so after a power cut. They are written to `path`.tmp, synced and renamed. What a killed process left there
/// is overwritten; two writers of one file take turns. Throws Error(storage), and then no temporary file is left.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Returns when what was written to the file at `path`, by whomever, is on the disk. Throws Error(storage).
void sync_file(const std::filesystem::path& path);

/// Writes all of `bytes` to a file descriptor. Returns 0, or errno of the write that failed; `written`, when given, is
/// how many bytes went out before.
int write_fully(int descriptor, std::span<const std::byte> bytes, std::size_t* written = nullptr);

/// "cannot ACTION PATH: WHY (N bytes wanted, M free); what to do". `bytes_wanted` 0 leaves the sizes out.
Error storage_error(std::string_view action, const std::filesystem::path& path, int error_number,
                    std::uint64_t bytes_wanted = 0);

/// Owner of a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  explicit operator bool() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }
  /// Closes now. Returns 0 or errno: some file systems report a full disk only here.
  int close() noexcept;

 private:
  int release() noexcept;
  int number_;
};

}  // namespace foxhunt

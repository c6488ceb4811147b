#include "core/storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace foxhunt {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::string_view remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another folder";
    case EFBIG:
      return "raise the file size limit (ulimit -f) or choose another folder";
    case EROFS:
    case EACCES:
    case EPERM:
      return "choose a folder that you may write to";
    case ENOENT:
    case ENOTDIR:
      return "check the path; its folder must exist";
    case EISDIR:
    case EEXIST:
      return "move what is there or choose another name";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    default:
      return "check the disk";
  }
}

/// The temporary file, open and locked. The lock is on the file and not on its name, so whoever waited for it looks
/// again: the file may have been renamed meanwhile.
Descriptor open_temporary(const std::filesystem::path& path) {
  for (;;) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file) return file;
    while (::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {}
    struct stat opened, named;
    if (::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
        opened.st_dev == named.st_dev)
      return file;
  }
}

/// Returns 0 or errno. Some file systems cannot sync a folder and say EINVAL.
int sync_folder(const std::filesystem::path& folder) {
  Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return errno;
  return ::fsync(descriptor.get()) == 0 || errno == EINVAL ? 0 : errno;
}

/// Returns 0 or errno.
int write_and_sync(int descriptor, std::span<const std::span<const std::byte>> parts) {
  if (::ftruncate(descriptor, 0) != 0) return errno;
  for (const auto part : parts)
    if (const int error = write_fully(descriptor, part)) return error;
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

int Descriptor::release() noexcept { return std::exchange(number_, -1); }

int Descriptor::close() noexcept {
  const int number = release();
  return number < 0 || ::close(number) == 0 ? 0 : errno;
}

int write_fully(int descriptor, std::span<const std::byte> bytes, std::size_t* written) {
  std::size_t done = 0;
  int error = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      error = errno;
      break;
    }
  }
  if (written) *written = done;
  return error;
}

void sync_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) throw storage_error("sync", path, errno);
}

Error storage_error(std::string_view action, const std::filesystem::path& path, int error_number,
                    std::uint64_t bytes_wanted) {
  std::string sizes;
  if (bytes_wanted > 0) {
    std::error_code unknown;
    const auto space = std::filesystem::space(folder_of(path), unknown);
    sizes = unknown ? fmt::format(" ({} bytes wanted)", bytes_wanted)
                    : fmt::format(" ({} bytes wanted, {} free)", bytes_wanted, space.available);
  }
  return Error(ExitCode::storage,
               fmt::format("cannot {} {}: {}{}; {}", action, path.string(),
                           std::generic_category().message(error_number), sizes, remedy(error_number)));
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts) {
  std::uint64_t wanted = 0;
  for (const auto part : parts) wanted += part.size();

  // A rename would put a plain file in the place of a device or a pipe.
  struct stat existing;
  if (::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode))
    throw Error(ExitCode::storage,
                fmt::format("cannot write {}: it exists and is not a plain file; choose another name", path.string()));

  const std::filesystem::path temporary = path.string() + ".tmp";
  Descriptor file = open_temporary(temporary);
  if (!file) throw storage_error("create", temporary, errno, wanted);

  std::string_view action = "write";
  int error = write_and_sync(file.get(), parts);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno, action = "rename the new file to";
  if (error != 0) {
    // While the lock is still held: the next writer's file is not ours to remove.
    ::unlink(temporary.c_str());
    file.close();  // gives its bytes back, so that the message counts them as free
    throw storage_error(action, path, error, wanted);
  }
  if (const int late = file.close()) throw storage_error("close", path, late, wanted);
  if (const int late = sync_folder(folder_of(path))) throw storage_error("sync the folder of", path, late, wanted);
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_file_atomically(path, std::span<const std::span<const std::byte>>(&bytes, 1));
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

}  // namespace foxhunt

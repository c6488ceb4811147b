#include "core/market/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/storage.h"

namespace foxhunt::market {

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) return nullptr;
  if (!S_ISREG(status.st_mode)) return errno = EINVAL, nullptr;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile({}));
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor.get(), 0);
  if (address == MAP_FAILED) return nullptr;
  ::madvise(address, size, MADV_SEQUENTIAL);  // only ever makes it faster
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const std::byte*>(address), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace foxhunt::market

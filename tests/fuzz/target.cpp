#include "tests/fuzz/target.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <span>
#include <system_error>

#include "core/error.h"
#include "core/storage.h"

// Of the address sanitizer's runtime; null in a build without it. The thread sanitizer has the hooks too, but its sum
// does not hold yet what a hook hears of.
extern "C" {
__attribute__((weak)) int __asan_address_is_poisoned(void const volatile*);
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                                    void (*)(const volatile void*));
__attribute__((weak)) std::size_t __sanitizer_get_current_allocated_bytes();
}

namespace foxhunt::fuzz {
namespace {

std::atomic<std::size_t> peak;

/// Asking for the sum, which holds this allocation already, costs more than a small one: those are looked at now and
/// then.
void after_malloc(const volatile void*, std::size_t size) {
  constexpr std::size_t large = 4096;
  thread_local unsigned small = 0;
  if (size < large && ++small % 64 != 0) return;
  peak = std::max(peak.load(), __sanitizer_get_current_allocated_bytes());
}
void before_free(const volatile void*) {}

void check_message(const std::string& message) {
  const bool one_line = std::none_of(message.begin(), message.end(),
                                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  constexpr std::size_t longest = 4096;
  require(!message.empty() && message.size() <= longest, "an error's message is empty or longer than 4096 bytes");
  if (!one_line) throw Finding("an error's message is not one printable line: " + printable(message));
}

bool passes(const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    check_message(error.what());
  } catch (const Finding&) {
    throw;
  } catch (const std::exception& error) {
    throw Finding(fmt::format("an exception that is no foxhunt::Error: {}", error.what()));
  }
  return false;
}

}  // namespace

MemoryFile::MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  if (const int error = write_fully(descriptor_, std::as_bytes(std::span(bytes))))
    throw std::system_error(error, std::generic_category(), "write");
}
MemoryFile::~MemoryFile() { ::close(descriptor_); }
std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

bool counts_memory() {
  static const bool installed = __asan_address_is_poisoned && __sanitizer_install_malloc_and_free_hooks &&
                                __sanitizer_get_current_allocated_bytes &&
                                __sanitizer_install_malloc_and_free_hooks(after_malloc, before_free) > 0;
  return installed;
}

bool attempt(const MemoryLimit& limit, const std::function<void()>& read) {
  if (!counts_memory()) return passes(read);
  const std::size_t before = __sanitizer_get_current_allocated_bytes();
  peak = before;
  const bool passed = passes(read);
  const std::size_t held = peak - before, most = limit.bytes * limit.bytes_times + limit.fixed;
  if (held > most)
    throw Finding(
        fmt::format("{} bytes of memory for {} bytes of input, at most {} are allowed", held, limit.bytes, most));
  return passed;
}

void require(bool holds, const char* what) {
  if (!holds) throw Finding(what);
}

}  // namespace foxhunt::fuzz

#pragma once
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// What the fuzz targets share: each feeds one parser with bytes that mean harm. A target is a plain function, so that
// libFuzzer calls it (driver.cpp) and so does the ordinary suite, with the seeds and what was found before
// (fuzz_test.cpp).
namespace foxhunt::fuzz {

/// What a parser must not do: accept what cannot be, an exception but foxhunt::Error, too much memory.
struct Finding : std::logic_error {
  using std::logic_error::logic_error;
};

// Each throws Finding. What the input is, its file says.
void fuzz_csv(std::string_view input);
void fuzz_dbn(std::string_view input);
void fuzz_fxcache(std::string_view input);
void fuzz_profile(std::string_view input);
void fuzz_safetensors(std::string_view input);

/// Whether a cache file is taken once its header is made right.
bool fxcache_is_taken(std::string_view input);

/// Small valid inputs of a target, from which a fuzzer starts.
std::vector<std::string> seeds(std::string_view target);

/// A file in memory that holds these bytes as long as it lives; read by its path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();
  std::string path() const;

 private:
  int descriptor_;
};

/// Most memory that reading may hold at a time: `bytes_times` * `bytes`, and `fixed` for buffers and tables.
struct MemoryLimit {
  std::size_t bytes;
  std::size_t bytes_times = 64;
  std::size_t fixed = std::size_t{4} << 20;
};

/// Calls `read` and says whether it came through. Where it throws Error, that must be one printable line. Throws
/// Finding for any other exception, and for a peak of allocated memory beyond the limit (measured where a sanitizer
/// counts).
bool attempt(const MemoryLimit& limit, const std::function<void()>& read);

/// Throws Finding that says `what`, unless it holds.
void require(bool holds, const char* what);

/// Whether attempt() measures memory here.
bool counts_memory();

}  // namespace foxhunt::fuzz

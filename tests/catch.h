#pragma once
// Catch2 2.13 (Debian 12) and 3.x name their headers differently; nothing else here depends on the version.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace foxhunt::test {

/// Seed of a random test, printed so that a failure can be repeated with FOXHUNT_TEST_SEED.
inline unsigned long long seed() {
  static const unsigned long long value = [] {
    const char* text = std::getenv("FOXHUNT_TEST_SEED");
    const unsigned long long chosen = text ? std::strtoull(text, nullptr, 10) : 20261130ULL;
    std::cout << "seed " << chosen << "\n";
    return chosen;
  }();
  return value;
}

/// CTest counts a case that prints this as skipped; return from the case after calling it.
inline void skip(const std::string& why) { std::cout << "SKIPPED: " << why << "\n"; }

/// Folder of this source tree, for test_data/ and profiles/.
inline std::filesystem::path source_dir() { return FOXHUNT_SOURCE_DIR; }

/// A folder of its own for one test, removed afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "foxhunt-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace foxhunt::test

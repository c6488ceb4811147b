// The fuzz targets without a fuzzer: their seeds, and every input that was found to do harm before.
#include "tests/fuzz/target.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "core/error.h"
#include "core/market/cache_file.h"
#include "tests/catch.h"

namespace foxhunt::fuzz {
namespace {

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};
constexpr Target targets[] = {{"csv", fuzz_csv},
                              {"dbn", fuzz_dbn},
                              {"fxcache", fuzz_fxcache},
                              {"profile", fuzz_profile},
                              {"safetensors", fuzz_safetensors}};

}  // namespace

TEST_CASE("fuzz: every target takes its seeds") {
  for (const Target& target : targets) {
    const auto inputs = seeds(target.name);
    REQUIRE(inputs.size() > 1);
    for (std::size_t number = 0; number < inputs.size(); ++number) {
      INFO(target.name << ": seed " << number);
      REQUIRE_NOTHROW(target.run(inputs[number]));
    }
  }
}

TEST_CASE("fuzz: seeds cut anywhere do no harm") {
  for (const Target& target : targets)
    for (const std::string& seed : seeds(target.name))
      for (std::size_t size = 0; size < seed.size(); size += 1 + seed.size() / 61) {
        INFO(target.name << ": " << size << " of " << seed.size() << " bytes");
        REQUIRE_NOTHROW(target.run(seed.substr(0, size)));
      }
}

TEST_CASE("fuzz: what was found once is not found again") {
  const auto folder = test::source_dir() / "tests/fuzz/regressions";
  std::size_t files = 0;
  for (const Target& target : targets) {
    if (!std::filesystem::is_directory(folder / target.name)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder / target.name)) {
      INFO(entry.path().string());
      std::ifstream in(entry.path(), std::ios::binary);
      REQUIRE_NOTHROW(target.run(std::string(std::istreambuf_iterator<char>(in), {})));
      ++files;
    }
  }
  REQUIRE(files > 0);
}

TEST_CASE("fuzz: a target that does harm is noticed") {
  REQUIRE(attempt({0}, [] {}));
  REQUIRE_FALSE(attempt({0}, [] { throw Error(ExitCode::data, "bars.csv: line 1: bad"); }));
  REQUIRE_THROWS_AS(attempt({0}, [] { throw Error(ExitCode::data, "two\nlines"); }), Finding);
  REQUIRE_THROWS_AS(attempt({0}, [] { throw Error(ExitCode::data, ""); }), Finding);
  REQUIRE_THROWS_AS(attempt({0}, [] { throw std::bad_alloc(); }), Finding);
  REQUIRE_THROWS_AS(attempt({0}, [] { require(false, "no"); }), Finding);
}

TEST_CASE("fuzz: memory beyond the limit is noticed where it is counted") {
  if (!counts_memory()) return test::skip("this build has no address sanitizer");
  constexpr std::size_t fixed = MemoryLimit{0}.fixed;
  const auto hold = [](std::size_t size) { return [=] { std::make_unique<char[]>(size)[size / 2] = 1; }; };
  REQUIRE(attempt({1000}, hold(fixed)));
  REQUIRE_THROWS_AS(attempt({1000}, hold(fixed + 64'001)), Finding);
}

TEST_CASE("fuzz: a cache whose columns would not be aligned is refused") {
  for (std::string seed : seeds("fxcache")) {
    constexpr std::size_t header_size = 64;
    std::uint32_t small_size = 0;  // at byte 12, padded to 64 bytes: one more
    std::memcpy(&small_size, seed.data() + 12, sizeof small_size);
    seed.insert(header_size + small_size, 1, '\0');
    ++small_size;
    std::memcpy(seed.data() + 12, &small_size, sizeof small_size);
    REQUIRE_FALSE(fxcache_is_taken(seed));
  }
}

TEST_CASE("fuzz: a repaired cache gets past its checksums") {
  for (std::string seed : seeds("fxcache")) {
    seed[40] ^= 1;  // the sum of the columns
    REQUIRE(fxcache_is_taken(seed));
    seed[seed.size() - 1] ^= 1;
    REQUIRE(fxcache_is_taken(seed));
  }
}

}  // namespace foxhunt::fuzz

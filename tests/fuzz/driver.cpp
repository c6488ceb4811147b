// libFuzzer's entry for the target that this file is compiled for, FOXHUNT_FUZZ_TARGET. What it throws is a crash.
#include <cstdint>
#include <string_view>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  foxhunt::fuzz::FOXHUNT_FUZZ_TARGET(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

#include "core/device/arena.h"
#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// Code and message of the refusal to open `name`.
std::pair<ExitCode, std::string> refusal(const std::string& name) {
  try {
    open_device(name);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::ok, ""};
}

}  // namespace

TEST_CASE("device: auto and host open, and say what was taken") {
  const auto host = open_device("host", {3, true});
  REQUIRE(!host->is_gpu());
  REQUIRE(host->description() == "host, 3 threads");
  REQUIRE(open_device("host", {1, true})->description() == "host, 1 thread");
  const auto chosen = open_device("auto");
  REQUIRE(chosen->is_gpu() == (present_devices().size() > 1));
  // Taking the host where a GPU was not to be had comes with the reason.
  if (!chosen->is_gpu()) REQUIRE(chosen->description().find(" (") != std::string::npos);
}

TEST_CASE("device: a host block size that this build cannot run is refused") {
  try {
    open_device("host", {.block_threads = 96});
    FAIL("opened");
  } catch (const Error& error) {
    REQUIRE(error.code() == ExitCode::usage);
    REQUIRE(std::string(error.what()) == "host: blocks of 96 threads; this build runs 1 only");
  }
}

TEST_CASE("device: the host is always present and first") {
  const std::vector<std::string> names = present_devices();
  REQUIRE(names[0] == "host");
  for (std::size_t i = 1; i < names.size(); ++i) REQUIRE(names[i] == "cuda:" + std::to_string(i - 1));
}

TEST_CASE("device: a GPU that is not there is an error that names it") {
  const auto [code, message] = refusal("cuda:99");
  REQUIRE(code == ExitCode::device);
  REQUIRE(message.find("cuda:99") != std::string::npos);
  REQUIRE(message.find("--device auto") != std::string::npos);
}

TEST_CASE("device: a word that names no device is a usage error") {
  for (const std::string name :
       {"gpu", "", "cuda", "cuda:", "cuda:-1", "cuda:1x", "cuda: 0", "Host", "cuda:99999999999"}) {
    const auto [code, message] = refusal(name);
    CAPTURE(name, message);
    REQUIRE(code == ExitCode::usage);
    REQUIRE(message.find("'" + name + "'") != std::string::npos);
    REQUIRE(message.find("cuda:N") != std::string::npos);
  }
}

TEST_CASE("gpu_profile: description and free memory of every device are sane") {
  ON_EVERY_DEVICE(device);
  REQUIRE(device.description().starts_with(on_device.name + ", "));
  REQUIRE(device.description().find('\n') == std::string::npos);
  REQUIRE(device.is_gpu() == on_device.name.starts_with("cuda:"));
  REQUIRE(device.free_memory() > (std::size_t{16} << 20));
  REQUIRE(device.free_memory() < (std::size_t{1} << 45));
  if (device.is_gpu()) REQUIRE(device.description().find("sm_") != std::string::npos);
}

TEST_CASE("gpu_profile: a trainer's arena of known size fits, or is refused under a laptop card's limit") {
  ON_EVERY_DEVICE(device);
  constexpr std::size_t size = 8u << 20, limit = 4u << 20;
  for (const bool limited : {false, true}) {
    Arena arena(device);
    DeviceSpan<std::uint8_t> memory;
    arena.plan("replay", size, memory);
    if (limited) {
      REQUIRE(device_error([&] {
                arena.commit(limit);
              }).find("needs 8.0 MiB; 4.0 MiB free under device.memory_limit") != std::string::npos);
    } else {
      arena.commit(2 * size);
      REQUIRE(memory.bytes() == size);
    }
  }
}

TEST_CASE("gpu_profile: allocation takes from the free memory and gives it back") {
  ON_EVERY_DEVICE(device);
  if (!device.is_gpu()) return;  // the host's free memory moves with everything else on the machine
  constexpr std::size_t size = std::size_t{256} << 20;
  const std::size_t before = device.free_memory();
  void* memory = device.allocate(size);
  REQUIRE(device.free_memory() + size <= before + (std::size_t{8} << 20));
  device.release(memory);
  REQUIRE(device.free_memory() + (std::size_t{64} << 20) >= before);
}

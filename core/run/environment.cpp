#include "core/run/environment.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/checksum.h"
#include "core/storage.h"

namespace foxhunt::run {
namespace {

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "unknown";
}

/// Fewer than the machine has inside a container or under taskset.
int usable_cores() {
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed)
                                                               : static_cast<int>(std::thread::hardware_concurrency());
}

/// Of the program file itself: another build may end with other bits.
std::string program_sum() {
  const Descriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  std::vector<std::byte> piece(1 << 20);
  std::uint64_t sum = 0;
  for (ssize_t count; file && (count = ::read(file.get(), piece.data(), piece.size())) > 0;)
    sum = xxh64(std::span(piece).first(static_cast<std::size_t>(count)), sum);
  return fmt::format("{:016x}", sum);
}

}  // namespace

nlohmann::ordered_json describe_environment() {
  utsname system = {};
  ::uname(&system);
  std::error_code unknown;
  nlohmann::ordered_json report;
  report["started"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  report["hostname"] = system.nodename;
  report["kernel"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  report["cpu"] = cpu_model();
  report["cores"] = usable_cores();
  report["memory_bytes"] =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGE_SIZE));
  report["version"] = FOXHUNT_VERSION;
  report["program_xxh64"] = program_sum();
  report["compiler"] = "GCC " __VERSION__;
  report["build_type"] = FOXHUNT_BUILD_TYPE;
  report["folder"] = std::filesystem::current_path(unknown).string();
  report["process"] = ::getpid();
  return report;
}

}  // namespace foxhunt::run

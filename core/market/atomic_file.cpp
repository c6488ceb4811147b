#include "core/market/atomic_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"

namespace foxhunt::market {

void write_file(const std::filesystem::path& file, std::string_view bytes) {
  const std::filesystem::path temporary = fmt::format("{}.{}.tmp", file.string(), getpid());
  const auto fail = [&](const std::string& what) {
    const std::string why = std::strerror(errno);
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw Error(ExitCode::storage,
                fmt::format("{}: {}: {}; check the folder and the space left", file.string(), what, why));
  };
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) fail("cannot be created");
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) fail("cannot be written");
  std::error_code error;
  std::filesystem::rename(temporary, file, error);
  if (error) errno = error.value(), fail("cannot be replaced");
}

}  // namespace foxhunt::market

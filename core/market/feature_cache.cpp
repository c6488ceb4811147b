#include "core/market/feature_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include "core/checksum.h"
#include "core/error.h"
#include "core/market/cache_file.h"
#include "core/storage.h"

namespace foxhunt::market {
namespace {

using Path = std::filesystem::path;

std::uint64_t sum_of(const std::string& text, std::uint64_t seed) {
  return xxh64(std::as_bytes(std::span(text)), seed);
}

/// Nothing when a file cannot be read.
std::optional<std::uint64_t> sum_of_file(const Path& path, std::uint64_t seed) {
  const auto file = MappedFile::open(path);
  return file ? std::optional(xxh64(file->bytes(), seed)) : std::nullopt;
}

/// Another build may compute other features.
std::uint64_t program_sum() {
  static const std::uint64_t sum = sum_of_file("/proc/self/exe", 0).value_or(0);
  return sum;
}

/// "ESZ3_1min" of data/ESZ3_1min.csv.gz, in letters that any file system takes.
std::string short_name(const Path& source) {
  std::string name = source.filename().empty() ? source.parent_path().filename().string() : source.filename().string();
  name = name.substr(0, std::min<std::size_t>(name.find('.', 1), 40));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  return name;
}

}  // namespace

std::vector<FeatureCache::Input> FeatureCache::inputs_of(const Path& source) {
  std::vector<Input> inputs;
  const auto add = [&](const Path& path) {
    struct stat status;
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
      inputs.push_back({path, static_cast<std::uint64_t>(status.st_size),
                        std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec});
  };
  std::error_code error;
  if (!std::filesystem::is_directory(source, error)) {
    add(source);
  } else {
    for (auto entry = std::filesystem::directory_iterator(source, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      add(entry->path());
  }
  std::sort(inputs.begin(), inputs.end(), [](const Input& a, const Input& b) { return a.path < b.path; });
  return inputs;
}

FeatureCache::FeatureCache(Path folder, const Path& source, const std::string& settings)
    : folder_(std::move(folder)), source_(source) {
  if (folder_.empty()) return;
  inputs_ = inputs_of(source);
  readable_ = !inputs_.empty();
  key_ = sum_of(settings, program_sum());
  for (const Input& input : inputs_) {
    const auto sum = sum_of_file(input.path, sum_of(input.path.filename().string(), key_));
    readable_ = readable_ && sum;
    key_ = sum.value_or(0);
  }
  std::error_code ignored;
  const std::string name = std::filesystem::absolute(source, ignored).lexically_normal().string();
  file_ = folder_ / fmt::format("{}-{:016x}.fxcache", short_name(source), sum_of(settings, sum_of(name, 0)));
}

std::optional<PreparedMarket> FeatureCache::read() {
  if (!readable_) return std::nullopt;
  const auto file = MappedFile::open(file_);
  if (!file) {
    if (errno != ENOENT)
      problem_ = fmt::format("cache {} cannot be read ({}), so the market is prepared anew", file_.string(),
                             std::strerror(errno));
    return std::nullopt;
  }
  auto parsed = parse_cache_file(file, key_);
  if (const auto* why = std::get_if<std::string>(&parsed)) {
    problem_ = fmt::format("cache {} is not used ({}), so the market is prepared anew", file_.string(), *why);
    return std::nullopt;
  }
  ::utimensat(AT_FDCWD, file_.c_str(), nullptr, 0);  // used just now: the last to go when room is needed
  return std::move(std::get<PreparedMarket>(parsed));
}

void FeatureCache::write(const Tape& tape, const FeatureTable& features) {
  if (!readable_ || tape.rows() < least_rows || inputs_of(source_) != inputs_) return;
  try {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw storage_error("create", folder_, error.value());
    write_file_atomically(file_, CacheFileParts(tape, features, key_).parts());
    make_room();
  } catch (const Error& error) {
    problem_ =
        fmt::format("cache not written, the next start will be as slow as this one: {} (data.cache)", error.what());
  }
}

void FeatureCache::make_room() const {
  struct Kept {
    std::filesystem::file_time_type used;
    std::uintmax_t size;
    Path path;
  };
  std::vector<Kept> files;
  std::error_code error, gone;
  std::uintmax_t total = 0;
  for (auto entry = std::filesystem::directory_iterator(folder_, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() != ".fxcache" || entry->path() == file_) continue;
    const Kept kept{entry->last_write_time(gone), entry->file_size(gone), entry->path()};
    if (!gone) files.push_back(kept), total += kept.size;
  }
  std::sort(files.begin(), files.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& kept : files) {
    if (total <= most_bytes) return;
    if (std::filesystem::remove(kept.path, gone)) total -= kept.size;
  }
}

Path cache_folder(const std::string& setting) {
  if (setting.empty() || setting == "off") return {};
  if (setting != "auto") return setting;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value == '/' ? Path(value) : Path();  // the XDG specification ignores relative ones
  };
  if (const Path cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "foxhunt";
  const Path home = variable("HOME");
  return home.empty() ? Path() : home / ".cache" / "foxhunt";
}

}  // namespace foxhunt::market

#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/market/features.h"
#include "core/market/tape.h"

namespace foxhunt::market {

/// What reading a market file and computing its features comes to. The rows of tape.bars are no part of it: features
/// are what they are for, and they are as large as all else but the features.
struct PreparedMarket {
  Tape tape;
  FeatureTable features;
};

/// Keeps prepared markets in a folder, so that a run that reads what another one has read starts at once. One file for
/// each source and settings (NAME-HASH.fxcache); it holds a key over the bytes of the source, the settings and the
/// program itself, and a checksum over all. What does not fit is made again, never trusted.
///
/// Nothing here throws for a fault of the cache: training goes on without it, and problem() says why in one line.
/// The feature table stays in the mapped file. Files are only ever replaced as a whole, so that a mapped one does not
/// change; nobody else may write into one.
class FeatureCache {
 public:
  /// Markets of fewer rows are not kept: a fifth of a second makes them again.
  static constexpr std::size_t least_rows = 100'000;
  /// The folder is kept below this by removing the files that were not used for longest.
  static constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 30;

  /// Reads all of `source`, a file or a folder of files, for its key. `settings` is all that rows and features depend
  /// on besides. An empty folder keeps nothing.
  FeatureCache(std::filesystem::path folder, const std::filesystem::path& source, const std::string& settings);

  /// Nothing when there is none that fits.
  std::optional<PreparedMarket> read();

  /// Unless it has too few rows, or the source changed since the key was made. Two processes take turns; a reader sees
  /// the old file or the new one.
  void write(const Tape& tape, const FeatureTable& features);

  /// Why a file was not used or not written; "" when all went well. A file that is not there is no problem.
  const std::string& problem() const { return problem_; }
  const std::filesystem::path& file() const { return file_; }

 private:
  /// What tells that an input file was changed meanwhile.
  struct Input {
    std::filesystem::path path;
    std::uint64_t size;
    std::int64_t modified;  ///< ns
    bool operator==(const Input&) const = default;
  };
  static std::vector<Input> inputs_of(const std::filesystem::path& source);
  void make_room() const;

  std::filesystem::path folder_, source_, file_;
  std::vector<Input> inputs_;
  bool readable_ = false;  ///< there is a folder, and every input gave its part of the key
  std::uint64_t key_ = 0;
  std::string problem_;
};

/// The folder that data.cache names: "auto" is $XDG_CACHE_HOME/foxhunt, else ~/.cache/foxhunt, else none; "off" is
/// none.
std::filesystem::path cache_folder(const std::string& setting);

}  // namespace foxhunt::market

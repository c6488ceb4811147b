#pragma once
#include <array>
#include <map>
#include <span>
#include <string>

#include "core/error.h"
#include "core/market/dbn_stream.h"
#include "core/market/dbn_symbols.h"
#include "core/market/reader.h"

namespace foxhunt::market {

/// What every reader of a DBN file does besides taking its own records: names instruments, counts the other records,
/// reports progress, and deals with a damaged end as ReadOptions::on_damage says.
class DbnRecords {
 public:
  /// `names` is added to. Throws Error(data); see DbnStream.
  DbnRecords(const std::filesystem::path& file, const ReadOptions& options, SymbolNames& names);

  DbnStream& stream() { return stream_; }
  const DbnMetadata& metadata() const { return stream_.metadata(); }

  /// Calls take(record) for every record; one for which it says false is counted as another.
  template <class Take>
  void for_each(Take&& take) {
    try {
      stream_.for_each([&](const DbnRecord& record) {
        if (!take(record)) note(record);
        ++walked_, walked_to_ = record.offset + record.size;
      });
    } catch (const Error& error) {
      end_at_damage(error);
    }
  }

  /// Throws Error(data) when a record has not the `size` that its type and the stream give it.
  void check_size(const DbnRecord& record, std::size_t size) const {
    if (record.size != size + send_time_size_) fail_size(record, size + send_time_size_);
  }

  /// Adds the other records to a table's rejects: those of an unknown type as such, the rest under `reason`. Adds a
  /// line about the damage that was met to its notes.
  template <class Table>
  void report_to(Table& table, const std::string& reason) const {
    for (std::size_t type = 0; type < others_.size(); ++type)
      if (others_[type]) table.rejects[is_known(type) ? reason : "unknown record type"] += others_[type];
    if (!damage_.empty()) table.notes.push_back(damage_);
  }

  /// Throws Error(data) for a file that holds none of what was asked for: names what it holds instead.
  /// `rejects` are the rows of the right kind that were left out; `wanted` ends the line, with the remedy.
  [[noreturn]] void fail_without(const std::string& what, std::map<std::string, std::int64_t> rejects,
                                 const std::string& wanted) const;

 private:
  static bool is_known(std::size_t rtype) { return !dbn::record_name(static_cast<std::uint8_t>(rtype)).empty(); }
  void note(const DbnRecord& record);
  void end_at_damage(const Error& error);
  [[noreturn]] void fail_size(const DbnRecord& record, std::size_t expected) const;

  DbnStream stream_;
  ReadOptions options_;
  SymbolNames& names_;
  std::size_t send_time_size_;
  std::int64_t walked_ = 0;
  std::uint64_t walked_to_;                 ///< byte of the (decompressed) stream
  std::array<std::int64_t, 256> others_{};  ///< by rtype
  std::string damage_;                      ///< what it was, what was kept and lost
};

/// The options for files[at] of several, whose progress counts for all. Refers to `options`.
ReadOptions part_options(const ReadOptions& options, std::span<const std::filesystem::path> files, std::size_t at);

/// What a Books or Bars made of these files is called: the file, or the folder of several.
std::string source_name(std::span<const std::filesystem::path> files);

/// "3 of this, 2 of that"; "no record at all" of none.
std::string list_counts(const std::map<std::string, std::int64_t>& counts);

}  // namespace foxhunt::market

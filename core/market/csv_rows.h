#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/market/reader.h"
#include "core/market/text_source.h"

namespace foxhunt::market {

/// The rows of a CSV file, split into fields: blanks and double quotes around a field are gone, blank lines and those
/// that start with # passed over. A separator inside quotes is part of its field; a line's end is not.
class CsvRows {
 public:
  /// `options` must outlive it. Throws Error(data) like TextSource.
  CsvRows(const std::filesystem::path& file, const ReadOptions& options);

  /// Goes to the next row; false at the end. After expect_fields, a row that has another number of fields throws
  /// Error(data); so does compressed data that is damaged, or cut short and not to be kept up to there.
  bool next();

  /// Fields of the row, valid until the next one.
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::string_view field(int column) const { return fields_[static_cast<std::size_t>(column)]; }
  char separator() const { return separator_; }

  /// Every row from here on has so many fields (an empty one too many at the end is let pass).
  void expect_fields(std::size_t count) { expected_ = count; }

  /// Whether what is wrong with this row may be put down to a file that is cut short, of which the start is to be kept.
  bool may_be_cut() const { return options_.on_damage == DamagePolicy::keep_start && !line_ended_; }
  /// Leaves out this row, the last one, as cut short.
  void drop_cut_row();
  /// What was lost to damage: "FILE: cut short in line 7; lost its 23 bytes". "" for nothing.
  const std::string& damage() const { return damage_; }

  std::string name() const { return source_.name(); }
  std::uint64_t file_size() const { return source_.file_size(); }
  bool compressed() const { return source_.compressed(); }
  /// Throws Error(data): "FILE: line N: WHAT".
  [[noreturn]] void fail(const std::string& what) const;

 private:
  bool next_line();
  bool take(std::string_view content, std::size_t size);
  bool refill();
  void check_fields() const;
  char separator_of_line() const;

  const ReadOptions& options_;
  TextSource source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;  ///< the bytes of buffer_ still to be walked
  std::string_view line_;
  std::int64_t number_ = 0;
  bool line_ended_ = true;  ///< by a line feed, not by the end of the file
  char separator_ = 0;
  std::size_t expected_ = 0;  ///< 0: any
  std::vector<std::string_view> fields_;
  std::string damage_;
};

/// Splits a line at `separator`, as CsvRows does.
void split_csv_line(std::string_view line, char separator, std::vector<std::string_view>& fields);

/// A field as an error shows it: in quotes, short, and printable whatever the file holds.
std::string quoted_field(std::string_view field);

}  // namespace foxhunt::market

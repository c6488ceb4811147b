#include "core/market/writer.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/market/csv_book_writer.h"
#include "core/market/csv_writer.h"
#include "core/market/dbn_book_writer.h"
#include "core/market/dbn_writer.h"

namespace foxhunt::market {
namespace {

enum class Format { dbn, csv };

Format format_of(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  if (name.ends_with(".dbn") || name.ends_with(".dbn.zst")) return Format::dbn;
  if (name.ends_with(".csv")) return Format::csv;
  throw Error(ExitCode::usage,
              fmt::format("'{}' names no market format; end it in .dbn, .dbn.zst or .csv", file.string()));
}

}  // namespace

void check_market_file_name(const std::filesystem::path& file) { format_of(file); }

void write_bars(const Bars& bars, const std::filesystem::path& file) {
  format_of(file) == Format::dbn ? write_dbn(bars, file) : write_csv(bars, file);
}

void write_books(const Books& books, const std::filesystem::path& file) {
  format_of(file) == Format::dbn ? write_dbn_books(books, file) : write_csv_books(books, file);
}

}  // namespace foxhunt::market

#include "core/market/csv_book_writer.h"

#include <fmt/format.h>

#include <iterator>

#include "core/error.h"
#include "core/market/book_trade.h"
#include "core/market/civil_time.h"
#include "core/market/decimal.h"
#include "core/storage.h"

namespace foxhunt::market {
namespace {

void append_field(std::string& text, std::int64_t price) {
  if (price != no_price) append_price(text, price);
  text += ',';
}

void append_field(std::string& text, std::uint32_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size()) += ',';
}

std::string header(int levels) {
  std::string text = "ts_recv,ts_event,instrument_id,action,side,price,size,";
  for (int l = 0; l < levels; ++l)
    fmt::format_to(std::back_inserter(text),
                   "bid_px_{0:02},ask_px_{0:02},bid_sz_{0:02},ask_sz_{0:02},bid_ct_{0:02},ask_ct_{0:02},", l);
  return text + "symbol\n";
}

void append_row(std::string& text, const Books& books, std::size_t i) {
  const BookTrade trade = trade_of(books, i);
  text.append(format_utc(books.ts_recv[i])).append("Z,").append(format_utc(books.ts_event[i])).append("Z,");
  append_field(text, books.instrument[i]);
  (text += trade.action) += ',';
  (text += trade.side) += ',';
  append_field(text, trade.price), append_field(text, trade.size);
  for (const BookLevel *level = books.row(i), *end = level + books.levels; level != end; ++level) {
    append_field(text, level->bid), append_field(text, level->ask);
    append_field(text, level->bid_size), append_field(text, level->ask_size);
    append_field(text, level->bid_count), append_field(text, level->ask_count);
  }
  const auto name = books.symbols.find(books.instrument[i]);
  if (name != books.symbols.end()) text += name->second;
  text += '\n';
}

}  // namespace

std::string encode_csv_books(const Books& books) {
  if (books.rows() == 0) throw Error(ExitCode::data, "no book to write");
  std::string text = header(books.levels);
  for (std::size_t i = 0; i < books.rows(); ++i) append_row(text, books, i);
  return text;
}

void write_csv_books(const Books& books, const std::filesystem::path& file) {
  write_file_atomically(file, encode_csv_books(books));
}

}  // namespace foxhunt::market

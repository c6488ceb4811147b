#include "core/market/dbn_book_writer.h"

#include <algorithm>

#include "core/error.h"
#include "core/market/book_trade.h"
#include "core/market/dbn_encoder.h"
#include "core/market/dbn_format.h"
#include "core/market/zstd_frame.h"
#include "core/storage.h"

namespace foxhunt::market {
namespace {

constexpr int compression_level = 3;  // large files: higher levels take minutes
constexpr std::size_t rows_at_once = 16'384;

class BookEncoder {
 public:
  explicit BookEncoder(const Books& books) : books_(books), levels_(static_cast<std::size_t>(books.levels)) {
    if (books.rows() == 0) throw Error(ExitCode::data, "no book to write");
    DbnMetadata metadata =
        synthetic_metadata(levels_ == 1 ? dbn::schema::mbp1 : dbn::schema::mbp10, books.symbols,
                           {books.instrument.data(), books.rows()}, {books.ts_recv.data(), books.rows()});
    metadata.start = static_cast<std::uint64_t>(books.ts_recv.front());
    metadata.end = static_cast<std::uint64_t>(books.ts_recv.back() + 1);
    out_.metadata(metadata);
    size_ = out_.size() + books.rows() * record_size();
  }

  std::size_t size() const { return size_; }  ///< of the whole file
  DbnEncoder& out() { return out_; }

  /// Appends up to `rows` further records; false when there is none left.
  bool append(std::size_t rows) {
    const std::size_t end = std::min(row_ + rows, books_.rows());
    if (row_ == end) return false;
    for (; row_ < end; ++row_) append_record(row_);
    return true;
  }

 private:
  std::size_t record_size() const { return dbn::trade_size + levels_ * sizeof(BookLevel); }

  void append_record(std::size_t i) {
    const BookTrade trade = trade_of(books_, i);
    out_.record_header(record_size(), levels_ == 1 ? dbn::rtype::mbp1 : dbn::rtype::mbp10, books_.instrument[i],
                       books_.ts_event[i]);
    out_.number(trade.price), out_.number(trade.size);
    out_.number(trade.action), out_.number(trade.side);
    out_.number(dbn::flag::last);
    out_.number(std::uint8_t{0});  // depth
    out_.number(books_.ts_recv[i]);
    out_.number(std::int32_t{0});  // since it was sent: not known
    out_.number(static_cast<std::uint32_t>(i));
    out_.bytes(books_.row(i), levels_ * sizeof(BookLevel));
  }

  const Books& books_;
  const std::size_t levels_;
  DbnEncoder out_;
  std::size_t size_ = 0;
  std::size_t row_ = 0;
};

}  // namespace

std::string encode_dbn_books(const Books& books) {
  BookEncoder encoder(books);
  encoder.out().reserve(encoder.size());
  encoder.append(books.rows());
  return encoder.out().take();
}

void write_dbn_books(const Books& books, const std::filesystem::path& file) {
  if (file.extension() != ".zst") return write_file_atomically(file, encode_dbn_books(books));
  BookEncoder encoder(books);
  ZstdFrame frame(compression_level, encoder.size());
  do {
    frame.add(encoder.out().written());
    encoder.out().clear();
  } while (encoder.append(rows_at_once));
  write_file_atomically(file, std::move(frame).finish());
}

}  // namespace foxhunt::market

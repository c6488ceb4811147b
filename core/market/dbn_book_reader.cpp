#include "core/market/dbn_book_reader.h"

#include <fmt/format.h>

#include <optional>

#include "core/market/book_collector.h"
#include "core/market/dbn_reader.h"
#include "core/market/dbn_records.h"

namespace foxhunt::market {
namespace {

/// The type of the records that rows are made of; nothing when a file holds none. Has the file open by itself: each
/// decompressor takes the window that the file asks for.
std::optional<std::uint8_t> book_rtype(const std::filesystem::path& file, const ReadOptions& options) {
  switch (DbnStream(file).metadata().schema) {
    case dbn::schema::mbp10:
      return dbn::rtype::mbp10;
    case dbn::schema::mbp1:
    case dbn::schema::tbbo:
      return dbn::rtype::mbp1;
    case dbn::schema::mbo:
      return dbn::rtype::mbo;
    case dbn::schema::mixed:
      break;
    default:
      return std::nullopt;
  }
  ReadOptions quiet = options;
  quiet.progress = nullptr;
  const DbnContents contents = read_dbn_contents(file, quiet);
  for (const std::uint8_t rtype : {dbn::rtype::mbp10, dbn::rtype::mbo, dbn::rtype::mbp1})
    if (contents.records.contains(dbn::record_name(rtype))) return rtype;
  return std::nullopt;
}

/// A record of mbp-1, tbbo or mbp-10: one row.
void take_snapshot(const DbnRecord& record, BookCollector& books) {
  auto& instrument = books.of(record.instrument());
  if (!instrument.wanted) return books.skip_unwanted();
  if (record.field<char>(28) == 'T')
    books.add_trade(instrument, record.field<std::int64_t>(16), record.field<std::uint32_t>(24),
                    record.field<char>(29));
  books.add(instrument, record.instrument(), record.ts_event(), record.field<std::uint64_t>(32), record.bytes + 48);
}

/// A record of mbo: changes the book, and is a row when it is a trade, or ends an event that touched ten levels.
void take_order(const DbnRecord& record, BookCollector& books) {
  auto& instrument = books.of(record.instrument());
  if (!instrument.wanted) return books.skip_unwanted();
  const OrderEvent event{record.field<std::uint64_t>(16), record.field<std::int64_t>(24),
                         record.field<std::uint32_t>(32), record.field<char>(38),
                         record.field<char>(39),          record.field<std::uint8_t>(36)};
  if (const char* reason = instrument.book.apply(event)) books.reject(reason);
  const bool trade = event.action == 'T';
  if (trade) books.add_trade(instrument, event.price, event.size, event.side);
  const bool ends_touching = (event.flags & dbn::flag::last) && instrument.book.take_touched();
  if (!trade && !ends_touching) return;
  BookLevel levels[MboBook::depth];
  instrument.book.top(levels);
  books.add(instrument, record.instrument(), record.ts_event(), record.field<std::uint64_t>(40),
            reinterpret_cast<const char*>(levels));
}

void read_into(BookCollector& books, DbnRecords& records, std::uint8_t rtype) {
  const std::size_t size = rtype == dbn::rtype::mbp10 ? dbn::mbp10_size
                           : rtype == dbn::rtype::mbo ? dbn::mbo_size
                                                      : dbn::mbp1_size;
  // Room for every record costs no memory until rows fill it. Of orders, most touch no level that is kept.
  if (rtype != dbn::rtype::mbo) books.reserve(records.stream().records_left(size));
  const auto take = rtype == dbn::rtype::mbo ? take_order : take_snapshot;
  records.for_each([&](const DbnRecord& record) {
    if (record.rtype() != rtype) return false;
    records.check_size(record, size);
    take(record, books);
    return true;
  });
}

[[noreturn]] void fail_without_book(DbnRecords& records, std::map<std::string, std::int64_t> rejects = {}) {
  records.fail_without("book to train on", std::move(rejects),
                       "snapshots are needed, download schema mbp-10 (or mbp-1, tbbo, mbo)");
}

}  // namespace

Books read_dbn_books(std::span<const std::filesystem::path> files, const ReadOptions& options) {
  SymbolNames symbols;
  Books others;  // its rejects and notes
  std::optional<DbnRecords> records;
  std::optional<BookCollector> books;
  std::optional<std::uint8_t> first_rtype;
  for (std::size_t i = 0; i < files.size(); ++i) {
    records.reset();
    const auto rtype = book_rtype(files[i], options);
    records.emplace(files[i], part_options(options, files, i), symbols);
    if (!rtype) fail_without_book(*records);
    if (!first_rtype)
      first_rtype = rtype, books.emplace(*rtype == dbn::rtype::mbp1 ? 1 : 10, options.instrument, symbols);
    if (*rtype != *first_rtype)
      throw Error(ExitCode::data,
                  fmt::format("{} holds {} and {} {}; keep one schema in a folder", files[0].string(),
                              dbn::record_name(*first_rtype), files[i].string(), dbn::record_name(*rtype)));
    read_into(*books, *records, *rtype);
    records->report_to(others, "not a book row");
  }
  const std::string schema = dbn::schema_name(records->metadata().schema);
  books->check_found(source_name(files));
  if (books->rows() == 0 && !options.may_be_empty) fail_without_book(*records, books->rejects());
  Books result = std::move(*books).finish();
  for (const auto& [reason, count] : others.rejects) result.rejects[reason] += count;
  result.notes = std::move(others.notes);
  result.schema = schema == "mixed" ? dbn::record_name(*first_rtype) : schema;
  result.source = source_name(files);
  return result;
}

}  // namespace foxhunt::market

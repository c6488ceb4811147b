#include <optional>
#include <unordered_map>

#include "core/market/contract.h"
#include "core/market/dbn_book_reader.h"
#include "core/market/dbn_records.h"
#include "core/market/row_choice.h"

namespace foxhunt::market {
namespace {

class TradeCollector {
 public:
  TradeCollector(const std::string& wanted, const SymbolNames& symbols) : filter_(wanted, symbols) {}

  void take(const DbnRecord& record) {
    const std::uint32_t id = record.instrument();
    if (!filter_.wants(id)) return reject("not the chosen instrument");
    const auto price = record.field<std::int64_t>(16);
    const auto size = record.field<std::uint32_t>(24);
    const auto recv = record.field<std::uint64_t>(32);
    if (recv > dbn::latest_time) return reject("undefined time");
    if (price == no_price) return reject("undefined price");
    if (price > largest_price || price < -largest_price) return reject("price out of range");
    if (size == 0) return reject("zero size");
    const auto ts = static_cast<std::int64_t>(recv);
    const auto [latest, fresh] = latest_.try_emplace(id, ts);
    if (ts < latest->second) return reject("time goes backwards");
    latest->second = ts;
    trades_.ts_event.push_back(record.field<std::int64_t>(8));
    trades_.ts_recv.push_back(ts);
    trades_.price.push_back(price);
    trades_.size.push_back(size);
    trades_.side.push_back(record.field<char>(29));
    trades_.instrument.push_back(id);
  }

  void reserve(std::size_t rows) {
    each_column(trades_, [&](auto& column, std::size_t) { column.reserve(column.size() + rows); });
  }
  const InstrumentFilter& filter() const { return filter_; }
  Trades& trades() { return trades_; }

 private:
  void reject(const char* reason) { ++trades_.rejects[reason]; }

  Trades trades_;
  InstrumentFilter filter_;
  std::unordered_map<std::uint32_t, std::int64_t> latest_;  ///< ts_recv of an instrument's last row
};

}  // namespace

Trades read_dbn_trades(std::span<const std::filesystem::path> files, const ReadOptions& options) {
  SymbolNames symbols;
  Trades others;  // its rejects and notes
  std::optional<DbnRecords> records;
  TradeCollector collector(options.instrument, symbols);
  for (std::size_t i = 0; i < files.size(); ++i) {
    records.emplace(files[i], part_options(options, files, i), symbols);
    collector.reserve(records->stream().records_left(dbn::trade_size));
    records->for_each([&](const DbnRecord& record) {
      if (record.rtype() != dbn::rtype::trade) return false;
      records->check_size(record, dbn::trade_size);
      collector.take(record);
      return true;
    });
    records->report_to(others, "not a trade");
  }
  collector.filter().check_found(source_name(files));
  Trades trades = std::move(collector.trades());
  if (trades.rows() == 0 && !options.may_be_empty)
    records->fail_without("trade", trades.rejects, "download schema trades");
  trades.symbols = std::move(symbols);
  trades.schema = dbn::schema_name(dbn::schema::trades);
  trades.source = source_name(files);
  keep_one_instrument(trades, [&](std::size_t row) { return std::uint64_t{trades.size[row]}; });
  for (const auto& [reason, count] : others.rejects) trades.rejects[reason] += count;
  trades.notes = std::move(others.notes);
  return trades;
}

}  // namespace foxhunt::market

#include "core/market/dbn_format.h"

#include <fmt/format.h>

#include <bit>

#include "core/market/civil_time.h"

namespace foxhunt::market::dbn {

static_assert(std::endian::native == std::endian::little, "DBN numbers are read as they lie");

std::string schema_name(std::uint16_t schema) {
  static constexpr const char* names[] = {"mbo",        "mbp-1",    "mbp-10",    "tbbo",     "trades",
                                          "ohlcv-1s",   "ohlcv-1m", "ohlcv-1h",  "ohlcv-1d", "definition",
                                          "statistics", "status",   "imbalance", "ohlcv-eod"};
  if (schema == schema::mixed) return "mixed";
  return schema < std::size(names) ? names[schema] : fmt::format("schema {}", schema);
}

std::string record_name(std::uint8_t rtype) {
  switch (rtype) {
    case 0x00:
      return "trade";
    case 0x01:
      return "mbp-1";
    case 0x0A:
      return "mbp-10";
    case 0x12:
      return "status";
    case 0x13:
      return "definition";
    case 0x14:
      return "imbalance";
    case 0x15:
      return "error";
    case 0x16:
      return "symbol-mapping";
    case 0x17:
      return "system";
    case 0x18:
      return "statistics";
    case 0x20:
      return "ohlcv-1s";
    case 0x21:
      return "ohlcv-1m";
    case 0x22:
      return "ohlcv-1h";
    case 0x23:
      return "ohlcv-1d";
    case 0x24:
      return "ohlcv-eod";
    case 0xA0:
      return "mbo";
    case 0xB1:
      return "cmbp-1";
    case 0xC0:
      return "cbbo-1s";
    case 0xC1:
      return "cbbo-1m";
    case 0xC2:
      return "tcbbo";
    case 0xC3:
      return "bbo-1s";
    case 0xC4:
      return "bbo-1m";
    default:
      return "";
  }
}

std::string record_label(std::uint8_t rtype) {
  const std::string name = record_name(rtype);
  return name.empty() ? fmt::format("type 0x{:02X}", rtype) : name;
}

std::int64_t bar_interval(std::uint8_t rtype) {
  switch (rtype) {
    case 0x20:
      return ns_per_second;
    case 0x21:
      return ns_per_minute;
    case 0x22:
      return ns_per_hour;
    case 0x23:
    case 0x24:
      return ns_per_day;
    default:
      return 0;
  }
}

std::uint8_t bar_rtype(std::int64_t interval) {
  for (std::uint8_t rtype = rtype::ohlcv_1s; rtype < rtype::ohlcv_eod; ++rtype)
    if (bar_interval(rtype) == interval) return rtype;
  return 0;
}

std::uint16_t bar_schema(std::int64_t interval) {
  const std::uint8_t rtype = bar_rtype(interval);
  return rtype ? static_cast<std::uint16_t>(schema::ohlcv_1s + (rtype - rtype::ohlcv_1s)) : 0;
}

}  // namespace foxhunt::market::dbn

#include "core/market/dbn_reader.h"
#include "core/market/dbn_stream.h"
#include "core/market/dbn_writer.h"
#include "core/market/reader.h"
#include "core/market/synth.h"
#include "tests/market/dbn_bytes.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

const std::vector<Bar> three{minute_bar(0, 100, 101), minute_bar(1, 101, -7), minute_bar(2, 99, 98, 0)};

Bars read(const std::string& bytes, const std::string& name = "bars.dbn") {
  const test::TemporaryFolder folder;
  write_text(folder / name, bytes);
  return read_bars(folder / name);
}

void require_three(const Bars& bars) {
  REQUIRE(same_bars(bars, bars_of({three[0], three[1], three[2]})));
  REQUIRE(bars.schema == "ohlcv-1m");
  REQUIRE(bars.symbols == std::map<std::uint32_t, std::string>{{1, "ESH1"}});
  REQUIRE(bars.rejects.empty());
}

Bars rejected(const std::vector<Bar>& bars) { return read(dbn_file(bars)); }

}  // namespace

TEST_CASE("dbn: versions 1, 2 and 3, with and without a send time") {
  for (const std::uint8_t version : {1, 2, 3})
    for (const bool ts_out : {false, true}) require_three(read(dbn_file(three, {version, 6, ts_out})));
}

TEST_CASE("dbn: zstd in one frame, in many, and after skippable ones") {
  const std::string bytes = dbn_file(three);
  require_three(read(zstd_frame(bytes), "bars.dbn.zst"));
  require_three(read(skippable_frame("seek table") + zstd_frame(bytes), "bars.dbn.zst"));
  std::string pieces;  // frames of 7 bytes: no field fits in one
  for (std::size_t at = 0; at < bytes.size(); at += 7) pieces += zstd_frame(bytes.substr(at, 7)) + skippable_frame("x");
  require_three(read(pieces, "bars.dbn.zst"));
  require_three(read(zstd_frame(bytes), "bars"));  // by its first bytes, whatever the name
  require_three(read(bytes, "bars.bin"));
}

TEST_CASE("dbn: every bar schema gives its interval") {
  const std::int64_t intervals[] = {ns_per_second, ns_per_minute, ns_per_hour, ns_per_day, ns_per_day};
  const char* names[] = {"ohlcv-1s", "ohlcv-1m", "ohlcv-1h", "ohlcv-1d", "ohlcv-eod"};
  for (std::uint8_t k = 0; k < 5; ++k) {
    const std::string bytes = dbn_metadata_bytes({}) + dbn_bar_bytes(three[0], static_cast<std::uint8_t>(0x20 + k));
    const Bars bars = read(bytes);
    CHECK(bars.interval == intervals[k]);
    CHECK(bars.schema == names[k]);
  }
}

TEST_CASE("dbn: a mixed file yields its bars, and counts what is none") {
  std::string bytes = dbn_metadata_bytes({2, 0xFFFF, false});
  bytes += dbn_record_bytes(0x0A, 92) + dbn_bar_bytes(three[0]) + dbn_record_bytes(0x77, 5) + dbn_bar_bytes(three[1]);
  bytes += dbn_bar_bytes(minute_bar(0, 5, 6), 0x22) + dbn_record_bytes(0x00, 12) + dbn_bar_bytes(three[2]);
  const Bars bars = read(bytes);
  REQUIRE(same_bars(bars, bars_of({three[0], three[1], three[2]})));
  REQUIRE(bars.rejects == std::map<std::string, std::int64_t>{
                              {"not a bar", 2}, {"unknown record type", 1}, {"another bar interval", 1}});
}

TEST_CASE("dbn: symbol mapping records name instruments") {
  std::string mapping = dbn_record_bytes(0x16, 44);  // 176 bytes, as in v2 and v3
  mapping[4] = 9;
  mapping.replace(17, 6, "ES.FUT"), mapping.replace(89, 4, "ESZ4");
  const Bars bars = read(dbn_metadata_bytes({3, 0xFFFF, false}) + mapping + dbn_bar_bytes(minute_bar(0, 1, 2, 1, 9)));
  REQUIRE(bars.symbols.at(9) == "ESZ4");
}

TEST_CASE("dbn: rows that cannot be true are left out and counted") {
  Bar undefined = minute_bar(1, 5, 6), zero = minute_bar(2, 0, 6), upside_down = minute_bar(3, 5, 6);
  undefined.close = INT64_MAX;
  std::swap(upside_down.high, upside_down.low);
  Bar outside = minute_bar(4, 5, 6);
  outside.close = 9 * point;
  Bar timeless = minute_bar(5, 5, 6);
  timeless.ts_open = -1;  // 2^64 - 1: undefined
  Bar high = minute_bar(6, 5, 6), low = minute_bar(7, 5, 6);
  high.high = largest_price + 1, low.low = INT64_MIN;
  const Bars bars = rejected({minute_bar(0, 5, 6), undefined, zero, upside_down, outside, timeless, high, low,
                              minute_bar(10, 5, 6), minute_bar(10, 7, 8), minute_bar(9, 7, 8), minute_bar(11, -5, -6)});
  CHECK(same_bars(bars, bars_of({minute_bar(0, 5, 6), minute_bar(10, 5, 6), minute_bar(11, -5, -6)})));
  CHECK(bars.rejects == std::map<std::string, std::int64_t>{{"undefined price", 1},
                                                            {"zero price", 1},
                                                            {"high below low", 1},
                                                            {"open or close outside high and low", 1},
                                                            {"undefined time", 1},
                                                            {"price out of range", 2},
                                                            {"duplicate time", 1},
                                                            {"time goes backwards", 1}});
}

TEST_CASE("dbn: of interleaved instruments the front contract stays, a day after it has become that") {
  std::vector<Bar> list;
  const std::int64_t day = 24 * 60;
  for (const std::int64_t start : {std::int64_t{0}, day, 2 * day})
    for (std::int64_t i = 0; i < 5; ++i) {
      list.push_back(minute_bar(start + i, 100, 101, start < day ? 50 : 3, 1));
      list.push_back(minute_bar(start + i, 110, 111, start < day ? 7 : 60, 2));
    }
  const Bars bars = rejected(list);
  REQUIRE(bars.size() == 15);
  for (std::size_t i = 0; i < 15; ++i) REQUIRE(bars.instrument[i] == (i < 10 ? 1 : 2));
  REQUIRE(bars.rejects.at("not the front contract") == 15);
  const Tape tape = make_tape(bars, contract_for("ES"), {});
  REQUIRE(tape.flags[9] == (roll | last_of_session));
}

TEST_CASE("dbn: an instrument is chosen by id, symbol or parent") {
  const test::TemporaryFolder folder;
  write_text(folder / "a.dbn", dbn_metadata_bytes({3, 6, false, {{"ESH4", 1}, {"ESM4", 2}}}) +
                                   dbn_bar_bytes(minute_bar(0, 1, 2, 9, 1)) + dbn_bar_bytes(minute_bar(0, 3, 4, 1, 2)));
  ReadOptions options;
  for (const char* name : {"2", "ESM4"}) {
    options.instrument = name;
    const Bars bars = read_bars(folder / "a.dbn", options);
    REQUIRE(bars.instrument == std::vector<std::uint32_t>{2});
    REQUIRE(bars.rejects == std::map<std::string, std::int64_t>{{"not the chosen instrument", 1}});
  }
  for (const char* name : {"ES", "ES.FUT", ""}) {
    options.instrument = name;
    REQUIRE(read_bars(folder / "a.dbn", options).instrument == std::vector<std::uint32_t>{1});
  }
  options.instrument = "NQ";
  require_says(error_of(ExitCode::data, [&] { read_bars(folder / "a.dbn", options); }),
               {"a.dbn", "data.instrument \"NQ\"", "ESH4 (1), ESM4 (2)"});
}

TEST_CASE("dbn: instruments that follow one another all stay, in any file order") {
  const Bar early = minute_bar(0, 5, 6, 1, 1), middle = minute_bar(3, 5, 6, 100, 2), late = minute_bar(5, 7, 8, 2, 3);
  for (const auto& list : {std::vector{early, middle, late}, {late, middle, early}}) {
    const Bars bars = rejected(list);
    REQUIRE(bars.instrument == std::vector<std::uint32_t>{1, 2, 3});
    REQUIRE(bars.rejects.empty());
  }
}

TEST_CASE("dbn: the stream walks records with their bytes") {
  const test::TemporaryFolder folder;
  std::vector<Bar> many;
  for (std::int64_t i = 0; i < 20'000; ++i) many.push_back(minute_bar(i, 5, 6));  // several of its buffers
  const std::string bytes = dbn_file(many, {2, 6, false});  // v2 metadata is 353 bytes: no record is aligned
  write_text(folder / "a.dbn", bytes);
  DbnStream stream(folder / "a.dbn");
  CHECK(stream.metadata().version == 2);
  CHECK(stream.metadata().dataset == "GLBX.MDP3");
  CHECK(stream.metadata().symbols == std::vector<std::string>{"ESH1"});
  CHECK(stream.metadata().records_at == 353);
  std::size_t count = 0, right = 0;
  stream.for_each([&](const DbnRecord& record) {
    right += record.offset == 353 + 56 * count && record.field<std::int64_t>(8) == many[count].ts_open;
    ++count;
  });
  REQUIRE(count == many.size());
  REQUIRE(right == many.size());
}

TEST_CASE("dbn: what is written is read back") {
  const test::TemporaryFolder folder;
  SynthOptions options;
  options.sessions = 3;
  const Bars bars = synthesize(options);
  for (const char* name : {"a.dbn", "a.dbn.zst"}) {
    write_dbn(bars, folder / name);
    const Bars back = read_bars(folder / name);
    REQUIRE(same_bars(back, bars));
    REQUIRE(back.symbols == bars.symbols);
    REQUIRE(back.schema == "ohlcv-1m");
  }
  REQUIRE(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);  // no temporary file is left
}

TEST_CASE("dbn: the writer's bytes are the format's") {
  Bars bars = bars_of({three[0], three[1], three[2]});
  bars.symbols[1] = "ESH1";
  std::string expected = dbn_file(three);
  // The writer says who made the file, its span, and that there is no publisher.
  expected.replace(8, 9, "SYNTHETIC");
  const std::int64_t start = monday, end = monday + 3 * ns_per_minute;
  std::memcpy(expected.data() + 26, &start, 8), std::memcpy(expected.data() + 34, &end, 8);
  std::string written = encode_dbn(bars);
  REQUIRE(written.size() == expected.size());
  REQUIRE((written.size() - 3 * 56) % 8 == 0);
  for (std::size_t i = 0; i < 3; ++i) written[written.size() - 56 * (i + 1) + 2] = 1;
  REQUIRE(written == expected);
}

TEST_CASE("dbn: the writer refuses what the format cannot hold") {
  Bars bars = bars_of({three[0]});
  bars.symbols[1] = std::string(71, 'x');
  require_says(error_of(ExitCode::data, [&] { encode_dbn(bars); }), {"too long"});
  bars.symbols.clear();
  bars.interval = 5 * ns_per_minute;
  require_says(error_of(ExitCode::data, [&] { encode_dbn(bars); }), {"no schema", "300000000000 ns"});
  require_says(error_of(ExitCode::data, [&] { encode_dbn({}); }), {"no bar"});
  const test::TemporaryFolder folder;
  bars.interval = ns_per_minute;
  require_says(error_of(ExitCode::storage, [&] { write_dbn(bars, folder / "no" / "such.dbn"); }),
               {"such.dbn", "create"});
}

}  // namespace foxhunt::market

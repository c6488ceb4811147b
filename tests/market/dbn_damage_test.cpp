// Damaged DBN: one clear line, never a crash, never a belief in sizes that are not there.
#include <random>

#include "core/market/dbn_reader.h"
#include "core/market/reader.h"
#include "tests/market/dbn_bytes.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

const std::vector<Bar> three{minute_bar(0, 100, 101), minute_bar(1, 101, 102), minute_bar(2, 99, 98)};
constexpr std::size_t v2_records = 353;

std::string refused(const std::string& bytes, const std::string& name = "bars.dbn") {
  const test::TemporaryFolder folder;
  write_text(folder / name, bytes);
  const std::string message = error_of(ExitCode::data, [&] { read_bars(folder / name); });
  require_says(message, {(folder / name).string()});
  return message;
}

template <class T>
std::string with(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

}  // namespace

TEST_CASE("dbn: files that are none are named") {
  const test::TemporaryFolder folder;
  require_says(error_of(ExitCode::data, [&] { read_bars(folder / "no.dbn"); }), {"no.dbn", "no such file"});
  require_says(refused(""), {"empty"});
  require_says(refused("D"), {"byte 0", "DBN"});
  require_says(refused("hello, this is text"), {"byte 0", "DBN"});
  require_says(refused("DBN\x03"), {"byte 4", "ends inside"});
  require_says(refused(skippable_frame(std::string("DBZ\x01") + "GLBX.MDP3"), "old.dbz"), {"DBZ", "convert"});
}

TEST_CASE("dbn: unknown versions are named") {
  const std::string good = dbn_file(three, {2, 6, false});
  for (const int version : {0, 4, 255})
    require_says(refused(with(good, 3, static_cast<std::uint8_t>(version))),
                 {"byte 3", "version " + std::to_string(version)});
}

TEST_CASE("dbn: metadata lengths and counts that lie are found before anything is allocated") {
  const std::string good = dbn_file(three, {2, 6, false});
  for (const std::uint32_t length : {0xFFFFFFF0U, 1'000'000U}) {
    require_says(refused(with(good, 4, length)), {"byte 4", "metadata length", std::to_string(length)});
    require_says(refused(zstd_frame(with(good, 4, length)), "bars.dbn.zst"), {"byte 4", "metadata length"});
  }
  for (const std::uint32_t length : {0U, 10U, 99U, 200U})
    require_says(refused(with(good, 4, length)), {"metadata", "damaged"});
  require_says(refused(with(good, 112, 0xFFFFFFFFU)), {"byte 116", "symbols", "4294967295"});
  require_says(refused(with(good, 187, 0x10000000U)), {"partly resolved"});
  require_says(refused(with(good, 195, 1000U)), {"mappings"});
  require_says(refused(with(good, 270, 4U)), {"mapping intervals"});
  require_says(refused(with(good, 108, 0xFFFFFFFFU)), {"schema definition"});
  require_says(refused(with(good, 53, std::uint16_t{0})), {"byte 53"});
}

TEST_CASE("dbn: records that cannot be are named by their byte") {
  const std::string good = dbn_file(three, {2, 6, false});
  REQUIRE(good.size() == v2_records + 3 * 56);
  require_says(refused(with(good, v2_records + 56, std::uint8_t{0})), {"byte 409", "0 bytes long"});
  require_says(refused(with(good, v2_records, std::uint8_t{3})), {"byte 353", "12 bytes long"});
  require_says(refused(with(good, v2_records + 112, std::uint8_t{255})),
               {"byte 465", "1020 bytes", "cut short after 56"});
  require_says(refused(with(good, v2_records, std::uint8_t{10})),
               {"byte 353", "ohlcv-1m record of 40 bytes", "expected 56"});
}

TEST_CASE("dbn: a file without bars says what it holds") {
  const std::string head = dbn_metadata_bytes({2, 2, false});
  require_says(refused(head), {"schema mbp-10", "no record at all", "ohlcv-1m"});
  require_says(refused(head + dbn_record_bytes(0x0A, 92) + dbn_record_bytes(0x0A, 92)),
               {"2 mbp-10", "bars are needed"});
  require_says(refused(head + dbn_record_bytes(0x99, 5)), {"1 type 0x99"});
  require_says(refused(dbn_file({minute_bar(0, 0, 1)})), {"schema ohlcv-1m", "1 zero price"});
}

TEST_CASE("dbn: a file cut short anywhere is an error, or ends between two records") {
  const std::string good = dbn_file(three, {2, 6, false});
  const test::TemporaryFolder folder;
  for (std::size_t size = 1; size < good.size(); ++size) {
    write_text(folder / "cut.dbn", good.substr(0, size));
    INFO("cut after " << size << " bytes");
    const bool between = size > v2_records && (size - v2_records) % 56 == 0;
    if (between)
      REQUIRE(read_bars(folder / "cut.dbn").size() == (size - v2_records) / 56);
    else
      error_of(ExitCode::data, [&] { read_bars(folder / "cut.dbn"); });
  }
}

TEST_CASE("dbn: compressed data cut short or damaged is an error") {
  const std::string packed = zstd_frame(dbn_file(three));
  const test::TemporaryFolder folder;
  for (std::size_t size = 5; size < packed.size(); ++size) {
    write_text(folder / "cut.dbn.zst", packed.substr(0, size));
    INFO("cut after " << size << " bytes of " << packed.size());
    require_says(error_of(ExitCode::data, [&] { read_bars(folder / "cut.dbn.zst"); }),
                 {"cut short at byte " + std::to_string(size)});
  }
  require_says(refused(packed + "trailing rubbish", "bars.dbn.zst"), {"damaged zstd data", "near byte"});
  require_says(refused(skippable_frame("nothing else"), "bars.dbn.zst"), {"byte 0"});
}

TEST_CASE("dbn: bytes changed at random are read or refused, never worse") {
  std::mt19937_64 random(test::seed());
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "random.dbn";
  int read = 0, refusals = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string bytes = dbn_file(three, {static_cast<std::uint8_t>(1 + trial % 3), 6, trial % 2 == 0});
    for (std::uint64_t change = 1 + random() % 6; change; --change)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (trial % 4 == 0) bytes.resize(random() % bytes.size());
    write_text(file, bytes);
    try {
      make_tape(read_bars(file), contract_for("ES"), {});
      ++read;
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::data);
      ++refusals;
    }
  }
  REQUIRE(read > 100);
  REQUIRE(refusals > 100);
}

}  // namespace foxhunt::market

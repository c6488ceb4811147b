#include "core/market/feature_cache.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <random>

#include "core/checksum.h"
#include "core/market/cache_file.h"
#include "core/market/reader.h"
#include "core/market/synth.h"
#include "core/market/writer.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

/// A market with enough rows to be kept, whose parts can be told apart, without computing any feature.
PreparedMarket large_market(std::size_t rows = FeatureCache::least_rows, std::uint64_t seed = 1) {
  PreparedMarket market;
  std::mt19937_64 random(seed);
  Tape& tape = market.tape;
  for (auto* column : {&tape.ts, &tape.mid, &tape.fill_mid, &tape.half_spread}) {
    column->resize(rows);
    for (std::int64_t& value : *column) value = static_cast<std::int64_t>(random());
  }
  tape.session.resize(rows), tape.instrument.resize(rows), tape.flags.resize(rows);
  for (std::size_t i = 0; i < rows; ++i)
    tape.session[i] = static_cast<std::int32_t>(i / 10), tape.instrument[i] = static_cast<std::uint32_t>(random()),
    tape.flags[i] = static_cast<std::uint8_t>(random());
  tape.contract = {"ESZ3", 250'000'000, 50, 2.25};
  tape.bars.interval = ns_per_minute;
  tape.bars.symbols = {{7, "ESZ3"}, {8, ""}};
  tape.bars.rejects = {{"zero price", 3}};
  tape.bars.notes = {"a note", ""};
  tape.bars.schema = "ohlcv-1m", tape.bars.source = "bars.csv";
  market.features.names = {"one", "two", "three"};
  market.features.mean = {1, -2, 1e-300}, market.features.deviation = {3, 4, 5};
  std::vector<float> values(rows * 3);
  for (float& value : values) value = static_cast<float>(random() % 1000) - 500;
  market.features.values = std::move(values);
  return market;
}

bool same(const PreparedMarket& a, const PreparedMarket& b) {
  const Tape &x = a.tape, &y = b.tape;
  return x.ts == y.ts && x.mid == y.mid && x.fill_mid == y.fill_mid && x.half_spread == y.half_spread &&
         x.session == y.session && x.instrument == y.instrument && x.flags == y.flags &&
         x.contract.symbol == y.contract.symbol && x.contract.tick_size == y.contract.tick_size &&
         x.contract.multiplier == y.contract.multiplier && x.contract.commission == y.contract.commission &&
         x.bars.interval == y.bars.interval && x.bars.symbols == y.bars.symbols && x.bars.rejects == y.bars.rejects &&
         x.bars.notes == y.bars.notes && x.bars.schema == y.bars.schema && x.bars.source == y.bars.source &&
         a.features.names == b.features.names && a.features.mean == b.features.mean &&
         a.features.deviation == b.features.deviation && a.features.values == b.features.values;
}

/// A source file, a cache folder, and the cache of the two.
struct Setup {
  test::TemporaryFolder folder;
  std::filesystem::path source = folder / "bars.csv", kept = folder / "cache";
  PreparedMarket market = large_market();

  Setup() { write_text(source, "some bytes"); }
  FeatureCache cache(const std::string& settings = "clip = 5\n") const { return {kept, source, settings}; }
  /// The one file that a first run leaves.
  std::filesystem::path write() const {
    FeatureCache first = cache();
    first.write(market.tape, market.features);
    REQUIRE(first.problem().empty());
    return first.file();
  }
  /// Reading finds nothing, says why, and the next run is served again.
  void require_rebuilt(std::initializer_list<std::string> why) const {
    FeatureCache again = cache();
    REQUIRE_FALSE(again.read());
    require_says(again.problem(), {again.file().string(), "prepared anew"});
    require_says(again.problem(), why);
    again.write(market.tape, market.features);
    FeatureCache after = cache();
    const auto found = after.read();
    REQUIRE(found);
    REQUIRE(same(*found, market));
    REQUIRE(after.problem().empty());
  }
};

void put(const std::filesystem::path& file, std::size_t at, const void* bytes, std::size_t size) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(at));
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
}

}  // namespace

TEST_CASE("cache: what is written is read back, with its features where they lie in the file") {
  const Setup setup;
  FeatureCache cold = setup.cache();
  REQUIRE_FALSE(cold.read());
  REQUIRE(cold.problem().empty());  // not there is no problem
  REQUIRE(cold.file() == setup.write());
  FeatureCache warm = setup.cache();
  const auto found = warm.read();
  REQUIRE(found);
  REQUIRE(same(*found, setup.market));
  REQUIRE(reinterpret_cast<std::uintptr_t>(found->features.values.data()) % 64 == 0);
  // It outlives the file's name and the cache.
  std::filesystem::remove(warm.file());
  REQUIRE(same(*found, setup.market));
}

TEST_CASE("cache: other bytes, another name inside a folder, other settings are other markets") {
  const Setup setup;
  const auto file = setup.write();
  FeatureCache other = setup.cache("clip = 4\n");
  REQUIRE(other.file() != file);
  REQUIRE_FALSE(other.read());
  write_text(setup.source, "some bytez");
  setup.require_rebuilt({"made of other data"});
  REQUIRE(setup.cache().file() == file);  // in its place, not beside it

  const auto inputs = setup.folder / "inputs";
  std::filesystem::create_directory(inputs);
  write_text(inputs / "a.dbn", "first"), write_text(inputs / "b.dbn", "second");
  FeatureCache folder(setup.kept, inputs, "");
  folder.write(setup.market.tape, setup.market.features);
  REQUIRE(FeatureCache(setup.kept, inputs, "").read());
  std::filesystem::rename(inputs / "b.dbn", inputs / "c.dbn");
  REQUIRE_FALSE(FeatureCache(setup.kept, inputs, "").read());
  std::filesystem::rename(inputs / "c.dbn", inputs / "b.dbn");
  REQUIRE(FeatureCache(setup.kept, inputs, "").read());
  write_text(inputs / "c.dbn", "");
  REQUIRE_FALSE(FeatureCache(setup.kept, inputs, "").read());
}

TEST_CASE("cache: a flipped bit anywhere is noticed and the file made again") {
  const Setup setup;
  const auto file = setup.write();
  const std::string good = read_text(file);
  std::mt19937_64 random(test::seed());
  for (int trial = 0; trial < 60; ++trial) {
    // Half of them in the header and the small values.
    const std::size_t at = random() % (trial % 2 ? good.size() : 512);
    const char flipped = static_cast<char>(good[at] ^ (1 << random() % 8));
    put(file, at, &flipped, 1);
    INFO("byte " << at);
    FeatureCache cache = setup.cache();
    REQUIRE_FALSE(cache.read());
    REQUIRE_FALSE(cache.problem().empty());
    put(file, at, &good[at], 1);
  }
  REQUIRE(setup.cache().read());
  const char zero = 1;
  put(file, good.size() - 1, &zero, 1);
  setup.require_rebuilt({"damaged", "checksum"});
}

TEST_CASE("cache: every byte of a small file is covered") {
  const PreparedMarket market = large_market(3);
  const CacheFileParts parts(market.tape, market.features, 42);
  std::string good;
  for (const auto part : parts.parts()) good.append(reinterpret_cast<const char*>(part.data()), part.size());
  const test::TemporaryFolder folder;
  const auto parse = [&](const std::string& bytes, std::uint64_t key = 42) {
    write_text(folder / "a", bytes);
    return parse_cache_file(MappedFile::open(folder / "a"), key);
  };
  REQUIRE(same(std::get<PreparedMarket>(parse(good)), market));
  REQUIRE(std::get<std::string>(parse(good, 43)).find("other data") != std::string::npos);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    INFO("byte " << at);
    REQUIRE(std::holds_alternative<std::string>(parse(bytes)));
    REQUIRE(std::holds_alternative<std::string>(parse(good.substr(0, at))));
  }
  REQUIRE(std::holds_alternative<std::string>(parse(good + "x")));
}

TEST_CASE("cache: a file that is cut short, of another version, of another kind is made again") {
  const Setup setup;
  const auto file = setup.write();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  setup.require_rebuilt({"damaged", "expected"});
  std::filesystem::resize_file(file, 20);
  setup.require_rebuilt({"cut short at byte 20"});
  std::filesystem::resize_file(file, 0);
  setup.require_rebuilt({"cut short at byte 0"});
  const std::uint32_t old_version = 0;
  put(file, 8, &old_version, sizeof old_version);
  setup.require_rebuilt({"version 0, expected 1"});
  write_text(file, std::string(1000, 'x'));
  setup.require_rebuilt({"not an .fxcache file"});
}

TEST_CASE("cache: lengths that lie under right checksums are noticed before anything is allocated") {
  const PreparedMarket market = large_market(3);
  const CacheFileParts parts(market.tape, market.features, 42);
  std::string good;
  for (const auto part : parts.parts()) good.append(reinterpret_cast<const char*>(part.data()), part.size());
  std::uint32_t small_size = 0;
  std::memcpy(&small_size, &good[12], sizeof small_size);
  const auto seal = [&](std::string bytes) {  // as the layout in cache_file.cpp has it
    const std::uint64_t small = xxh64(std::as_bytes(std::span(bytes)).subspan(64, small_size));
    std::memcpy(&bytes[32], &small, 8);
    const std::uint64_t head = xxh64(std::as_bytes(std::span(bytes)).first(56));
    std::memcpy(&bytes[56], &head, 8);
    return bytes;
  };
  REQUIRE(seal(good) == good);
  const test::TemporaryFolder folder;
  for (std::size_t at = 64; at + 8 <= 64 + small_size; ++at)
    for (const std::uint64_t lie : {std::uint64_t{1} << 40, UINT64_MAX, std::uint64_t{13}}) {
      std::string bytes = good;
      std::memcpy(&bytes[at], &lie, 8);
      write_text(folder / "a", seal(bytes));
      parse_cache_file(MappedFile::open(folder / "a"), 42);  // any answer but a crash
    }
}

TEST_CASE("cache: columns of different lengths under right checksums are noticed") {
  const test::TemporaryFolder folder;
  const auto parse = [&](const PreparedMarket& market) {
    const CacheFileParts parts(market.tape, market.features, 42);
    std::string bytes;
    for (const auto part : parts.parts()) bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
    write_text(folder / "a", bytes);
    return parse_cache_file(MappedFile::open(folder / "a"), 42);
  };
  PreparedMarket short_mid = large_market(3), narrow = large_market(3), unknown = large_market(3);
  short_mid.tape.mid.pop_back(), narrow.features.names.pop_back(), unknown.features.mean.pop_back();
  for (const PreparedMarket& market : {short_mid, narrow, unknown})
    REQUIRE(std::get<std::string>(parse(market)).find("different lengths") != std::string::npos);
  REQUIRE(std::holds_alternative<PreparedMarket>(parse(large_market(3))));
}

TEST_CASE("cache: a small market is not kept, nor one whose source changed while it was read") {
  Setup setup;
  const PreparedMarket small = large_market(FeatureCache::least_rows - 1);
  FeatureCache cache = setup.cache();
  cache.write(small.tape, small.features);
  REQUIRE(cache.problem().empty());
  REQUIRE_FALSE(std::filesystem::exists(setup.kept));
  write_text(setup.source, "other bytes than the key's");
  cache.write(setup.market.tape, setup.market.features);
  REQUIRE_FALSE(std::filesystem::exists(setup.kept));
}

TEST_CASE("cache: a folder that cannot be used is one line, and no error") {
  Setup setup;
  write_text(setup.kept, "a file where the folder should be");
  FeatureCache cache = setup.cache();
  REQUIRE_FALSE(cache.read());
  cache.write(setup.market.tape, setup.market.features);
  require_says(cache.problem(), {setup.kept.string(), "data.cache"});
  FeatureCache none({}, setup.source, "");
  REQUIRE_FALSE(none.read());
  none.write(setup.market.tape, setup.market.features);
  REQUIRE(none.problem().empty());
  FeatureCache missing(setup.folder / "else", setup.folder / "no such source", "");
  REQUIRE_FALSE(missing.read());
  missing.write(setup.market.tape, setup.market.features);
  REQUIRE(missing.problem().empty());  // the reader will say so
}

TEST_CASE("cache: a full disk leaves the old file") {
  const Setup setup;
  const auto file = setup.write();
  const std::string old = read_text(file);
  write_text(setup.source, "changed");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    FeatureCache cache = setup.cache();
    cache.write(setup.market.tape, setup.market.features);
    _exit(cache.problem().find("cache not written") == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  REQUIRE(read_text(file) == old);
  REQUIRE(std::distance(std::filesystem::directory_iterator(setup.kept), {}) == 1);  // nothing beside it
}

TEST_CASE("cache: processes that write and read at once always see one whole market") {
  const Setup setup;
  const PreparedMarket markets[] = {large_market(FeatureCache::least_rows, 1),
                                    large_market(FeatureCache::least_rows, 2)};
  std::vector<pid_t> children;
  for (int who = 0; who < 4; ++who) {
    const pid_t child = fork();
    if (child == 0) {
      for (int round = 0; round < 6; ++round) {
        FeatureCache cache = setup.cache();
        if (who < 2)
          cache.write(markets[who].tape, markets[who].features);
        else if (const auto found = cache.read(); found && !same(*found, markets[0]) && !same(*found, markets[1]))
          _exit(2);
        if (!cache.problem().empty()) _exit(3);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
  }
  REQUIRE(setup.cache().read());
  REQUIRE(std::distance(std::filesystem::directory_iterator(setup.kept), {}) == 1);
}

TEST_CASE("cache: where it lies by default") {
  const auto folder = [](const char* xdg, const char* home, const char* setting) {
    const std::string old_home = std::getenv("HOME") ? std::getenv("HOME") : "";
    setenv("XDG_CACHE_HOME", xdg, 1), setenv("HOME", home, 1);
    const auto found = cache_folder(setting);
    unsetenv("XDG_CACHE_HOME"), setenv("HOME", old_home.c_str(), 1);
    return found;
  };
  CHECK(folder("/x", "/home/a", "auto") == "/x/foxhunt");
  CHECK(folder("", "/home/a", "auto") == "/home/a/.cache/foxhunt");
  CHECK(folder("relative", "/home/a", "auto") == "/home/a/.cache/foxhunt");
  CHECK(folder("", "", "auto").empty());
  CHECK(folder("/x", "/home/a", "off").empty());
  CHECK(folder("/x", "/home/a", "").empty());
  CHECK(folder("/x", "/home/a", "here") == "here");
}

TEST_CASE("cache: cold and warm start of a million rows", "[.benchmark]") {
  const test::TemporaryFolder folder;
  SynthOptions options;
  options.sessions = 2600;
  write_bars(synthesize(options), folder / "bars.csv");
  auto seconds = [start = std::chrono::steady_clock::now()]() mutable {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(start, now)).count();
  };
  PreparedMarket cold;
  cold.tape = make_tape(read_bars(folder / "bars.csv"), contract_for("ES"), {});
  cold.features = make_features(cold.tape, {0, static_cast<std::int64_t>(cold.tape.rows()) * 7 / 10}, 5);
  const double cold_seconds = seconds();
  FeatureCache(folder / "cache", folder / "bars.csv", "").write(cold.tape, cold.features);
  const double write_seconds = seconds();
  FeatureCache cache(folder / "cache", folder / "bars.csv", "");
  REQUIRE(cache.read());
  const double warm_seconds = seconds();
  std::cout << fmt::format("{} rows: cold {:.3f} s, writing {:.3f} s, warm {:.3f} s, {:.0f} times faster\n",
                           cold.tape.rows(), cold_seconds, write_seconds, warm_seconds, cold_seconds / warm_seconds);
}

}  // namespace foxhunt::market

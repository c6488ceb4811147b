#include "core/market/text_source.h"
#include "tests/market/csv_text.h"

namespace foxhunt::market {
namespace {

std::string read_source(const std::filesystem::path& file, std::size_t step) {
  TextSource source(file);
  std::string text, part(step, '\0');
  while (const std::size_t got = source.read(part.data(), part.size())) text.append(part, 0, got);
  return text;
}

}  // namespace

TEST_CASE("csv: gzip of one or many members, with zeros after them, at any read size") {
  std::mt19937_64 random(test::seed());
  const test::TemporaryFolder folder;
  std::string text;
  while (text.size() < 400'000) text += std::to_string(random() % 1000) + ",";
  const std::string half = text.substr(0, text.size() / 2), rest = text.substr(text.size() / 2);
  const std::string files[] = {gzip(text),
                               gzip(half) + gzip(rest),
                               gzip(half) + gzip("") + gzip(rest),
                               gzip(text) + std::string(1000, '\0'),
                               gzip(half) + std::string(9, '\0') + gzip(rest),
                               text};
  for (const std::string& bytes : files) {
    write_text(folder / "a", bytes);
    for (const std::size_t step : {std::size_t{1'000}, std::size_t{99'991}, std::size_t{1} << 20})
      REQUIRE(read_source(folder / "a", step) == text);
  }
  for (const char* tiny : {"a", "\x1F", "ab"}) {
    write_text(folder / "a", tiny);
    REQUIRE(read_source(folder / "a", 10) == tiny);
  }
}

TEST_CASE("csv: gzip that is cut short keeps what came before, when it is asked to") {
  std::mt19937_64 random(test::seed());
  const Bars bars = random_bars(3000, random);
  const std::string bytes = gzip(csv_text(bars, {}));
  const test::TemporaryFolder folder;
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t size = bytes.size() / 4 + random() % (bytes.size() * 3 / 4);
    write_text(folder / "bars.csv.gz", bytes.substr(0, size));
    const std::string file = (folder / "bars.csv.gz").string();
    require_says(error_of(ExitCode::data, [&] { read_bars(file); }),
                 {file, "gzip data is cut short at byte " + std::to_string(size)});
    ReadOptions options;
    options.on_damage = DamagePolicy::keep_start;
    options.csv.stamp = "open";
    const Bars read = read_bars(file, options);
    REQUIRE(read.size() > 200);
    REQUIRE(read.size() <= bars.size());
    for (std::size_t i = 0; i < read.size(); ++i) REQUIRE(read.volume[i] == bars.volume[i]);
    require_says(read.notes.at(0), {file, "cut short at byte", fmt::format("kept the {} rows", read.size())});
  }
}

TEST_CASE("csv: a flipped bit anywhere in gzip data is noticed") {
  std::mt19937_64 random(test::seed());
  const std::string text = csv_text(random_bars(300, random), {}), bytes = gzip(text);
  const test::TemporaryFolder folder;
  ReadOptions keep;
  keep.on_damage = DamagePolicy::keep_start;
  int kept = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::string damaged = bytes;
    const std::size_t at = 10 + random() % (bytes.size() - 10);  // the header's time and name are not covered
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    write_text(folder / "bars.csv.gz", damaged);
    INFO("byte " << at);
    error_of(ExitCode::data, [&] { read_bars(folder / "bars.csv.gz"); });
    // Where damage begins is not known, so nothing is kept, unless it looks like an early end: then that is said.
    try {
      const Bars read = read_bars(folder / "bars.csv.gz", keep);
      require_says(read.notes.at(0), {"gzip data is cut short"});
      kept += 1;
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::data);
    }
  }
  REQUIRE(kept < 30);
  write_text(folder / "bars.csv.gz", bytes + "more");
  require_says(error_of(ExitCode::data, [&] { read_bars(folder / "bars.csv.gz"); }), {"damaged gzip data"});
}

TEST_CASE("csv: progress is told, and ends at the file's size") {
  std::mt19937_64 random(test::seed());
  const std::string text = csv_text(random_bars(20'000, random), {});
  for (const std::string& bytes : {text, gzip(text)}) {
    std::uint64_t last = 0, total = 0, calls = 0;
    ReadOptions options;
    options.progress = [&](std::uint64_t done, std::uint64_t of) {
      REQUIRE(done >= last);
      last = done, total = of, ++calls;
    };
    read_csv_text(bytes, options);
    REQUIRE(calls > 0);
    REQUIRE(total == bytes.size());
    REQUIRE(last == total);
  }
}

TEST_CASE("csv: a folder's only CSV file may be gzip") {
  std::mt19937_64 random(test::seed());
  const Bars bars = random_bars(50, random);
  const test::TemporaryFolder folder;
  write_text(folder / "bars.csv.gz", gzip(csv_text(bars, {})));
  ReadOptions options;
  options.csv.stamp = "open";
  REQUIRE(same_bars(read_bars(folder.path(), options), bars));
}

}  // namespace foxhunt::market

// The same bars in every way of writing them, and every cut of a file.
#include "tests/market/csv_text.h"

namespace foxhunt::market {
namespace {

CsvStyle random_style(std::mt19937_64& random) {
  const auto coin = [&] { return random() % 2 == 0; };
  CsvStyle style;
  style.time = static_cast<TimeFormat>(random() % 6);
  style.header = coin(), style.newest_first = coin(), style.crlf = coin(), style.byte_order_mark = coin();
  style.quotes = coin(), style.blank_lines = coin(), style.last_line_ends = coin();
  switch (random() % 5) {
    case 0:
      style.exponents = true;
      break;
    case 1:
      style.long_decimals = true;
      break;
    case 2:
      style.thousands = true;
      break;
    case 3:
      style.comma_decimals = true, style.thousands = coin();
      break;
  }
  const char separators[] = {',', ';', '\t', '|'};
  style.separator = separators[random() % 4];
  // A comma inside a number needs another separator, or quotes.
  if (style.separator == ',' && style.thousands) style.quotes = true;
  if (style.separator == ',' && style.comma_decimals) style.separator = ';';
  return style;
}

ReadOptions options_for(const CsvStyle& style) {
  ReadOptions options;
  options.csv.stamp = "open";
  if (style.comma_decimals) options.csv.decimal = "comma";
  return options;
}

}  // namespace

TEST_CASE("csv: the same bars in every way of writing them") {
  std::mt19937_64 random(test::seed());
  for (int trial = 0; trial < 300; ++trial) {
    const Bars bars = random_bars(3 + random() % 40, random);
    const CsvStyle style = random_style(random);
    const std::string text = csv_text(bars, style);
    INFO("trial " << trial << ":\n" << text);
    const Bars read = read_csv_text(text, options_for(style));
    REQUIRE(same_bars(read, bars));
    REQUIRE(read.rejects.empty());
    REQUIRE(same_bars(read_csv_text(gzip(text), options_for(style)), bars));
  }
}

TEST_CASE("csv: any cut of a file is an error, or the bars before it") {
  std::mt19937_64 random(test::seed());
  const Bars bars = random_bars(6, random);
  for (const bool crlf : {false, true}) {
    CsvStyle style;
    style.crlf = crlf;
    const std::string text = csv_text(bars, style);
    for (std::size_t size = 0; size < text.size(); ++size) {
      INFO("cut at " << size);
      for (const DamagePolicy policy : {DamagePolicy::fail, DamagePolicy::keep_start}) {
        const test::TemporaryFolder folder;
        write_text(folder / "bars.csv", text.substr(0, size));
        ReadOptions options = options_for(style);
        options.on_damage = policy;
        try {
          const Bars read = read_bars(folder / "bars.csv", options);
          REQUIRE(read.size() >= 2);
          REQUIRE(read.size() <= bars.size());
          // The last row's last field, the volume, may have lost digits: that cannot be seen.
          for (std::size_t i = 0; i < read.size(); ++i) {
            REQUIRE(read.ts_open[i] == bars.ts_open[i]);
            REQUIRE(read.close[i] == bars.close[i]);
            if (i + 1 < read.size()) REQUIRE(read.volume[i] == bars.volume[i]);
          }
        } catch (const Error& error) {
          REQUIRE(error.code() == ExitCode::data);
          // With rows enough before the cut, the start is kept when it is asked for.
          const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '\n');
          if (policy == DamagePolicy::keep_start) REQUIRE(lines < 3);
        }
      }
    }
  }
}

TEST_CASE("csv: what is lost of a file that is cut short is said") {
  const std::string text =
      "time,open,high,low,close\n2024-01-08 00:00,5,5,5,5\n2024-01-08 00:01,5,5,5,5\n2024-01-08 00:0";
  require_says(csv_refusal(text), {"line 4", "1 fields, expected 5", "no end", "data.on_error"});
  ReadOptions options;
  options.on_damage = DamagePolicy::keep_start;
  const Bars bars = read_csv_text(text, options);
  REQUIRE(bars.size() == 2);
  require_says(bars.notes.at(0), {"cut short in line 4", "15 bytes", "kept the 2 rows"});
  // A line that is wrong and whole is no cut.
  require_says(csv_refusal(text + "\n", options), {"line 4"});
  // Nor is one before the end.
  require_says(csv_refusal(text + "\n2024-01-08 00:03,5,5,5,5", options), {"line 4"});
}

TEST_CASE("csv: random bytes are an error, never a crash") {
  std::mt19937_64 random(test::seed());
  const std::string alphabet = "0123456789.,;:\"'-+eE \t\r\n#nanT\xEF\xBB\xBF\x1F\x8B\xFF";
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = random() % 2 ? "time,open,high,low,close,volume\n" : "";
    for (std::size_t size = random() % 200; size > 0; --size) text += alphabet[random() % alphabet.size()];
    const test::TemporaryFolder folder;
    write_text(folder / "bars.csv", text);
    INFO(text);
    try {
      read_bars(folder / "bars.csv");
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::data);
    }
  }
}

TEST_CASE("csv: damage to any byte of a file is an error, or bars that can be true") {
  std::mt19937_64 random(test::seed());
  const Bars bars = random_bars(20, random);
  const std::string text = csv_text(bars, {});
  for (int trial = 0; trial < 2000; ++trial) {
    std::string damaged = text;
    for (std::size_t k = 1 + random() % 3; k > 0; --k) damaged[random() % text.size()] = static_cast<char>(random());
    const test::TemporaryFolder folder;
    write_text(folder / "bars.csv", damaged);
    try {
      const Bars read = read_bars(folder / "bars.csv");
      make_tape(read, contract_for("ES"), {});
      for (std::size_t i = 0; i < read.size(); ++i) REQUIRE(read.high[i] >= read.low[i]);
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::data);
    }
  }
}

}  // namespace foxhunt::market

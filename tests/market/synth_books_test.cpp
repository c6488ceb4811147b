#include "core/checksum.h"
#include "core/market/book_tape.h"
#include "core/market/byte_source.h"
#include "core/market/dbn_book_writer.h"
#include "tests/market/book_fixture.h"
#include "tests/market/synth_fixture.h"

namespace foxhunt::market {
namespace {

SynthOptions whole_market(MarketKind kind, std::int64_t sessions = 10) {
  SynthOptions options;
  options.kind = kind;
  options.sessions = sessions;
  options.seed = test::seed();
  options.holes = options.roll = false;
  return options;
}

/// Sum of best bid and ask in ticks: twice the mid.
std::int64_t mid(const Books& books, std::size_t i) { return (books.row(i)->bid + books.row(i)->ask) / 250'000'000; }

/// The side of the larger best size.
int pressure(const Books& books, std::size_t i) { return books.row(i)->bid_size > books.row(i)->ask_size ? 1 : -1; }

bool same_session(const Books& books, std::size_t i, std::size_t j) {
  return j < books.rows() && utc_day(books.ts_recv[i]) == utc_day(books.ts_recv[j]);
}

/// How often the next row's mid, if it differs, lies on the side of the pressure.
Share edge_of(const Books& books) {
  Share share;
  for (std::size_t i = 0; i + 1 < books.rows(); ++i)
    if (same_session(books, i, i + 1) && mid(books, i) != mid(books, i + 1))
      share.add((mid(books, i + 1) > mid(books, i)) == (pressure(books, i) > 0));
  return share;
}

struct Mean {
  double n = 0, sum = 0, squares = 0;
  void add(double x) { ++n, sum += x, squares += x * x; }
  double value() const { return sum / n; }
  double standard_error() const { return std::sqrt((squares / n - value() * value()) / n); }
};

/// Ticks that the mid goes the pressure's way in the next `rows` rows, over stretches that do not overlap.
Mean way_of_pressure(const Books& books, std::size_t rows) {
  Mean mean;
  for (std::size_t i = 0; i + rows < books.rows(); i += rows)
    if (same_session(books, i, i + rows))
      mean.add(static_cast<double>(pressure(books, i) * (mid(books, i + rows) - mid(books, i))) / 2);
  return mean;
}

/// How often the pressure points back to the mid of row `start(i)` from one that is more than two ticks away, over rows
/// of every other stretch of a regime.
template <class Start>
Share pressure_back(const Books& books, std::int64_t parity, Start start) {
  Share share;
  for (std::size_t i = 0; i < books.rows(); ++i) {
    const std::size_t from = start(i);
    const std::int64_t back = mid(books, from) - mid(books, i);
    if (!same_session(books, from, i) || std::abs(back) <= 4) continue;
    if (static_cast<std::int64_t>(i) / regime_rows % 2 == parity) share.add((back > 0) == (pressure(books, i) > 0));
  }
  return share;
}

}  // namespace

TEST_CASE("synth: books of the same seed are the same, on every platform, of another seed others") {
  SynthOptions options;
  options.sessions = 3, options.rows = 500;
  const std::string bytes = encode_dbn_books(synthesize_books(options));
  REQUIRE(bytes == encode_dbn_books(synthesize_books(options)));
  CHECK(xxh64(std::as_bytes(std::span(bytes))) == 0x35993ca76362c1e);
  options.seed = 2;
  REQUIRE(bytes != encode_dbn_books(synthesize_books(options)));
}

TEST_CASE("synth: bundled books can be made again") {
  SynthOptions options;
  options.sessions = 6, options.rows = 6'000, options.strength = 0.5;
  const std::filesystem::path file = test::source_dir() / "test_data" / "alpha-baseline" / "es-baseline.mbp-10.dbn.zst";
  const std::string expected = encode_dbn_books(synthesize_books(options));
  std::string bundled(expected.size() + 1, '\0');
  bundled.resize(ByteSource(file).read(bundled.data(), bundled.size()));
  REQUIRE(bundled == expected);
  REQUIRE(std::filesystem::file_size(file) < 2'000'000);
}

TEST_CASE("synth: every book is one that a venue could show") {
  SynthOptions options;
  options.seed = test::seed();
  const Books books = synthesize_books(options);
  REQUIRE(books.rows() == 300'000);
  std::size_t wrong = 0, one_sided = 0, thin = 0, together = 0;
  for (std::size_t i = 0; i < books.rows(); ++i) {
    const BookLevel* row = books.row(i);
    wrong += !(row->has_bid() || row->has_ask());
    wrong += row->has_bid() && row->has_ask() && !(row->bid < row->ask);
    for (int l = 0; l < 10; ++l) {
      wrong += row[l].has_bid() && (row[l].bid % 250'000'000 != 0 || row[l].bid_count < 1 ||
                                    row[l].bid_count > row[l].bid_size || (l && row[l].bid >= row[l - 1].bid));
      wrong += row[l].has_ask() && (row[l].ask % 250'000'000 != 0 || row[l].ask_count < 1 ||
                                    row[l].ask_count > row[l].ask_size || (l && row[l].ask <= row[l - 1].ask));
    }
    one_sided += !books.two_sided(i);
    thin += books.two_sided(i) && !(row[9].has_bid() && row[9].has_ask());
    if (i) together += books.ts_recv[i] == books.ts_recv[i - 1];
    wrong += books.ts_event[i] >= books.ts_recv[i];
  }
  REQUIRE(wrong == 0);
  REQUIRE(std::is_sorted(books.ts_recv.begin(), books.ts_recv.end()));
  // 234, 469 and 15,000 are expected; four standard deviations are 61, 87 and 478.
  REQUIRE(std::abs(static_cast<double>(one_sided) - 234) < 61);
  REQUIRE(std::abs(static_cast<double>(thin) - 469) < 87);
  REQUIRE(std::abs(static_cast<double>(together) - 15'000) < 478);
  REQUIRE(books.symbols == std::map<std::uint32_t, std::string>{{1001, "ESH4"}, {1002, "ESM4"}});
}

TEST_CASE("synth: sessions of books, with a halt and a roll, become those of a tape") {
  SynthOptions options;
  options.sessions = 6, options.rows = 2'000;
  const Tape tape = make_book_tape(synthesize_books(options), contract_for("ES"), {});
  REQUIRE(tape.session.back() + 1 == 7);  // the halt splits one day
  REQUIRE(std::count_if(tape.flags.begin(), tape.flags.end(), [](std::uint8_t flags) { return flags & roll; }) == 1);
  options.holes = options.roll = false;
  const Books whole = synthesize_books(options);
  const Tape plain = make_book_tape(whole, contract_for("ES"), {});
  REQUIRE(plain.session.back() + 1 == 6);
  REQUIRE(plain.rows() == 12'000);
  REQUIRE(std::all_of(whole.level.begin(), whole.level.end(),
                      [](const BookLevel& level) { return level.has_bid() && level.has_ask(); }));
}

TEST_CASE("synth: books come five a second, faster at both ends of the session") {
  const Books books = synthesize_books(whole_market(MarketKind::walk, 1));
  const auto span = [&](std::size_t from, std::size_t to) {
    return static_cast<double>(books.ts_recv[to] - books.ts_recv[from]) / ns_per_second;
  };
  INFO("seed " << test::seed() << " span " << span(0, 9'999) << " s");
  REQUIRE(std::abs(span(0, 9'999) / 2'000 - 1) < 0.06);  // four standard errors, of a coefficient of variation near 1.4
  REQUIRE(span(4'500, 5'500) > 1.8 * span(0, 1'000));
  REQUIRE(span(4'500, 5'500) > 1.8 * span(8'999, 9'999));
}

// Four standard errors: of a right generator one seed in 3,000 fails one of these.
TEST_CASE("synth: the larger best size leads the next move as often as the edge says") {
  const auto require_edge = [](const SynthOptions& options, double edge) {
    const Share share = edge_of(synthesize_books(options));
    const double expected = (1 + edge) / 2;
    INFO(market_kind_name(options.kind) << " edge " << edge << ": " << share.value() << " of " << share.count()
                                        << ", seed " << test::seed());
    CHECK(share.count() > 19'000);
    CHECK(std::abs(share.value() - expected) < 4 * share.standard_error(expected));
  };
  require_edge(whole_market(MarketKind::baseline), 0.2);
  require_edge(whole_market(MarketKind::trend), 0.4);
  require_edge(whole_market(MarketKind::revert), 0.4);
  require_edge(whole_market(MarketKind::regime), 0.4);
  require_edge(whole_market(MarketKind::skewed), 0.9);
  require_edge(whole_market(MarketKind::walk), 0.0);
  SynthOptions strong = whole_market(MarketKind::trend);
  strong.strength = 0.8;
  require_edge(strong, 0.8);
  strong.strength = 0.0;
  require_edge(strong, 0.0);
}

TEST_CASE("synth: the mid goes the pressure's way as far as the formula says") {
  for (const auto& [kind, edge, renewal] :
       {std::tuple{MarketKind::baseline, 0.2, 50.0}, {MarketKind::trend, 0.4, 500.0}}) {
    const Books books = synthesize_books(whole_market(kind, 50));
    for (const std::size_t rows : {1, 10, 100}) {
      const Mean way = way_of_pressure(books, rows);
      const double expected = 0.1753 * edge * (1 - std::pow(1 - 1 / renewal, static_cast<double>(rows))) * renewal;
      INFO(market_kind_name(kind) << " " << rows << " rows: " << way.value() << " expected " << expected << " +- "
                                  << way.standard_error() << " seed " << test::seed());
      CHECK(way.value() > 4 * way.standard_error());
      CHECK(std::abs(way.value() - expected) < 4 * way.standard_error());
    }
  }
}

TEST_CASE("synth: books of a walk know nothing of what comes, one row ahead or a hundred") {
  for (const std::size_t rows : {1, 10, 100}) {
    double sizes = 0, flow = 0, past = 0;
    for (const std::uint64_t seed : market_seeds(20)) {
      SynthOptions options = whole_market(MarketKind::walk, 2);
      options.seed = seed;
      const Books books = synthesize_books(options);
      const Mean way = way_of_pressure(books, rows);
      sizes += way.value() / way.standard_error();
      Correlation of_flow, of_past;
      for (std::size_t i = rows; i + rows < books.rows(); i += rows) {
        if (!same_session(books, i - rows, i + rows)) continue;
        const auto next = static_cast<double>(mid(books, i + rows) - mid(books, i));
        of_flow.add(static_cast<double>(books.buy_volume[i]) - books.sell_volume[i], next);
        of_past.add(static_cast<double>(mid(books, i) - mid(books, i - rows)), next);
      }
      flow += of_flow.value() / of_flow.standard_error();
      past += of_past.value() / of_past.standard_error();
    }
    INFO(rows << " rows, seed " << test::seed() << ", sums of 20: " << sizes << " " << flow << " " << past);
    for (const double sum : {sizes, flow, past}) CHECK(std::abs(sum) < 4 * std::sqrt(20.0));
  }
}

TEST_CASE("synth: trades take the best price, mostly from the side of the pressure, and tell of what comes") {
  const Books books = synthesize_books(whole_market(MarketKind::baseline));
  Share with, moves;
  Correlation next;
  std::size_t off_price = 0;
  for (std::size_t i = 0; i + 10 < books.rows(); ++i) {
    const std::uint32_t bought = books.buy_volume[i], sold = books.sell_volume[i];
    off_price += bought && sold;
    if (i && same_session(books, i - 1, i)) moves.add(mid(books, i) != mid(books, i - 1));
    if (bought + sold == 0) continue;
    off_price += books.trade_price[i] != (bought ? books.row(i)->ask : books.row(i)->bid);
    with.add((bought > 0) == (pressure(books, i) > 0));
    next.add(bought ? 1 : -1, static_cast<double>(mid(books, i + 10) - mid(books, i)));
  }
  INFO("seed " << test::seed() << " with " << with.value() << " moves " << moves.value() << " next " << next.value());
  REQUIRE(off_price == 0);
  CHECK(std::abs(with.value() - 0.75) < 4 * with.standard_error(0.75));
  CHECK(std::abs(moves.value() - 0.2) < 4 * moves.standard_error(0.2));
  CHECK(next.value() > 6 * next.standard_error());
}

TEST_CASE("synth: of a skewed book 95 moves in 100 are up") {
  const Books books = synthesize_books(whole_market(MarketKind::skewed));
  Share up;
  for (std::size_t i = 1; i < books.rows(); ++i)
    if (same_session(books, i - 1, i) && mid(books, i) != mid(books, i - 1)) up.add(mid(books, i) > mid(books, i - 1));
  INFO("seed " << test::seed() << " up " << up.value());
  REQUIRE(std::abs(up.value() - 0.95) < 4 * up.standard_error(0.95));
}

// The pressure is looked up every 50 rows, so it is often older than the mid: it points back more often than not, but
// not always. Pressure that lasts, and that the mid follows, points away from where the mid was.
TEST_CASE("synth: pressure of revert points to the opening mid, that of regime to where its stretch began") {
  const Books revert = synthesize_books(whole_market(MarketKind::revert, 20));
  const auto opening = [](std::size_t i) { return i / 10'000 * 10'000; };
  const Books regime = synthesize_books(whole_market(MarketKind::regime, 20));
  const auto stretch = [](std::size_t i) { return i / regime_rows * regime_rows; };
  const double even = pressure_back(revert, 0, opening).value(), odd = pressure_back(revert, 1, opening).value();
  const double baseline = pressure_back(regime, 0, stretch).value();
  const double reversion = pressure_back(regime, 1, stretch).value();
  INFO("seed " << test::seed() << " revert " << even << " " << odd << " regime " << baseline << " " << reversion);
  CHECK(even > 0.6);
  CHECK(odd > 0.6);
  CHECK(baseline < 0.48);
  CHECK(reversion > 0.6);
}

TEST_CASE("synth: wrong options of books are refused") {
  const auto refused = [](std::int64_t sessions, std::int64_t rows, MarketKind kind = MarketKind::walk,
                          std::optional<double> strength = {}) {
    SynthOptions options;
    options.sessions = sessions, options.rows = rows, options.kind = kind, options.strength = strength;
    return error_of(ExitCode::usage, [&] { synthesize_books(options); });
  };
  require_says(refused(1, 1), {"rows", "got 1"});
  require_says(refused(1, 100'001), {"rows", "100001"});
  require_says(refused(101, 100'000), {"101 sessions", "10000000 rows"});
  require_says(refused(0, 100), {"sessions", "got 0"});
  require_says(refused(1, 100, MarketKind::walk, 0.2), {"walk", "no strength"});
  require_says(refused(1, 100, MarketKind::trend, std::nan("")), {"strength"});
}

}  // namespace foxhunt::market

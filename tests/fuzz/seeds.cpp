// The seeds are made, not kept: a change of a format then changes them too.
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/market/byte_source.h"
#include "core/market/cache_file.h"
#include "core/market/dbn_writer.h"
#include "core/market/features.h"
#include "core/market/synth.h"
#include "core/run/safetensors.h"
#include "tests/fuzz/target.h"
#include "tests/market/dbn_bytes.h"

namespace foxhunt::fuzz {
namespace {

using namespace market;
using Seeds = std::vector<std::string>;

constexpr std::int64_t monday = 1'704'672'000'000'000'000, second = 1'000'000'000;

const std::filesystem::path source_folder = FOXHUNT_SOURCE_DIR;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Up to the end of a line near `size` bytes.
std::string first_lines(const std::string& text, std::size_t size) { return text.substr(0, text.find('\n', size) + 1); }

std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Bars small_market(std::size_t rows) {
  SynthOptions options;
  options.sessions = 1;
  Bars bars = synthesize(options);
  Bars few = without_rows(bars);
  for (std::size_t i = 0; i < rows; ++i) append(few, bar_at(bars, i));
  return few;
}

std::string bars_of_test_data() {
  ByteSource source(source_folder / "test_data/futures-baseline/es-baseline.ohlcv-1m.dbn.zst");
  std::string bytes(4096, '\0');
  bytes.resize(source.read(bytes.data(), bytes.size()));
  return bytes.substr(0, bytes.size() - bytes.size() % 4);
}

std::vector<BookLevel> levels_around(std::int64_t price, std::size_t depth) {
  std::vector<BookLevel> levels(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    const auto away = static_cast<std::int64_t>(i) * 250'000'000;
    levels[i] = {price - away, price + 250'000'000 + away, 10, 30, 1, 2};
  }
  return levels;
}

/// Four events, one of them a trade, of two instruments.
std::vector<Event> events() {
  std::vector<Event> list;
  for (std::int64_t k = 0; k < 6; ++k) {
    Event event;
    event.ts = monday + k * second, event.price = (100 + k) * second, event.order = static_cast<std::uint64_t>(k % 4);
    event.action = "AATMCR"[k], event.side = "BABANN"[k], event.size = 3, event.instrument = k == 5 ? 2 : 1;
    list.push_back(event);
  }
  return list;
}

/// A file of some schema, one record an event.
std::string dbn_events(DbnLayout layout, const std::function<std::string(const Event&)>& record) {
  layout.instruments = {{"ESH4", 1}, {"NQH4", 2}};
  std::string bytes = dbn_metadata_bytes(layout);
  for (const Event& event : events()) bytes += record(event);
  return bytes;
}

/// A definition of 360, 400 or 520 bytes: its strings are where any of the three may look for them.
std::string dbn_definition(std::size_t size) {
  std::string bytes;
  put_header(bytes, size, 0x13, events()[0]);
  put(bytes, std::uint64_t{5}), put(bytes, std::int64_t{250'000'000});
  while (bytes.size() < 184) put(bytes, std::int64_t{50'000'000'000});
  while (bytes.size() + 8 <= size) bytes += std::string("USD\0ESH4", 8);
  bytes.resize(size);
  return bytes;
}

Seeds dbn_seeds() {
  const auto mbp = [](std::size_t depth, bool ts_out = false) {
    return [=](const Event& event) { return dbn_mbp_bytes(event, levels_around(event.price, depth), ts_out); };
  };
  Seeds seeds{bars_of_test_data(), encode_dbn(small_market(20))};
  for (const std::uint8_t version : {1, 2, 3}) {
    seeds.push_back(dbn_file({bar_at(small_market(1), 0)}, {version, 6, version == 2}));
    seeds.push_back(dbn_events({version, 2, false}, mbp(10)));
    seeds.push_back(dbn_metadata_bytes({version, 9}) + dbn_definition(version == 1 ? 360 : version == 2 ? 400 : 520));
  }
  seeds.push_back(dbn_events({3, 1, true}, mbp(1, true)));
  seeds.push_back(dbn_events({3, 4, false}, mbp(0)));
  seeds.push_back(dbn_events({3, 0, false}, dbn_mbo_bytes));
  seeds.push_back(dbn_events({3, 0xFFFF, false}, [](const Event& event) {
    return dbn_mbo_bytes(event) + dbn_mbp_bytes(event, {}) + dbn_record_bytes(0x16, 44) + dbn_record_bytes(0x99, 6);
  }));
  for (std::size_t i = 0, plain = seeds.size(); i < plain; i += 3)
    seeds.push_back(zstd_frame(seeds[i].substr(0, 200)) + skippable_frame("x") + zstd_frame(seeds[i].substr(200)));
  seeds.push_back("DBN\x03");                                       // cut in the prefix
  seeds.push_back(std::string("DBN\x02\xF0\xFF\xFF\xFF", 8));       // metadata longer than the file
  seeds.push_back(std::string("\x50\x2A\x4D\x18\4\0\0\0DBZ", 12));  // a legacy file
  return seeds;
}

Seeds csv_seeds() {
  const std::string bars =
      first_lines(text_of(source_folder / "test_data/futures-baseline/es-baseline.ohlcv-1m.csv"), 1500);
  const std::string book =
      "ts_recv,ts_event,action,side,price,size,bid_px_00,ask_px_00,bid_sz_00,ask_sz_00,bid_px_01,ask_px_01,symbol\n"
      "2024-01-08T15:00:00.1Z,2024-01-08T15:00:00Z,T,B,100.25,2,100,100.25,3,4,99.75,100.5,ESH4\n"
      "2024-01-08T15:00:00.2Z,2024-01-08T15:00:00Z,A,N,,,100,,3,,99.75,100.5,ESH4\n";
  return {"00" + bars,
          "00" + gzip(bars),
          "00" + book,
          "00time,bid,ask\n1704726000,1.5,1.75\n1704726001,1.5,1.75\n",
          "00date;time;open;high;low;close;volume\n20240108;15:00;1;2;1;2;1.234\n20240108;15:01;1;2;1;2;5\n",
          "80" + std::string("\"08.01.2024 15:00:00\";\"1,5\";2;1;1,75;10\n08.01.2024 15:01:00;1,5;2;1;1,75;10\n"),
          "00# note\n\xEF\xBB\xBF<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\n2024.01.08\t15:00\t1\t2\t1\t2\n",
          "00unix,symbol,open,high,low,close,vwap\n1704726060000,ES,-1,2,-1,2,nan\n1704726000000,ES,1,2,1e0,2,1.5\n"};
}

Seeds fxcache_seeds() {
  Seeds seeds;
  for (const std::size_t rows : {3, 40}) {
    const Tape tape = make_tape(small_market(rows), contract_for("ES"), {});
    const FeatureTable features = make_features(tape, {0, static_cast<std::int64_t>(rows)}, 5);
    std::string& file = seeds.emplace_back();
    const CacheFileParts parts(tape, features, 7);
    for (const auto part : parts.parts()) file.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return seeds;
}

Seeds profile_seeds() {
  Seeds seeds;
  const std::string parent = text_of(source_folder / "profiles/dqn-baseline.toml");
  const std::string nothing(1, '\0');
  for (const auto& entry : std::filesystem::directory_iterator(source_folder / "profiles"))
    seeds.push_back(text_of(entry.path()));
  std::sort(seeds.begin(), seeds.end());
  seeds.push_back("extends = \"parent\"\n[network]\nhidden = [64, 64]\n" + nothing + parent + nothing +
                  "training.gamma=0.98" + nothing + "run.output=runs/a" + nothing + "environment.actions=[-1, 0, 1]");
  seeds.push_back("extends = './parent.toml'\nname = \"\"\"a\nb\"\"\"\n" + nothing + "extends = \"profile\"\n");
  seeds.push_back("[training]\nbatch_size = 1_000\n'quoted key' = inf\n[[data]]\nx.y.z = 1979-05-27\n");
  return seeds;
}

Seeds safetensors_seeds() {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("foxhunt-seed-" + std::to_string(::getpid()) + ".safetensors");
  const std::vector<float> weights{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> steps{7};
  const std::vector<run::TensorView> tensors{run::tensor_view<float>("weights", {2, 3}, weights),
                                             run::tensor_view<std::int64_t>("step", {}, steps),
                                             run::tensor_view<float>("none", {0, 3}, {})};
  run::save_safetensors(file, tensors, {{"profile", "dqn"}});
  const std::string own = text_of(file);
  std::filesystem::remove(file);
  const std::string header = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}} )";
  std::string foreign;
  put(foreign, std::uint64_t{header.size()});
  return {own, foreign + header + "xy"};
}

}  // namespace

std::vector<std::string> seeds(std::string_view target) {
  if (target == "csv") return csv_seeds();
  if (target == "dbn") return dbn_seeds();
  if (target == "fxcache") return fxcache_seeds();
  if (target == "profile") return profile_seeds();
  if (target == "safetensors") return safetensors_seeds();
  throw std::invalid_argument("no fuzz target " + std::string(target));
}

}  // namespace foxhunt::fuzz

#include "core/run/tensorboard.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/checksum.h"
#include "core/run/metrics_record.h"
#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using test::text_of;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

std::uint32_t crc(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

template <class T>
T read(const std::string& bytes, std::size_t at) {
  T value;
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The data of each frame; requires that lengths and masked checksums agree.
std::vector<std::string> records_of(const std::string& file) {
  const auto unmasked = [](std::uint32_t masked) {
    const std::uint32_t rotated = masked - 0xA282EAD8u;
    return (rotated >> 17) | (rotated << 15);
  };
  std::vector<std::string> records;
  for (std::size_t at = 0; at < file.size();) {
    const auto length = static_cast<std::size_t>(read<std::uint64_t>(file, at));
    REQUIRE(unmasked(read<std::uint32_t>(file, at + 8)) == crc(file.substr(at, 8)));
    REQUIRE(at + 12 + length + 4 <= file.size());
    records.push_back(file.substr(at + 12, length));
    REQUIRE(unmasked(read<std::uint32_t>(file, at + 12 + length)) == crc(records.back()));
    at += 12 + length + 4;
  }
  return records;
}

/// Prints one JSON line of what TensorBoard's own reader makes of the folder named by its argument.
constexpr const char* kReader = R"(
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator, SCALARS, HISTOGRAMS
from tensorboard.util import tensor_util
events = EventAccumulator(sys.argv[1], size_guidance={"tensors": 0, "scalars": 0, "histograms": 0}).Reload()
out = {}
for tag in events.Tags()["tensors"]:
    out[tag] = [[e.step, str(tensor_util.make_ndarray(e.tensor_proto).tolist())] for e in events.Tensors(tag)]
for tag in events.Tags()["scalars"]:
    out[tag] = [[e.step, str(e.value)] for e in events.Scalars(tag)]
for tag in events.Tags()["histograms"]:
    h = [(e.step, e.histogram_value) for e in events.Histograms(tag)]
    out[tag] = [[s, v.min, v.max, v.num, v.sum, v.sum_squares, list(v.bucket_limit), list(v.bucket)] for s, v in h]
print(json.dumps(out))
)";

std::string python() {
  const char* named = std::getenv("FOXHUNT_PYTHON");
  return named ? named : "python3";
}

/// What TensorBoard's reader makes of a folder; null, and the case skipped, where there is none.
nlohmann::json seen_by_tensorboard(const std::filesystem::path& folder) {
  if (std::system((python() + " -c 'import tensorboard' 2>/dev/null").c_str()) != 0) {
    test::skip("no Python with the module tensorboard (pip install tensorboard; FOXHUNT_PYTHON names one)");
    return nullptr;
  }
  test::TemporaryFolder scratch;
  std::ofstream(scratch / "read.py") << kReader;
  const std::string out = (scratch / "out.json").string();
  const int status = std::system((python() + " '" + (scratch / "read.py").string() + "' '" + folder.string() + "' >'" +
                                  out + "' 2>'" + (scratch / "err").string() + "'")
                                     .c_str());
  INFO(text_of(scratch / "err"));
  REQUIRE(status == 0);
  return nlohmann::json::parse(text_of(out));
}

}  // namespace

TEST_CASE("tensorboard: CRC-32C of the vectors of RFC 3720") {
  REQUIRE(crc("123456789") == 0xE3069283);
  REQUIRE(crc("") == 0);
  REQUIRE(crc(std::string(32, '\0')) == 0x8A9136AA);
  REQUIRE(crc(std::string(32, '\xFF')) == 0x62A8AB43);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  REQUIRE(crc(ascending) == 0x46DD794E);
}

TEST_CASE("tensorboard: frames carry their lengths and masked checksums, the version first") {
  test::TemporaryFolder folder;
  EventFile events(folder.path());
  REQUIRE(events.path().filename().string().starts_with("events.out.tfevents."));
  events.append(7, "train", std::vector<Metric>{{"loss", 0.5}, {"reward", kNaN}});
  events.append_histogram(8, "values", std::vector<double>{1, 2, 3});
  const std::vector<std::string> records = records_of(text_of(events.path()));
  REQUIRE(records.size() == 3);
  REQUIRE(records[0].find("brain.Event:2") != std::string::npos);
  REQUIRE(records[1].find("train/loss") != std::string::npos);
  REQUIRE(records[1].find("train/reward") != std::string::npos);
  REQUIRE(records[2].find("values") != std::string::npos);
}

TEST_CASE("tensorboard: two files of one process and second do not meet") {
  test::TemporaryFolder folder;
  EventFile first(folder.path()), second(folder.path());
  REQUIRE(first.path() != second.path());
}

TEST_CASE("tensorboard: a full disk is an error and leaves whole frames") {
  test::TemporaryFolder folder, scratch;
  const std::string error = test::error_with_file_limit(scratch / "result", 1000, [&] {
    EventFile events(folder.path());
    for (int step = 0; step < 100; ++step) events.append(step, "train", std::vector<Metric>{{"loss", 0.5}});
  });
  REQUIRE(error.starts_with("7 cannot append to "));
  const auto file = std::filesystem::directory_iterator(folder.path())->path();
  REQUIRE(records_of(text_of(file)).size() > 2);
}

TEST_CASE("tensorboard: its own reader finds every scalar and histogram, NaN and infinities included") {
  test::TemporaryFolder folder;
  {
    EventFile events(folder.path());
    events.append(7, "train", std::vector<Metric>{{"loss", 0.5}, {"reward", kNaN}, {"up", kInfinity}});
    events.append(1'000'000'000'000, "train", std::vector<Metric>{{"loss", -2}});
    events.append_histogram(8, "values", std::vector<double>{-1, 0, 0.25, kNaN, 2});
    events.append_histogram(9, "values", std::vector<double>{3, 3});
  }
  const nlohmann::json found = seen_by_tensorboard(folder.path());
  if (found.is_null()) return;
  INFO(found.dump());
  REQUIRE(found.at("train/loss") == nlohmann::json::parse(R"([[7, "0.5"], [1000000000000, "-2.0"]])"));
  REQUIRE(found.at("train/reward") == nlohmann::json::parse(R"([[7, "nan"]])"));
  REQUIRE(found.at("train/up") == nlohmann::json::parse(R"([[7, "inf"]])"));
  REQUIRE(found.at("values/nonfinite") == nlohmann::json::parse(R"([[8, "1.0"]])"));
  const auto& spread = found.at("values").at(0);
  REQUIRE(spread.at(0) == 8);
  REQUIRE(spread.at(1) == -1.0);
  REQUIRE(spread.at(2) == 2.0);
  REQUIRE(spread.at(3) == 4.0);
  REQUIRE(spread.at(4) == 1.25);
  REQUIRE(spread.at(5) == 5.0625);
  double counted = 0;
  for (const auto& count : spread.at(7)) counted += count.get<double>();
  REQUIRE(counted == 4.0);
  REQUIRE(spread.at(6).size() == 30);
  REQUIRE(spread.at(6).back() == 2.0);
  REQUIRE(found.at("values").at(1).at(7) == nlohmann::json::parse("[2.0]"));
}

TEST_CASE("tensorboard: of a run that went on from a checkpoint, its reader sees each step once") {
  test::TemporaryFolder folder;
  const RunDirectory directory = RunDirectory::create(folder.path(), "resumed");
  const auto train = [](MetricsRecord& record, double loss, std::initializer_list<std::int64_t> steps) {
    for (const std::int64_t step : steps) {
      record.append(step, std::vector<Metric>{{"loss", loss}});
      record.append_result(step, "validation", std::vector<Metric>{{"net_pnl", loss}});
      record.append_validation(step, std::vector<Metric>{{"net_pnl", loss}});
    }
    record.start_conclusion();
    record.append_result(30, "test", std::vector<Metric>{{"net_pnl", loss}});
  };
  {
    MetricsRecord record(directory);
    train(record, 1, {10, 20, 30});
  }
  const std::string whole = text_of(directory.metrics_file()), table = text_of(directory.metrics_table_file());
  rewind_metrics(directory, 20, 2);
  {
    MetricsRecord record(directory, 20);
    train(record, 2, {30});
  }
  rewind_metrics(directory, 30, 3);  // as it is, and it concludes once more
  {
    MetricsRecord record(directory, 30);
    train(record, 3, {});
  }
  REQUIRE(text_of(directory.metrics_file()) == whole.substr(0, whole.rfind("1")) + "2.0}\n");
  REQUIRE(text_of(directory.validation_file()) ==
          "{\"step\":10,\"net_pnl\":1.0}\n{\"step\":20,\"net_pnl\":1.0}\n{\"step\":30,\"net_pnl\":2.0}\n");
  REQUIRE(text_of(directory.metrics_table_file()) == table.substr(0, table.rfind("1")) + "2\n");
  const nlohmann::json found = seen_by_tensorboard(directory.path());
  if (found.is_null()) return;
  INFO(found.dump());
  for (const char* tag : {"train/loss", "validation/net_pnl"})
    REQUIRE(found.at(tag) == nlohmann::json::parse(R"([[10, "1.0"], [20, "1.0"], [30, "2.0"]])"));
  REQUIRE(found.at("test/net_pnl") == nlohmann::json::parse(R"([[30, "3.0"]])"));
}

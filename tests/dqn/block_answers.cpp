// Any block size gives the same answers. `block_answers write FILE` runs training iterations kernel by kernel and keeps
// what each kernel wrote; the same program linked with threaded blocks, `block_answers compare FILE`, runs them with
// blocks of 32 and of 96 threads and compares. Each comparison starts from the kept answers of the kernels before, so
// that differences of rounding do not add up.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/kernels.h"
#include "tests/dqn/training_fixture.h"

using namespace foxhunt;

namespace {

constexpr int iterations = 12;
constexpr float tolerance = 1e-4f;  // of the largest value of a tensor

struct Written {
  std::string name;
  DeviceSpan<std::byte> memory;
  enum { floats, episodes, integers } kind;
};

/// The spans that a launch wrote, but for the health word: floats and counters side by side, both compared already.
std::vector<Written> written_by(const Launch& launch) {
  std::vector<Written> result;
  for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
    const LaunchArgument& argument = launch.arguments[a];
    const std::string& name = launch.kernel->arguments[a].name;
    if (!argument.is_span || !argument.written || argument.size == 0 || name == "health") continue;
    auto* data = static_cast<std::byte*>(const_cast<void*>(argument.data));
    const bool structs = argument.bytes == argument.size * sizeof(Episode);
    result.push_back({launch.kernel->name + ": " + name,
                      {data, argument.bytes},
                      argument.is_float ? Written::floats
                      : structs         ? Written::episodes
                                        : Written::integers});
  }
  return result;
}

template <class T>
std::vector<T> as(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

/// Largest difference, as a part of the largest value; infinite where one is NaN and the other is not.
template <class T>
double difference(const std::vector<T>& a, const std::vector<T>& b) {
  double largest = 1e-30, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(T)) == 0) continue;
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(d <= apart)) apart = std::isnan(d) ? INFINITY : d;
  }
  for (const T& v : b)
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(static_cast<double>(v)));
  return apart / largest;
}

double difference(Written written, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (written.kind == Written::floats) return difference(as<float>(a), as<float>(b));
  if (written.kind == Written::integers) return a == b ? 0 : INFINITY;
  std::vector<double> values[2];
  for (int side = 0; side < 2; ++side)
    for (const Episode& e : as<Episode>(side == 0 ? a : b))
      values[side].insert(values[side].end(),
                          {e.equity, e.gross, e.peak, e.position, e.unrealised, e.last_reward,
                           static_cast<double>(e.steps), static_cast<double>(e.hold), static_cast<double>(e.trades)});
  return difference(values[0], values[1]);
}

class Answers {
 public:
  Answers(const std::string& file, bool write) : write_(write) {
    file_.open(file, std::ios::binary | (write ? std::ios::out | std::ios::trunc : std::ios::in));
    if (!file_) throw std::runtime_error("cannot open " + file);
  }

  /// Writes the answer down, or compares it with the one kept and takes that instead.
  void meet(Device& device, const Written& written) {
    std::vector<std::byte> bytes = device.download(DeviceSpan<const std::byte>(written.memory));
    if (write_) {
      file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    } else {
      std::vector<std::byte> kept(bytes.size());
      file_.read(reinterpret_cast<char*>(kept.data()), static_cast<std::streamsize>(kept.size()));
      if (!file_) throw std::runtime_error("the file of answers ends at " + written.name);
      const double apart = difference(written, bytes, kept);
      if (!(apart <= static_cast<double>(tolerance)))
        throw std::runtime_error(written.name + " differs by " + std::to_string(apart) + " of its largest value");
      device.upload(written.memory, kept);
    }
    ++met_;
  }
  int met() const { return met_; }

 private:
  bool write_;
  std::fstream file_;
  int met_ = 0;
};

int run_iterations(int block_threads, Answers& answers) {
  const profile::Profile profile =
      test::smoke_profile({"training.gpu_n_episodes=7", "training.buffer_size=70", "replay_buffer.buffer_size=70",
                           "training.batch_size=11", "training.min_replay_size=11", "network.hidden=[24, 40]",
                           "network.atoms=37", "network.spectral_norm=true", "loss.cql_weight=0.3"});
  const auto device = open_device("host", {.block_threads = block_threads});
  const dqn::LoadedMarket market = dqn::load_market(profile);
  dqn::Trainer trainer(*device, profile, market);
  trainer.initialise();
  for (int i = 0; i < iterations; ++i)
    for (const Launch& launch : trainer.agent().program().launches()) {
      device->submit(launch);
      if (!launch.kernel) continue;
      for (const Written& written : written_by(launch)) answers.meet(*device, written);
    }
  if (trainer.agent().health().counters[counter_updates] == 0) throw std::runtime_error("no iteration learnt");
  return answers.met();
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string mode = count == 3 ? arguments[1] : "";
  if (mode != "write" && mode != "compare") {
    std::cerr << "usage: block_answers write|compare FILE\n";
    return 2;
  }
  for (const int size : host_block_sizes()) {
    Answers answers(arguments[2], mode == "write");
    std::cout << "blocks of " << size << ": " << run_iterations(size, answers) << " answers "
              << (mode == "write" ? "kept" : "within tolerance") << "\n";
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/alpha/resident.h"

namespace foxhunt::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t tick = 250'000'000;
constexpr int snapshots_on_gpu = 100'000, snapshots_on_host = 5'000;
constexpr std::size_t warm_up = 1'000, tried_on_each_processor = 10'000;
constexpr double pause_noticed = 1.0;  // microseconds; a look at the clock, or at an answer, takes a twentieth

struct LatencyOptions {
  std::string device = "auto";
  int snapshots = 0, hidden = 128;     // snapshots 0: as many as the device makes sense of
  std::string processor = "quickest";  // of the GPU's host; or any, or its number
  bool json = false;
};

/// Books of a price that walks by ticks, with sizes that come and go.
std::vector<Mbp10RawInput> random_walk(std::size_t count) {
  std::mt19937 random(1);
  const auto below = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  std::vector<Mbp10RawInput> books(count);
  std::int64_t bid = 5000'000'000'000;
  Mbp10RawInput book{};
  for (Mbp10RawInput& next : books) {
    const std::int64_t step = below(4) == 0 ? (below(2) == 0 ? tick : -tick) : 0;
    bid += step;
    for (int l = 0; l < book_levels; ++l) {
      Mbp10Level& level = book.level[l];
      level.bid = bid - l * tick, level.ask = bid + (l + 1) * tick;
      if (step != 0 || below(3) == 0)
        level.bid_size = 1 + below(99), level.ask_size = 1 + below(99), level.bid_count = 1 + below(9),
        level.ask_count = 1 + below(9);
    }
    book.seconds = 1e-3f * static_cast<float>(1 + below(500));
    book.ts += std::llround(1e9 * static_cast<double>(book.seconds));
    book.trade_price = bid + tick * below(2), book.buy_volume = below(5), book.sell_volume = below(5);
    next = book;
  }
  books[0].first = 1;
  return books;
}

/// Times of some snapshots, in microseconds.
class Times {
 public:
  void add(double t) { sorted_.push_back(t); }
  void sort() { std::sort(sorted_.begin(), sorted_.end()); }
  std::size_t count() const { return sorted_.size(); }
  /// The smallest time that `share` of them did not exceed; NaN of none. After sort().
  double quantile(double share) const {
    if (sorted_.empty()) return std::nan("");
    const double rank = std::ceil(share * static_cast<double>(count()));
    return sorted_[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  }

 private:
  std::vector<double> sorted_;
};

/// The longest time between two looks of the host at an answer that is not there yet: how long it was paused.
class LongestGap {
 public:
  void look() { see(Clock::now()); }
  void see(Clock::time_point now) {
    if (last_ != Clock::time_point()) longest_ = std::max(longest_, now - last_);
    last_ = now;
  }
  double microseconds() const { return std::chrono::duration<double, std::micro>(longest_).count(); }

 private:
  Clock::time_point last_;
  Clock::duration longest_{0};
};

/// One form of the live path over all snapshots.
struct Measured {
  std::string form;
  std::vector<Prediction> answers;
  Times all;       ///< from the first byte written to the answer seen, warm-up left out
  Times unpaused;  ///< those of them in which the host never paused this thread while it waited for the answer

  /// answer(snapshot, meanwhile) returns the prediction and calls meanwhile() between looks for it.
  template <class Answer>
  Measured(std::string name, const std::vector<Mbp10RawInput>& books, const Answer& answer) : form(std::move(name)) {
    answers.resize(books.size());
    for (std::size_t i = 0; i < books.size(); ++i) {
      LongestGap gap;
      const auto start = Clock::now();
      answers[i] = answer(books[i], [&] { gap.look(); });
      const auto end = Clock::now();
      gap.see(end);
      if (i < warm_up) continue;
      const double time = std::chrono::duration<double, std::micro>(end - start).count();
      all.add(time);
      if (gap.microseconds() <= pause_noticed) unpaused.add(time);
    }
    all.sort();
    unpaused.sort();
  }
};

/// How often, and for how long, the host takes this thread off its processor: what falls into a snapshot's time is in
/// its latency, and no kernel can help it.
struct HostPauses {
  double a_second = 0, median_microseconds = 0;

  HostPauses() {
    constexpr auto watched = std::chrono::milliseconds(200);
    std::vector<double> pauses;
    const auto start = Clock::now();
    auto last = start;
    while (last - start < watched) {
      const auto now = Clock::now();
      const double gap = std::chrono::duration<double, std::micro>(now - last).count();
      if (gap > pause_noticed) pauses.push_back(gap);
      last = now;
    }
    a_second = static_cast<double>(pauses.size()) / std::chrono::duration<double>(watched).count();
    if (pauses.empty()) return;
    const auto middle = pauses.begin() + static_cast<std::ptrdiff_t>(pauses.size() / 2);
    std::nth_element(pauses.begin(), middle, pauses.end());
    median_microseconds = *middle;
  }
};

/// Processors that this thread may run on.
std::vector<int> allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  return processors;
}

bool stay_on(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  return sched_setaffinity(0, sizeof only, &only) == 0;
}

/// Keeps this thread on the processor of the lowest p99: how far one is from the card, and how often the host takes it
/// away, differs. Returns which.
template <class Answer>
int stay_on_quickest(const std::vector<Mbp10RawInput>& books, const Answer& answer) {
  int quickest = 0;
  double least = INFINITY;
  for (const int processor : allowed_processors()) {
    if (!stay_on(processor)) continue;
    const double p99 = Measured("", books, answer).all.quantile(0.99);
    if (p99 < least) least = p99, quickest = processor;
  }
  stay_on(quickest);
  return quickest;
}

/// A live model on memory of its own.
struct Live {
  Arena arena;
  alpha::LiveModel model;
  Live(Device& device, int hidden) : arena(device), model(device, {.hidden = hidden}, tick) {
    model.plan(arena);
    arena.commit();
    model.initialise(alpha::TrunkLayout(hidden).initial_parameters(1, alpha::TrunkShape{}.tau_min));
  }
};

void require_same_bits(const Measured& a, const Measured& b) {
  for (std::size_t i = 0; i < std::min(a.answers.size(), b.answers.size()); ++i) {
    const Prediction &x = a.answers[i], &y = b.answers[i];
    if (std::memcmp(&x, &y, sizeof x.probability + sizeof x.projection) != 0 || x.snapshot != y.snapshot)
      throw Error(ExitCode::device, fmt::format("bench latency: {} and {} differ in their answers to snapshot {}: the "
                                                "times would not be of the same work; run the tests on this device",
                                                a.form, b.form, i + 1));
  }
}

/// Where this thread is to run: "any", or the processor that it is kept on from now on.
std::string choose_processor(const LatencyOptions& o, Device& device, const std::vector<Mbp10RawInput>& books) {
  if (o.processor != "quickest" && o.processor != "any") {
    int number = -1;
    const auto [end, error] = std::from_chars(o.processor.data(), o.processor.data() + o.processor.size(), number);
    const bool whole = error == std::errc() && end == o.processor.data() + o.processor.size();
    if (whole && number >= 0 && number < CPU_SETSIZE && stay_on(number)) return o.processor;
    throw Error(ExitCode::usage,
                fmt::format("bench latency: --processor {}: expected quickest, any, or one of those that this process "
                            "may run on: {}",
                            o.processor, fmt::join(allowed_processors(), ", ")));
  }
  if (o.processor == "any" || !device.is_gpu()) return "any";  // the host's own blocks want all of them
  Live tried(device, o.hidden);
  tried.model.capture_graph_a();
  const std::size_t enough = std::min(books.size(), warm_up + tried_on_each_processor);
  return fmt::to_string(stay_on_quickest(
      {books.begin(), books.begin() + static_cast<std::ptrdiff_t>(enough)},
      [&](const Mbp10RawInput& book, const auto& meanwhile) { return tried.model.answer(book, meanwhile); }));
}

struct Quantile {
  const char *name, *key;
  double share;
};
constexpr std::array quantiles{Quantile{"p50", "p50_us", 0.5}, Quantile{"p99", "p99_us", 0.99},
                               Quantile{"p99.9", "p999_us", 0.999}, Quantile{"max", "max_us", 1.0}};

nlohmann::ordered_json to_json(const Times& times) {
  nlohmann::ordered_json report{{"snapshots", times.count()}};
  for (const Quantile& q : quantiles) report[q.key] = times.quantile(q.share);
  return report;
}

nlohmann::ordered_json to_json(const Measured& m) {
  nlohmann::ordered_json report{{"form", m.form}};
  report.update(to_json(m.all));
  report["unpaused"] = to_json(m.unpaused);
  return report;
}

void print(const std::string& name, const Times& times) {
  fmt::print(std::cout, "{:<10} {:>8}", name, times.count());
  for (const Quantile& q : quantiles) fmt::print(std::cout, "   {} {:>7.2f} us", q.name, times.quantile(q.share));
  fmt::print(std::cout, "\n");
}

void print(const Measured& m) {
  print(m.form, m.all);
  print("  unpaused", m.unpaused);
}

void bench(const LatencyOptions& o) {
  const std::unique_ptr<Device> device = open_device(o.device);
  const int snapshots = o.snapshots > 0 ? o.snapshots : device->is_gpu() ? snapshots_on_gpu : snapshots_on_host;
  const std::vector<Mbp10RawInput> books = random_walk(static_cast<std::size_t>(snapshots) + warm_up);
  const std::string processor = choose_processor(o, *device, books);
  Live plain(*device, o.hidden), captured(*device, o.hidden), stays(*device, o.hidden);
  captured.model.capture_graph_a();

  const Measured one_by_one("launches", {books.begin(), books.begin() + warm_up + 1},
                            [&](const Mbp10RawInput& book, const auto& meanwhile) {
                              plain.model.snapshot().write(book);
                              plain.model.perceive();
                              return plain.model.wait(meanwhile);
                            });
  const Measured graph("Graph A", books, [&](const Mbp10RawInput& book, const auto& meanwhile) {
    return captured.model.answer(book, meanwhile);
  });
  alpha::Resident kernel(stays.model, std::chrono::seconds(1));
  const Measured resident("resident", books, [&](const Mbp10RawInput& book, const auto& meanwhile) {
    return kernel.answer(book, meanwhile);
  });
  kernel.leave();
  require_same_bits(one_by_one, graph);
  require_same_bits(graph, resident);
  const HostPauses pauses;
  if (o.json) {
    const nlohmann::ordered_json report = {
        {"device", device->description()},
        {"hidden", o.hidden},
        {"processor", processor},
        {"forms", {to_json(graph), to_json(resident)}},
        {"host_pauses", {{"a_second", pauses.a_second}, {"median_us", pauses.median_microseconds}}}};
    std::cout << report.dump(2) << "\n";
    return;
  }
  fmt::print(std::cout,
             "snapshot written to answer seen, {} snapshots, hidden {}, on {}, from processor {} of the host\n",
             snapshots, o.hidden, device->description(), processor);
  print(graph);
  print(resident);
  fmt::print(std::cout,
             "unpaused: those in which the host never took this thread off its processor while it waited; it does so "
             "{:.0f} times a second, half of them for {:.2f} us or more\n",
             pauses.a_second, pauses.median_microseconds);
}

}  // namespace

void add_bench_latency(CLI::App& bench_command, ExitCode& result) {
  const auto o = std::make_shared<LatencyOptions>();
  CLI::App* command = bench_command.add_subcommand(
      "latency", "Time the alpha model's live path: from a snapshot to its probabilities, as a graph and resident");
  command->add_option("--device", o->device, "auto, host or cuda:N")->capture_default_str();
  command
      ->add_option(
          "--snapshots", o->snapshots,
          fmt::format("Snapshots to time (default {} on a GPU, {} on the host)", snapshots_on_gpu, snapshots_on_host))
      ->check(CLI::Range(1, 10'000'000));
  command->add_option("--hidden", o->hidden, "Width of the trunk")
      ->check(CLI::Range(1, max_hidden))
      ->capture_default_str();
  command
      ->add_option("--processor", o->processor,
                   "Processor of a GPU's host to stay on: its number, quickest (tries each first), or any")
      ->capture_default_str();
  command->add_flag("--json", o->json, "Print JSON");
  command->callback([o, &result] {
    bench(*o);
    result = ExitCode::ok;
  });
}

}  // namespace foxhunt::app

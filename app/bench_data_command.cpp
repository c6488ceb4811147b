#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.h"
#include "core/market/reader.h"

namespace foxhunt::app {
namespace {

/// What reading a file left in memory.
struct Kept {
  std::size_t rows = 0, bytes = 0;
};

template <class Table>
Kept kept_of(Table table) {
  Kept kept{table.rows(), 0};
  each_column(table, [&](const auto& column, std::size_t) { kept.bytes += column.size() * sizeof(column[0]); });
  return kept;
}

Kept read(const std::string& file) {
  using market::MarketContent;
  switch (market::market_content_of(file)) {
    case MarketContent::books:
      return kept_of(market::read_books(file));
    case MarketContent::trades:
      return kept_of(market::read_trades(file));
    default:
      return {market::read_bars(file).size(), 0};
  }
}

rusage usage() {
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  return now;
}

/// Time of a core, which other programs on the machine change less than the clock on the wall.
double core_seconds() {
  const rusage now = usage();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(now.ru_utime) + seconds(now.ru_stime);
}

double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void bench(const std::string& file, int repeats) {
  if (std::filesystem::is_directory(file))
    throw Error(ExitCode::usage, fmt::format("{} is a folder; name its files", file));
  const auto peak = [] { return static_cast<double>(usage().ru_maxrss) * 1024; };
  const double before = peak();
  std::vector<double> wall, core;
  Kept kept;
  for (int i = 0; i < repeats; ++i) {
    const double core_start = core_seconds();
    const auto start = std::chrono::steady_clock::now();
    kept = read(file);
    wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    core.push_back(core_seconds() - core_start);
  }
  const double size = static_cast<double>(std::filesystem::file_size(file));
  const double rows = static_cast<double>(kept.rows), bytes = static_cast<double>(kept.bytes);
  fmt::print(std::cout, "{}: {:.1f} MB, {} rows, median of {} reads\n", file, size / 1e6, kept.rows, repeats);
  for (const auto& [name, times] : {std::pair{"wall", wall}, std::pair{"core", core}}) {
    const double seconds = median_of(times);
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    fmt::print(std::cout, "  {} {:.3f} s ({:.3f} to {:.3f}): {:.3f} GB/s of file, {:.2f} M rows/s\n", name, seconds,
               *least, *most, size / seconds / 1e9, rows / seconds / 1e6);
  }
  if (kept.bytes == 0) return;
  const double beyond = peak() - before - bytes;
  fmt::print(std::cout, "  {:.1f} MB of columns; peak memory beyond them {:.1f} MB, {:.1f} bytes a row\n", bytes / 1e6,
             beyond / 1e6, beyond / rows);
}

}  // namespace

void add_bench_data(CLI::App& bench_command, ExitCode& result) {
  struct Arguments {
    std::vector<std::string> files;
    int repeats = 5;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = bench_command.add_subcommand("data", "Time reading market files: GB/s, rows/s, memory");
  command->add_option("files", arguments->files, "Files")->required();
  command->add_option("--repeats", arguments->repeats, "Reads of each file; the median is reported")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->callback([arguments, &result] {
    for (const std::string& file : arguments->files) bench(file, arguments->repeats);
    result = ExitCode::ok;
  });
}

}  // namespace foxhunt::app

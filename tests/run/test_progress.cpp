#include "core/run/progress.h"

#include <unistd.h>

#include <memory>
#include <vector>

#include "tests/catch.h"

using namespace foxhunt::run;
using namespace std::chrono_literals;

namespace {

const std::vector<ProgressField> kFields = {{"loss", "0.02"}, {"epsilon", "0.5"}};

/// A stream that is no terminal, and what was written to it.
struct Stream {
  std::FILE* file = std::tmpfile();
  ~Stream() { std::fclose(file); }
  std::string text() const {
    std::string all(static_cast<std::size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    REQUIRE(std::fread(all.data(), 1, all.size(), file) == all.size());
    return all;
  }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("progress: a line says share, count, rate, time left and fields") {
  REQUIRE(progress_line(420, 1000, 12'345.0, "iterations", kFields, 0) ==
          " 42.0%  420/1000 iterations  12.3 k/s  ETA 0:01  loss 0.02  epsilon 0.5");
  REQUIRE(progress_line(0, 10, 0, "epochs", {}, 0) == "  0.0%  0/10 epochs");
  REQUIRE(progress_line(1, 7201, 1.0, "steps", {}, 0) == "  0.0%  1/7201 steps  1/s  ETA 2:00:00");
  REQUIRE(progress_line(5, 0, 2.5, "rows", {}, 0) == "5 rows  2.5/s");
  REQUIRE(progress_line(1, 1'000'000'000'000, 1e-3, "steps", {}, 0).find("ETA 100+ days") != std::string::npos);
}

TEST_CASE("progress: 100% is said of what is done alone, and never more") {
  REQUIRE(progress_line(9999, 10'000, 0, "steps", {}, 0).starts_with(" 99.9%"));
  REQUIRE(progress_line(10'000, 10'000, 0, "steps", {}, 0).starts_with("100.0%"));
  REQUIRE(progress_line(12'000, 10'000, 5, "steps", {}, 0).starts_with("100.0%  12000/10000 steps  5/s  ETA 0:00"));
}

TEST_CASE("progress: rates keep three digits at every size") {
  const auto rate = [](double value) { return progress_line(0, 0, value, "", {}, 0); };
  REQUIRE(rate(999.4).ends_with("999/s"));
  REQUIRE(rate(999.6).ends_with(" 1 k/s"));
  REQUIRE(rate(999'600).ends_with(" 1 M/s"));
  REQUIRE(rate(114e6).ends_with("114 M/s"));
  REQUIRE(rate(2e9).ends_with(" 2 G/s"));
}

TEST_CASE("progress: fields that do not fit are left out whole, from the end") {
  const std::string whole = progress_line(420, 1000, 100, "steps", kFields, 0);
  for (std::size_t width = 1; width <= whole.size() + 2; ++width) {
    const std::string line = progress_line(420, 1000, 100, "steps", kFields, width);
    INFO(width << ": " << line);
    REQUIRE(line.size() <= width);
    REQUIRE(whole.starts_with(line));
    REQUIRE((line.size() == whole.size()) == (width >= whole.size()));
    REQUIRE((line.size() == whole.size() || whole.substr(line.size()).starts_with("  ") || line.empty()));
  }
  const std::vector<ProgressField> greek = {{"\xCE\xB5", "0.5"}};
  REQUIRE(progress_line(1, 0, 0, "s", greek, 10).ends_with("\xCE\xB5 0.5"));
}

TEST_CASE("progress: plain style writes a line now and then, and the last one") {
  Stream stream;
  const Progress::Clock::time_point start{};
  {
    Progress progress(ProgressStyle::plain, "steps", 0, 100, stream.file, start);
    for (int second = 0; second < 25; ++second) progress.update(4 * second, kFields, start + second * 1s);
    progress.finish(100, kFields, start + 25s);
  }
  REQUIRE(stream.text() ==
          "  0.0%  0/100 steps  loss 0.02  epsilon 0.5\n"
          " 40.0%  40/100 steps  4/s  ETA 0:15  loss 0.02  epsilon 0.5\n"
          " 80.0%  80/100 steps  4/s  ETA 0:05  loss 0.02  epsilon 0.5\n"
          "100.0%  100/100 steps  4/s  ETA 0:00  loss 0.02  epsilon 0.5\n");
}

TEST_CASE("progress: live style writes over one line at most ten times a second, and ends it") {
  Stream stream;
  const Progress::Clock::time_point start{};
  {
    Progress progress(ProgressStyle::live, "steps", 0, 0, stream.file, start);
    for (int ms = 0; ms < 1000; ++ms) progress.update(ms, {}, start + ms * 1ms);
  }
  const std::string text = stream.text();
  REQUIRE(count(text, "\r") == 10);
  REQUIRE(count(text, "\n") == 1);
  REQUIRE(text.ends_with("\033[K\n"));
}

TEST_CASE("progress: a resumed run's rate counts from where it resumed") {
  Stream stream;
  const Progress::Clock::time_point start{};
  Progress progress(ProgressStyle::plain, "steps", 1000, 2000, stream.file, start);
  progress.finish(1020, {}, start + 10s);
  REQUIRE(stream.text() == " 51.0%  1020/2000 steps  2/s  ETA 8:10\n");
}

TEST_CASE("progress: quiet writes nothing, and a file is no terminal") {
  Stream stream;
  Progress progress(ProgressStyle::quiet, "steps", 0, 10, stream.file);
  REQUIRE_FALSE(progress.due());
  progress.update(5, kFields);
  progress.finish(10, kFields);
  REQUIRE(stream.text().empty());
  REQUIRE(Progress::style_for(stream.file, false) == ProgressStyle::plain);
  REQUIRE(Progress::style_for(stream.file, true) == ProgressStyle::quiet);
}

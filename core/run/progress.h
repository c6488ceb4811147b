#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace foxhunt::run {

struct ProgressField {
  std::string label, text;
};

/// "12.3 k/s": three digits of a rate per second.
std::string rate_text(double rate);

/// " 42.0%  420/1000 iterations  12.3 k/s  ETA 1:23  loss 0.02  epsilon 0.5". A `total` of 0 is unknown: no percentage,
/// no ETA. `rate` is units per second, 0 when not known yet. Fields that do not fit into `width` columns are left out
/// from the end; width 0 is no limit.
std::string progress_line(std::int64_t done, std::int64_t total, double rate, std::string_view unit,
                          std::span<const ProgressField> fields, std::size_t width);

/// live: one line that is written over; plain: a line now and then; quiet: nothing.
enum class ProgressStyle { live, plain, quiet };

/// How far a run is, for a person.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// live when `stream` is a terminal, else plain; quiet when asked.
  static ProgressStyle style_for(std::FILE* stream, bool quiet);

  /// `done` is where the run starts: above 0 when it resumes. The rate counts from here.
  Progress(ProgressStyle style, std::string unit, std::int64_t done, std::int64_t total, std::FILE* stream = stderr,
           Clock::time_point now = Clock::now());
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Ends a live line, so that what comes next has its own.
  ~Progress();

  /// Whether update() would write: 0.1 s (live) or 10 s (plain) after the last time. For callers whose fields cost
  /// something.
  bool due(Clock::time_point now = Clock::now()) const;
  /// What a count that grew by `amount` since construction makes a second; 0 when not known yet.
  double rate(std::int64_t amount, Clock::time_point now = Clock::now()) const;
  /// Writes when due.
  void update(std::int64_t done, std::span<const ProgressField> fields, Clock::time_point now = Clock::now());
  /// Writes in any case, and ends the line.
  void finish(std::int64_t done, std::span<const ProgressField> fields, Clock::time_point now = Clock::now());

 private:
  void write(std::int64_t done, std::span<const ProgressField> fields, Clock::time_point now);
  void end_line();

  ProgressStyle style_;
  std::string unit_;
  std::int64_t first_, total_;
  std::FILE* stream_;
  Clock::time_point start_, next_;
  bool line_open_ = false;
};

}  // namespace foxhunt::run

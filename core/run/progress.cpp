#include "core/run/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace foxhunt::run {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kUsualWidth = 80;

/// Columns to write into, one short of the terminal's: a full line would wrap.
std::size_t terminal_width(std::FILE* stream) {
  winsize size = {};
  const bool known = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : kUsualWidth) - 1;
}

/// Columns of UTF-8 text, taking every code point as one.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string duration_text(double seconds) {
  if (!(seconds < 100 * 24 * 3600.0)) return "100+ days";
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace

std::string rate_text(double rate) {
  if (rate >= 999.5e6) return fmt::format("{:.3g} G/s", rate / 1e9);
  if (rate >= 999.5e3) return fmt::format("{:.3g} M/s", rate / 1e6);
  if (rate >= 999.5) return fmt::format("{:.3g} k/s", rate / 1e3);
  return fmt::format("{:.3g}/s", rate);
}

std::string progress_line(std::int64_t done, std::int64_t total, double rate, std::string_view unit,
                          std::span<const ProgressField> fields, std::size_t width) {
  std::string line;
  std::size_t used = 0;
  bool full = false;
  // After the first part that does not fit nothing follows, so that no value jumps between places.
  const auto add = [&](const std::string& part) {
    const std::size_t wanted = columns(part) + (used > 0 ? 2 : 0);
    full = full || (width > 0 && used + wanted > width);
    if (full) return;
    if (used > 0) line += "  ";
    line += part;
    used += wanted;
  };

  if (total > 0) {
    // Rounded down: 100.0% is said of what is done and of nothing else.
    const double share = std::floor(1000.0 * static_cast<double>(done) / static_cast<double>(total)) / 10;
    add(fmt::format("{:5.1f}%", std::clamp(share, 0.0, 100.0)));
    add(fmt::format("{}/{} {}", done, total, unit));
  } else {
    add(fmt::format("{} {}", done, unit));
  }
  if (rate > 0) {
    add(rate_text(rate));
    if (total > 0) add("ETA " + duration_text(static_cast<double>(std::max<std::int64_t>(total - done, 0)) / rate));
  }
  for (const ProgressField& field : fields) add(field.label + " " + field.text);
  return line;
}

ProgressStyle Progress::style_for(std::FILE* stream, bool quiet) {
  if (quiet) return ProgressStyle::quiet;
  return ::isatty(::fileno(stream)) ? ProgressStyle::live : ProgressStyle::plain;
}

Progress::Progress(ProgressStyle style, std::string unit, std::int64_t done, std::int64_t total, std::FILE* stream,
                   Clock::time_point now)
    : style_(style), unit_(std::move(unit)), first_(done), total_(total), stream_(stream), start_(now), next_(now) {}

Progress::~Progress() { end_line(); }

bool Progress::due(Clock::time_point now) const { return style_ != ProgressStyle::quiet && now >= next_; }

double Progress::rate(std::int64_t amount, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  return seconds > 0 ? static_cast<double>(amount) / seconds : 0;
}

void Progress::update(std::int64_t done, std::span<const ProgressField> fields, Clock::time_point now) {
  if (!due(now)) return;
  next_ = now + (style_ == ProgressStyle::live ? Clock::duration(100ms) : Clock::duration(10s));
  write(done, fields, now);
}

void Progress::finish(std::int64_t done, std::span<const ProgressField> fields, Clock::time_point now) {
  if (style_ != ProgressStyle::quiet) write(done, fields, now);
  end_line();
}

void Progress::write(std::int64_t done, std::span<const ProgressField> fields, Clock::time_point now) {
  const bool live = style_ == ProgressStyle::live;
  const std::string line =
      progress_line(done, total_, rate(done - first_, now), unit_, fields, live ? terminal_width(stream_) : 0);
  // One write. Its failure is no reason to stop training.
  const std::string text = live ? "\r" + line + "\033[K" : line + "\n";
  std::fwrite(text.data(), 1, text.size(), stream_);
  std::fflush(stream_);
  line_open_ = live;
}

void Progress::end_line() {
  if (!line_open_) return;
  std::fputc('\n', stream_);
  std::fflush(stream_);
  line_open_ = false;
}

}  // namespace foxhunt::run

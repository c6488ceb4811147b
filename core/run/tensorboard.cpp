#include "core/run/tensorboard.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <vector>

#include "core/checksum.h"
#include "core/run/protobuf.h"

namespace foxhunt::run {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class T>
std::string bytes_of(const T& value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Field numbers of the messages in use.
enum EventField {
  event_wall_time = 1,
  event_step = 2,
  event_file_version = 3,
  event_summary = 5,
  event_session_log = 7
};
enum SessionLogField { session_log_status = 1 };
constexpr std::int64_t session_start = 1;

enum SummaryField { summary_value = 1 };
enum ValueField { value_tag = 1, value_simple = 2, value_histogram = 5 };
enum HistogramField {
  histogram_min = 1,
  histogram_max = 2,
  histogram_count = 3,
  histogram_sum = 4,
  histogram_squares = 5,
  histogram_limits = 6,
  histogram_buckets = 7
};

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::filesystem::path file_name(std::string_view ending) {
  static std::atomic<int> files = 0;  // of this process: two may be opened in one second
  utsname system = {};
  ::uname(&system);
  return fmt::format("events.out.tfevents.{}.{}.{}.{}{}", std::time(nullptr), system.nodename, ::getpid(), files++,
                     ending);
}

std::string scalar(std::string_view tag, double value) {
  return ProtobufMessage().text(value_tag, tag).number(value_simple, static_cast<float>(value)).bytes();
}

/// `values` are finite and not empty.
std::string histogram(std::span<const double> values) {
  constexpr std::size_t bins = 30;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::size_t used = *low < *high ? bins : 1;
  const double width = *high / static_cast<double>(used) - *low / static_cast<double>(used);
  std::vector<double> limits, counts(used, 0);
  for (std::size_t i = 1; i < used; ++i) limits.push_back(*low + static_cast<double>(i) * width);
  limits.push_back(*high);
  double sum = 0, squares = 0;
  for (const double value : values) {
    ++counts[static_cast<std::size_t>(std::lower_bound(limits.begin(), limits.end(), value) - limits.begin())];
    sum += value;
    squares += value * value;
  }
  return ProtobufMessage()
      .number(histogram_min, *low)
      .number(histogram_max, *high)
      .number(histogram_count, static_cast<double>(values.size()))
      .number(histogram_sum, sum)
      .number(histogram_squares, squares)
      .numbers(histogram_limits, limits)
      .numbers(histogram_buckets, counts)
      .bytes();
}

/// Of the length and of the data: rotated, because a checksum of data that holds checksums is no good.
std::string masked_crc(std::string_view bytes) {
  return bytes_of(std::rotr(crc32c(std::as_bytes(std::span(bytes))), 15) + 0xA282EAD8u);
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& folder, std::string_view ending)
    : file_(AppendFile::create(folder / file_name(ending))) {
  append_record(
      ProtobufMessage().number(event_wall_time, wall_time()).text(event_file_version, "brain.Event:2").bytes());
}

void EventFile::append_restart(std::int64_t step) {
  append_record(ProtobufMessage()
                    .number(event_wall_time, wall_time())
                    .integer(event_step, step)
                    .message(event_session_log, ProtobufMessage().integer(session_log_status, session_start))
                    .bytes());
}

void EventFile::append(std::int64_t step, std::string_view prefix, std::span<const Metric> metrics) {
  ProtobufMessage summary;
  for (const Metric& metric : metrics)
    summary.text(summary_value, scalar(fmt::format("{}/{}", prefix, metric.name), metric.value));
  append_event(step, summary.bytes());
}

void EventFile::append_histogram(std::int64_t step, std::string_view tag, std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double v) { return std::isfinite(v); });
  ProtobufMessage summary;
  if (!finite.empty())
    summary.text(summary_value,
                 ProtobufMessage().text(value_tag, tag).text(value_histogram, histogram(finite)).bytes());
  if (finite.size() < values.size())
    summary.text(summary_value,
                 scalar(fmt::format("{}/nonfinite", tag), static_cast<double>(values.size() - finite.size())));
  append_event(step, summary.bytes());
}

void EventFile::append_event(std::int64_t step, const std::string& summary) {
  append_record(ProtobufMessage()
                    .number(event_wall_time, wall_time())
                    .integer(event_step, step)
                    .text(event_summary, summary)
                    .bytes());
}

void EventFile::append_record(const std::string& event) {
  const std::string length = bytes_of(static_cast<std::uint64_t>(event.size()));
  file_.append(length + masked_crc(length) + event + masked_crc(event));
}

}  // namespace foxhunt::run

#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/run/append_file.h"
#include "core/run/metrics.h"

namespace foxhunt::run {

/// A TensorBoard event file: TFRecord frames (tensorflow/core/lib/io/record_writer.h) of Event messages
/// (tensorflow/core/util/event.proto) with scalar and histogram summaries (tensorflow/core/framework/summary.proto).
/// NaN and infinities stay what they are. A record is in the file whole or not at all.
class EventFile {
 public:
  /// Creates FOLDER/events.out.tfevents.TIME.HOST.PROCESS.N: each process that works on a run adds a file of its own,
  /// and TensorBoard reads all of them in the order of their names. `ending` is appended to the name. Throws
  /// Error(storage).
  explicit EventFile(const std::filesystem::path& folder, std::string_view ending = "");

  /// For a run that goes on from a checkpoint: TensorBoard forgets what earlier files say of `step` and later ones.
  /// Throws Error(storage).
  void append_restart(std::int64_t step);

  /// Tags are PREFIX/NAME; TensorBoard groups by the prefix. Values are stored in float32, as the format has it. Throws
  /// Error(storage).
  void append(std::int64_t step, std::string_view prefix, std::span<const Metric> metrics);
  /// The finite values in at most 30 bins of equal width; values that are not finite are left out of the bins and
  /// appended as a scalar TAG/nonfinite, where there are any. Throws Error(storage).
  void append_histogram(std::int64_t step, std::string_view tag, std::span<const double> values);

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  void append_event(std::int64_t step, const std::string& summary);
  void append_record(const std::string& event);

  AppendFile file_;
};

}  // namespace foxhunt::run

#include "core/run/repeat.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/run/run_directory.h"

namespace foxhunt::run {
namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string described(const Json& data) {
  return fmt::format("{} bytes in {} files, xxh64 {}", data.value("bytes", Json()).dump(),
                     data.value("files", Json()).dump(), text_at(data, "xxh64"));
}

}  // namespace

std::string device_kind(const std::string& description) {
  const std::size_t first = description.find(", ");
  if (!description.starts_with("cuda:") || first == std::string::npos) return description.substr(0, first);
  const std::size_t end = description.find(", ", description.find(", sm_", first) + 2);
  return description.substr(first + 2, end == std::string::npos ? end : end - first - 2);
}

void require_one_profile(const RunRecord& run) {
  const std::filesystem::path latest = RunDirectory::open(run.folder).latest_profile_file();
  if (latest == run.profile_file()) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: went on with changed settings, so that it cannot be repeated exactly; to "
                          "train with what it ended with, use --profile {}",
                          run.folder.string(), latest.string()));
}

void require_same_data(const RunRecord& run, const Json& data) {
  const bool recorded = run.environment.is_object() && run.environment.contains("data") &&
                        !text_at(run.environment["data"], "xxh64").empty();
  const std::string instead = fmt::format("to train on what is there, use --profile {}", run.profile_file().string());
  if (!recorded)
    throw Error(ExitCode::data, fmt::format("{}: its environment.json does not say which data it trained on, so it "
                                            "cannot be repeated exactly; {}",
                                            run.folder.string(), instead));
  const Json& then = run.environment["data"];
  for (const char* key : {"files", "bytes", "xxh64"})
    if (then.value(key, Json()) != data.value(key, Json()))
      throw Error(ExitCode::data,
                  fmt::format("{}: the data has changed since run {}: it was {}, it is {}; restore it, "
                              "or {}",
                              text_at(data, "source"), run.name(), described(then), described(data), instead));
  const Json alpha = data.value("alpha", Json());
  const std::string was = text_at(then.value("alpha", Json()), "xxh64"), is = text_at(alpha, "xxh64");
  if (was != is)
    throw Error(ExitCode::data, fmt::format("{}: the checkpoint of features.alpha has changed since run {}: its xxh64 "
                                            "was {}, it is {}; restore it, or {}",
                                            text_at(alpha, "checkpoint"), run.name(), was, is, instead));
}

std::vector<std::string> repeat_warnings(const RunRecord& run, const Json& environment) {
  std::vector<std::string> warnings;
  const std::string then = device_kind(text_at(run.environment, "device")),
                    now = device_kind(text_at(environment, "device"));
  if (then != now)
    warnings.push_back(fmt::format("repeat: {} ran on {}, this is {}: the result will differ in its last bits",
                                   run.name(), then, now));
  if (text_at(run.environment, "program_xxh64") != text_at(environment, "program_xxh64"))
    warnings.push_back(
        fmt::format("repeat: {} was made by another build (version {}, this is {}): the result may "
                    "differ",
                    run.name(), text_at(run.environment, "version"), text_at(environment, "version")));
  return warnings;
}

std::string repeat_verdict(const RunRecord& run, const std::string& fingerprint, std::int64_t iterations, bool& same) {
  const std::string then = text_at(run.summary, "fingerprint");
  same = !then.empty() && then == fingerprint;
  if (then.empty()) return fmt::format("repeat: {} left no result to compare with ({})", run.name(), run.state());
  if (same) return fmt::format("repeat: the same parameters as {}, bit for bit ({})", run.name(), fingerprint);
  return fmt::format("repeat: parameters {} after {} iterations; {} ended with {} after {} ({})", fingerprint,
                     iterations, run.name(), then, run.summary.value("iterations", Json()).dump(), run.state());
}

}  // namespace foxhunt::run

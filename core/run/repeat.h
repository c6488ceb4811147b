#pragma once
#include <string>
#include <vector>

#include "core/run/run_index.h"

namespace foxhunt::run {

/// What results depend on of a device: "host", or "NVIDIA H200, sm_90", taken from Device::description(), without its
/// number and its free memory.
std::string device_kind(const std::string& description);

/// Throws Error(usage) when the run went on with changed settings, so that no one profile makes it again.
void require_one_profile(const RunRecord& run);

/// Throws Error(data) when `data` (environment.json's member of that name: source, files, bytes, xxh64) tells of other
/// bytes than those that `run` trained on or of another alpha model behind its features, or the run recorded none.
void require_same_data(const RunRecord& run, const nlohmann::ordered_json& data);

/// A line for each thing that may make a repetition end with other bits: another kind of device, another program.
std::vector<std::string> repeat_warnings(const RunRecord& run, const nlohmann::ordered_json& environment);

/// One line: whether a repetition that ended with `fingerprint` after so many iterations came to the same parameters.
/// `same` is set accordingly.
std::string repeat_verdict(const RunRecord& run, const std::string& fingerprint, std::int64_t iterations, bool& same);

}  // namespace foxhunt::run

#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/run/run_directory.h"

namespace foxhunt::run {

/// All that a run's folder tells of it: {"summary", "evaluation", "gate", "environment": the files, or null where there
/// is none yet; "profile", "command": text; "metrics": {"step": [...], "columns": {name: [number, "NaN" ... or null]},
/// "rows", "rows_per_point"}; "notes": [text]}. Throws Error(storage) for a file that cannot be read or is damaged.
nlohmann::ordered_json report_data(const RunDirectory& directory);

/// One HTML file that shows `data` in a browser and loads nothing else. Whatever the texts in it hold, they stay texts.
std::string report_html(const nlohmann::ordered_json& data);

/// report_html of report_data into `file`, whole or not at all. Throws Error(storage).
void write_report(const RunDirectory& directory, const std::filesystem::path& file);

}  // namespace foxhunt::run

#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/alpha/dataset.h"
#include "core/profile/profile.h"

namespace foxhunt::alpha {

/// Reads data.path (or the bundled alpha-baseline) as the profile says and makes inputs and labels of it. Throws
/// Error(data), also when there are no books.
Dataset load_dataset(const profile::Profile& profile);

/// Lines for a person: rows, sessions, splits; rejects; class balance; notes.
std::string report(const Dataset& data);

/// {"train", "validation", "test": {"begin", "end": UTC ms, "rows", "sessions", "first_row", "labels": [{"horizon",
/// "up", "down", "tied", "unlabelled"}, ...]}, "rows"}
nlohmann::ordered_json splits_json(const Dataset& data);

}  // namespace foxhunt::alpha

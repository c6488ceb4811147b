#pragma once
#include <filesystem>
#include <string>

namespace foxhunt::run {

/// The checkpoint that is meant: a file itself; of a run (its folder, or its name in runs/)
/// checkpoints/NAME.safetensors, where an empty NAME is `best`, or `last` in a run that was never evaluated. Throws
/// Error(usage) when there is none, naming those there are.
std::filesystem::path find_checkpoint(const std::filesystem::path& run_or_file, const std::string& name);

}  // namespace foxhunt::run

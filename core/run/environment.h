#pragma once
#include <nlohmann/json_fwd.hpp>

namespace foxhunt::run {

/// What a result may depend on beside the profile: version and checksum of the program, host name, kernel, CPU, cores
/// this process may use, memory in bytes, compiler, build type, working folder, process id, start in UTC.
nlohmann::ordered_json describe_environment();

}  // namespace foxhunt::run

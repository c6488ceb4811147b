#pragma once
// What must not happen to the test program itself (limits, signals, exits) happens in a child.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/error.h"

namespace foxhunt::test {

/// Runs `work` in a child whose files may not grow beyond `max_file_bytes`: to a writer, a disk that is full there. Its
/// result is what work threw: "CODE message", or "" when it threw nothing.
template <class Work>
std::string error_with_file_limit(const std::filesystem::path& scratch, rlim_t max_file_bytes, Work work) {
  const pid_t child = fork();
  if (child == 0) {
    std::string result;
    // The result goes to its own file after the limit is lifted again; so the soft limit alone is lowered.
    rlimit limit = {};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit lowered = {max_file_bytes, limit.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &lowered);
    try {
      work();
    } catch (const Error& error) {
      result = std::to_string(static_cast<int>(error.code())) + " " + error.what();
    } catch (const std::exception& error) {
      result = std::string("? ") + error.what();
    }
    setrlimit(RLIMIT_FSIZE, &limit);
    std::ofstream(scratch) << result << std::flush;
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (status != 0) return "child ended with status " + std::to_string(status);
  std::ifstream file(scratch);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

/// The message of the Error that `work` throws, after "CODE "; "" when it throws none.
template <class Work>
std::string error_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "";
}

}  // namespace foxhunt::test

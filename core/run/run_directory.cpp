#include "core/run/run_directory.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "core/run/environment.h"
#include "core/run/json.h"
#include "core/storage.h"

namespace foxhunt::run {
namespace {

bool in(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string file_name_of(std::string_view profile) {
  std::string name(profile.empty() ? "run" : profile);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !alphanumeric(c) && !in(c, "._-"); }, '_');
  return name;
}

std::string quoted_for_shell(const std::string& argument) {
  const auto plain = [](char c) { return alphanumeric(c) || in(c, "._-+/:,=@%"); };
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), plain)) return argument;
  std::string quoted = "'";
  for (const char c : argument) c == '\'' ? quoted += "'\\''" : quoted += c;
  return quoted + "'";
}

std::string command_line(std::span<const std::string> arguments) {
  std::vector<std::string> quoted;
  for (const std::string& argument : arguments) quoted.push_back(quoted_for_shell(argument));
  return fmt::format("{}\n", fmt::join(quoted, " "));
}

std::string environment_text(const nlohmann::ordered_json& more) {
  nlohmann::ordered_json report = describe_environment();
  report.update(more);
  return json_text(report, 2) + "\n";
}

/// N of profile-N.toml, or 0.
int profile_number(const std::string& name) {
  constexpr std::string_view before = "profile-", after = ".toml";
  if (!name.starts_with(before) || !name.ends_with(after)) return 0;
  int number = 0;
  const char* const end = name.data() + name.size() - after.size();
  const auto [at, error] = std::from_chars(name.data() + before.size(), end, number);
  return error == std::errc() && at == end ? number : 0;
}

/// mkdir(2) is what makes the name this run's alone: of two processes one is told EEXIST.
std::filesystem::path make_new_folder(const std::filesystem::path& wanted) {
  std::filesystem::path path = wanted;
  for (int attempt = 2; ::mkdir(path.c_str(), 0777) != 0; ++attempt) {
    if (errno != EEXIST) throw storage_error("create run folder", path, errno);
    path = fmt::format("{}-{}", wanted.string(), attempt);
  }
  return path;
}

}  // namespace

RunDirectory RunDirectory::create(const std::filesystem::path& output_root, std::string_view profile_name) {
  std::error_code error;
  std::filesystem::create_directories(output_root, error);
  if (error) throw storage_error("create output folder", output_root, error.value());

  const std::string name =
      fmt::format("{}-{:%Y%m%d-%H%M%S}", file_name_of(profile_name), fmt::gmtime(std::time(nullptr)));
  RunDirectory directory(make_new_folder(output_root / name));
  if (::mkdir(directory.checkpoints().c_str(), 0777) != 0) {
    const int reason = errno;
    ::rmdir(directory.path().c_str());
    throw storage_error("create", directory.checkpoints(), reason);
  }
  return directory;
}

RunDirectory RunDirectory::open(const std::filesystem::path& path) {
  RunDirectory directory(path);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(directory.profile_file(), ignored))
    throw Error(ExitCode::usage, fmt::format("{}: no run's folder (it holds no profile.toml); expected one such as "
                                             "runs/dqn-baseline-20240102-030405",
                                             path.string()));
  return directory;
}

void RunDirectory::lock() {
  locked_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!locked_) throw storage_error("open", path_, errno);
  if (::flock(locked_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw Error(ExitCode::storage,
                fmt::format("{}: another process is training here; wait for its end or stop it", path_.string()));
}

void RunDirectory::write_profile(std::string_view resolved_toml) const {
  write_file_atomically(profile_file(), resolved_toml);
}

void RunDirectory::write_command(std::span<const std::string> arguments) const {
  write_file_atomically(command_file(), command_line(arguments));
}

void RunDirectory::record_resume(std::span<const std::string> arguments, const nlohmann::ordered_json& more,
                                 std::string_view changed_profile) const {
  std::ifstream before(command_file(), std::ios::binary);
  std::string commands{std::istreambuf_iterator<char>(before), {}};
  commands += command_line(arguments);
  int start = 2;
  const auto environment = [&] { return path_ / fmt::format("environment-{}.json", start); };
  while (std::filesystem::exists(environment())) ++start;
  if (!changed_profile.empty()) write_file_atomically(path_ / fmt::format("profile-{}.toml", start), changed_profile);
  write_file_atomically(command_file(), commands);
  write_file_atomically(environment(), environment_text(more));
}

std::filesystem::path RunDirectory::latest_profile_file() const {
  int latest = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    latest = std::max(latest, profile_number(entry.path().filename().string()));
  return latest == 0 ? profile_file() : path_ / fmt::format("profile-{}.toml", latest);
}

void RunDirectory::write_environment(const nlohmann::ordered_json& more) const {
  write_file_atomically(environment_file(), environment_text(more));
}

void RunDirectory::write_summary(const nlohmann::ordered_json& summary) const {
  write_file_atomically(summary_file(), json_text(summary, 2) + "\n");
}

void RunDirectory::write_evaluation(const nlohmann::ordered_json& evaluation) const {
  write_file_atomically(evaluation_file(), json_text(evaluation) + "\n");
}

}  // namespace foxhunt::run

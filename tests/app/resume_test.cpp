// --resume through the binary: stopped by signals and kills, changed profiles, and folders of every kind.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/storage.h"
#include "tests/app/run_program.h"

using namespace foxhunt::test;

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> settings = {"--profile",
                                           "dqn-smoketest",
                                           "--device",
                                           "host",
                                           "--quiet",
                                           "--set",
                                           "smoketest.enabled=false",
                                           "--set",
                                           "training.epochs=60",
                                           "--set",
                                           "checkpoint.every_epochs=3",
                                           "--set",
                                           "network.hidden=[16]"};

const std::vector<std::string> alpha_settings = {
    "--profile", "alpha-smoketest",          "--device", "host", "--quiet", "--set", "smoketest.budget_seconds=3000",
    "--set",     "checkpoint.every_epochs=1"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

fs::path only_run(const fs::path& folder) {
  REQUIRE(std::distance(fs::directory_iterator(folder), {}) == 1);
  return fs::directory_iterator(folder)->path();
}

/// Starts the program and sends it a signal after `seconds`; gives its exit code.
int stopped_after(const std::string& signal, const std::string& seconds, const std::vector<std::string>& arguments) {
  std::string command = "cd " + quoted(source_dir().string()) + " && exec timeout --foreground --preserve-status -s " +
                        signal + " " + seconds + " " + quoted(FOXHUNT_TRAIN);
  for (const std::string& argument : arguments) command.append(" ").append(quoted(argument));
  const int status = std::system((command + " >/dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A summary without what depends on the clock.
nlohmann::json without_times(nlohmann::json summary) {
  for (const char* timed : {"training_seconds", "steps_per_second", "phases", "total_seconds"}) summary.erase(timed);
  return summary;
}

/// What a run came to.
nlohmann::json result_of(const fs::path& run) {
  return without_times(nlohmann::json::parse(file_text(run / "summary.json")));
}

/// What report.html shows, but for the clock, the command and the folder that it names.
nlohmann::json reported(const fs::path& run) {
  const std::string page = file_text(run / "report.html"), opening = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(opening) + opening.size();
  REQUIRE(begin > opening.size());
  auto data = nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  data["summary"] = without_times(data.at("summary"));
  for (const char* own : {"environment", "command"}) data.erase(own);
  auto profile = data.at("profile").get<std::string>();
  const std::size_t output = profile.find("\noutput = ");
  REQUIRE(output != std::string::npos);
  data["profile"] = profile.erase(output, profile.find('\n', output + 1) - output);
  return data;
}

/// Waits until something holds; false when it does not in the time that a hanging program is given.
bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(4);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    usleep(2000);
  }
  return true;
}

/// foxhunt-train in the source folder, going on beside the test, its standard error in a file. Killed at the end.
class RunningProgram {
 public:
  RunningProgram(const std::vector<std::string>& arguments, const fs::path& errors) {
    std::vector<char*> words = {const_cast<char*>(FOXHUNT_TRAIN)};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    child_ = fork();
    if (child_ != 0) return;
    const int file = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0 && dup2(file, STDERR_FILENO) >= 0 && chdir(source_dir().c_str()) == 0) execv(words[0], words.data());
    _exit(127);
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;
  ~RunningProgram() {
    if (ended()) return;
    kill(child_, SIGKILL);
    waitpid(child_, &status_, 0);
  }

  void send(int signal) const { kill(child_, signal); }
  bool ended() { return ended_ || (ended_ = waitpid(child_, &status_, WNOHANG) == child_); }
  int exit_code() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_); }

 private:
  pid_t child_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

/// The newest epoch-N of the one run below a folder; empty while there is none.
fs::path newest_epoch(const fs::path& output) {
  std::error_code not_there_yet;
  fs::path newest;
  for (const auto& run : fs::directory_iterator(output))
    for (const auto& entry : fs::directory_iterator(run.path() / "checkpoints", not_there_yet))
      if (entry.path().extension() == ".safetensors" && entry.path().filename().string().starts_with("epoch-"))
        newest = std::max(newest, entry.path());
  return newest;
}

/// Every file below a folder, with its bytes.
std::map<fs::path, std::string> files_of(const fs::path& folder) {
  std::map<fs::path, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    files[entry.path()] = entry.is_regular_file() ? file_text(entry.path()) : "";
  return files;
}

/// Words before the program that make it run as somebody whom modes stop: none where the tests run so themselves;
/// nothing when there is no such way.
std::optional<std::string> as_ordinary_user() {
  if (geteuid() != 0) return "";
  const std::string words = "setpriv --reuid=65534 --regid=65534 --clear-groups";
  if (std::system("command -v setpriv >/dev/null") != 0) return std::nullopt;
  return run_program({"profiles", "check", "dqn-smoketest"}, words).code == 0 ? std::optional(words) : std::nullopt;
}

/// Trains once in one go and once through five stops, and requires the same results, metrics and report.
void require_stops_leave_no_trace(const std::vector<std::string>& arguments, const std::vector<std::string>& files) {
  const TemporaryFolder whole, stopped;
  REQUIRE(run_program(with(arguments, {"--output", whole.path().string()})).code == 0);
  int stops = 0;
  int code = stopped_after("INT", "0.7", with(arguments, {"--output", stopped.path().string()}));
  const fs::path run = only_run(stopped.path());
  for (const char* signal : {"TERM", "KILL", "INT", "KILL", "TERM"}) {
    if (code == 0) break;
    ++stops;
    code = stopped_after(signal, "0.7", {"--resume", run.string(), "--quiet"});
    REQUIRE((code == 0 || code == 130 || code == 143 || code == 137 || code == 7));
    if (code == 7) break;  // killed before its first checkpoint
  }
  std::cout << "stopped " << stops << " times\n";
  const Outcome end = run_program({"--resume", run.string(), "--quiet"});
  INFO(end.err);
  REQUIRE(end.code == 0);
  REQUIRE(result_of(run) == result_of(only_run(whole.path())));
  for (const std::string& file : files) {
    CAPTURE(file);
    REQUIRE((file_text(run / file) == file_text(only_run(whole.path()) / file)));
  }
  REQUIRE(reported(run) == reported(only_run(whole.path())));
}

}  // namespace

TEST_CASE("resume: after SIGINT, SIGTERM and SIGKILL, results and metrics are those of a run that was never stopped") {
  require_stops_leave_no_trace(settings, {"metrics.jsonl", "metrics.csv", "validation.jsonl", "evaluation.json"});
}

TEST_CASE("resume: after SIGINT, SIGTERM and SIGKILL, an alpha run ends as one that was never stopped") {
  for (const char* state : {"reset", "carry"}) {
    CAPTURE(state);
    require_stops_leave_no_trace(with(alpha_settings, {"--set", std::string("alpha.state=\"") + state + "\""}),
                                 {"metrics.jsonl", "metrics.csv", "gate.json", "evaluation.json"});
  }
}

TEST_CASE("resume: an alpha run refuses what an agent's does, and goes on from the checkpoint before a damaged one") {
  const TemporaryFolder folder;
  REQUIRE(run_program(with(alpha_settings, {"--set", "training.epochs=3", "--set", "smoketest.enabled=false",
                                            "--output", folder.path().string()}))
              .code == 0);
  const fs::path run = only_run(folder.path());
  const auto before = result_of(run);
  const std::string gate = file_text(run / "gate.json");
  REQUIRE(run_program({"--resume", run.string(), "--quiet"}).code == 0);  // it had ended
  REQUIRE(result_of(run) == before);
  REQUIRE(file_text(run / "gate.json") == gate);

  require_refusal({"--resume", run.string(), "--profile", "alpha-smoketest"}, 2,
                  {"training.epochs is 16 there and 3 in the checkpoint"});
  require_refusal({"--resume", run.string(), "--set", "alpha.steps=32"}, 2, {"alpha.steps", "start a new run"});
  require_refusal({"--resume", run.string(), "--set", "alpha.hidden=16"}, 7, {"state.", "same model and profile"});
  require_refusal({"--resume", run.string(), "--set", "data.train_fraction=0.6"}, 3, {"rows", "start a new run"});
  require_refusal({"--resume", (run / "checkpoints/best.safetensors").string()}, 7, {"holds a learner alone"});

  const std::string last = file_text(run / "checkpoints/last.safetensors");
  std::ofstream(run / "checkpoints/last.safetensors", std::ios::trunc) << last.substr(0, last.size() / 2);
  require_refusal({"--resume", run.string()}, 7, {"last.safetensors", "epoch-000003.safetensors goes on from"});
  REQUIRE(run_program({"--resume", (run / "checkpoints/epoch-000003.safetensors").string(), "--quiet"}).code == 0);
  REQUIRE(result_of(run) == before);

  REQUIRE(run_program({"--resume", run.string(), "--set", "training.epochs=5"}).code == 0);
  REQUIRE(result_of(run).at("epochs") == 5);
  REQUIRE(file_text(run / "profile-4.toml").find("epochs = 5 ") != std::string::npos);
  REQUIRE(file_text(run / "log.txt").find("changed: training.epochs: 3 -> 5") != std::string::npos);
}

TEST_CASE("resume: a second SIGINT stops at once, and the run goes on from the checkpoint before it") {
  const TemporaryFolder folder;
  const fs::path output = folder / "runs", errors = folder / "errors";
  fs::create_directory(output);
  RunningProgram program(with(settings, {"--set", "training.epochs=100000", "--output", output.string()}), errors);
  REQUIRE(comes_true([&] { return program.ended() || !newest_epoch(output).empty(); }));
  REQUIRE_FALSE(program.ended());

  // Whoever writes a file waits for the lock of its temporary one: the first signal cannot be done with.
  const fs::path last = only_run(output) / "checkpoints/last.safetensors", temporary = last.string() + ".tmp";
  foxhunt::Descriptor lock(open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(flock(lock.get(), LOCK_EX) == 0);
  program.send(SIGINT);
  REQUIRE(comes_true([&] { return program.ended() || file_text(errors).find("asked to stop") != std::string::npos; }));
  REQUIRE_FALSE(program.ended());
  program.send(SIGINT);
  REQUIRE(comes_true([&] { return program.ended(); }));
  REQUIRE(program.exit_code() == 130);
  REQUIRE_FALSE(fs::exists(last));
  REQUIRE(lock.close() == 0);

  const fs::path newest = newest_epoch(output);
  const int epochs = std::stoi(newest.stem().string().substr(6)) + 1;
  const Outcome end =
      run_program({"--resume", only_run(output).string(), "--set", "training.epochs=" + std::to_string(epochs)});
  INFO(end.err);
  REQUIRE(end.code == 0);
  REQUIRE(end.err.find("resumed: " + newest.string()) != std::string::npos);
  REQUIRE(result_of(only_run(output)).at("epochs") == epochs);
}

TEST_CASE("resume: a folder that may be read and not written is refused in one line, and stays as it is") {
  const auto user = as_ordinary_user();
  if (!user) return skip("only root is here, and setpriv (util-linux) cannot make anybody else of it");
  const TemporaryFolder folder;
  const auto uncached = with(settings, {"--set", "data.cache=off", "--set", "training.epochs=3"});
  REQUIRE(run_program(with(uncached, {"--output", (folder / "runs").string()})).code == 0);
  const fs::path run = only_run(folder / "runs");
  const fs::perms readable =
      fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec;
  const std::vector<fs::path> folders = {run / "checkpoints", run, folder / "runs", folder.path()};
  for (const fs::path& closed : folders) fs::permissions(closed, readable);
  const auto before = files_of(folder.path());
  require_refusal({"--resume", run.string(), "--quiet"}, 7, {run.string(), "may write to"}, *user);
  require_refusal(with(uncached, {"--output", (folder / "runs").string()}), 7,
                  {"cannot create", (folder / "runs").string(), "may write to"}, *user);
  require_refusal(with(uncached, {"--output", (folder / "runs/below").string()}), 7,
                  {"cannot create", (folder / "runs/below").string(), "may write to"}, *user);
  REQUIRE((files_of(folder.path()) == before));
  for (const fs::path& closed : folders) fs::permissions(closed, fs::perms::owner_all);
  REQUIRE(run_program({"--resume", run.string(), "--quiet"}).code == 0);
}

TEST_CASE("resume: folders that are missing, no run's, of other names, linked or in use are right or clear") {
  const TemporaryFolder folder;
  const fs::path root = folder / "a b \xC3\xA9\xE2\x82\xAC";
  fs::create_directory(root);
  const auto three_epochs = with(settings, {"--set", "training.epochs=3", "--output", root.string()});
  REQUIRE(run_program(three_epochs).code == 0);
  const fs::path run = only_run(root);
  const auto before = result_of(run);

  require_refusal({"--resume", (folder / "missing").string()}, 2, {"missing", "no run"});
  require_refusal({"--resume", folder.path().string()}, 2, {"no run"});
  require_refusal({"--resume", (run / "profile.toml").string()}, 2, {"lies in no run"});
  require_refusal({"--resume", (run / "checkpoints/best.safetensors").string()}, 7, {"holds a learner alone"});
  require_refusal({"--resume", run.string(), "--output", root.string()}, 2, {"--output"});

  fs::create_directory_symlink(run, folder / "link");
  const Outcome again = run_program({"--resume", (folder / "link").string(), "--quiet"});
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE(result_of(run) == before);

  const std::string last = file_text(run / "checkpoints/last.safetensors");
  std::ofstream(run / "checkpoints/last.safetensors", std::ios::trunc) << last.substr(0, last.size() / 2);
  require_refusal({"--resume", run.string()}, 7, {"last.safetensors", "epoch-000003.safetensors goes on from"});
  REQUIRE(run_program({"--resume", (run / "checkpoints/epoch-000003.safetensors").string(), "--quiet"}).code == 0);
  REQUIRE(result_of(run) == before);
  REQUIRE(fs::exists(run / "checkpoints/last.safetensors.superseded"));

  fs::remove_all(run / "checkpoints");
  require_refusal({"--resume", run.string()}, 7, {"checkpoints", "No such file"});
}

TEST_CASE("resume: a changed profile is refused with the differences, or taken with --set and recorded") {
  const TemporaryFolder folder;
  REQUIRE(run_program(with(settings, {"--set", "training.epochs=3", "--output", folder.path().string()})).code == 0);
  const fs::path run = only_run(folder.path());
  require_refusal({"--resume", run.string(), "--profile", "dqn-smoketest"}, 2,
                  {"training.epochs is 20 there and 3 in the checkpoint", "--set 'device.device=\"auto\"'"});
  require_refusal({"--resume", run.string(), "--set", "network.hidden=[8]"}, 7, {"state.", "same model and profile"});
  REQUIRE(result_of(run).at("epochs") == 3);
  REQUIRE(run_program({"--resume", run.string(), "--set", "training.epochs=5"}).code == 0);
  REQUIRE(result_of(run).at("epochs") == 5);
  REQUIRE(file_text(run / "profile.toml").find("epochs = 3 ") != std::string::npos);
  REQUIRE(file_text(run / "profile-2.toml").find("epochs = 5 ") != std::string::npos);
  REQUIRE(file_text(run / "log.txt").find("changed: training.epochs: 3 -> 5") != std::string::npos);
  const std::string commands = file_text(run / "command.txt");
  REQUIRE(std::count(commands.begin(), commands.end(), '\n') == 2);
  require_refusal({"--repeat", run.string()}, 2,
                  {"changed settings", "--profile " + (run / "profile-2.toml").string()});
  require_refusal({"--resume", run.string(), "--set", "gpu_profile=none"}, 2, {"gpu_profile", "start a new run"});
}

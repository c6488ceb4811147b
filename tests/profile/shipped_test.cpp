#include <sstream>

#include "core/profile/document.h"
#include "core/profile/printer.h"
#include "tests/profile/profile_folder.h"

using namespace foxhunt;
using Widths = std::vector<std::int64_t>;

namespace {

profile::ProfilePaths shipped() { return {{test::source_dir() / "profiles"}}; }
profile::Profile load(const std::string& name) { return profile::load_profile(name, {}, shipped()); }

}  // namespace

TEST_CASE("training_profile: dqn-smoketest is the small run that CI counts on") {
  const profile::Profile p = load("dqn-smoketest");
  REQUIRE(p.training.buffer_size == 256);
  REQUIRE(p.replay_buffer.buffer_size == 256);
  REQUIRE(p.training.min_replay_size == 64);
  REQUIRE(p.training.gpu_timesteps_per_episode == 50);
  REQUIRE(p.training.gpu_n_episodes == 4);
  REQUIRE(p.training.batch_size == 32);
  REQUIRE(p.training.n_step == 3);
  REQUIRE(p.training.epochs * p.training.gpu_timesteps_per_episode == 1000);
  REQUIRE(p.training.iterations_in_flight == 8);
  REQUIRE(p.network.hidden == Widths{64, 64});
  REQUIRE(p.network.atoms == 51);
  REQUIRE(p.network.spectral_norm);
  REQUIRE(p.loss.cql_weight > 0);
  REQUIRE(p.guards.policy == "halt");
  REQUIRE(p.smoketest.enabled);
  REQUIRE(p.smoketest.budget_seconds == 120.0);
  REQUIRE(p.exploration.epsilon_iterations <= 1000);
  REQUIRE(p.early_stopping.enabled);
  REQUIRE(p.early_stopping.patience > p.training.epochs);
  REQUIRE(p.checkpoint.every_epochs == 0);
}

TEST_CASE("training_profile: dqn-smoketest states both buffer sizes itself") {
  const std::string text = profile::read_text(test::source_dir() / "profiles" / "dqn-smoketest.toml");
  const auto section = [&](const std::string& name) {
    const std::size_t begin = text.find("[" + name + "]");
    REQUIRE(begin != std::string::npos);
    return text.substr(begin, text.find("\n[", begin) - begin);
  };
  test::require_words(section("training"), {"\nbuffer_size = 256\n", "\nmin_replay_size = 64\n",
                                            "\ngpu_timesteps_per_episode = 50\n", "\ngpu_n_episodes = 4\n"});
  test::require_words(section("replay_buffer"), {"\nbuffer_size = 256\n"});
}

TEST_CASE("training_profile: dqn-baseline is sized for real bars") {
  const profile::Profile p = load("dqn-baseline");
  REQUIRE(p.training.gpu_n_episodes == 256);
  REQUIRE(p.training.gpu_timesteps_per_episode == 240);
  REQUIRE(p.training.batch_size == 512);
  REQUIRE(p.training.buffer_size == 262144);
  REQUIRE(p.network.hidden == Widths{256, 256});
  REQUIRE(p.contract.symbol == "ES");
  REQUIRE_FALSE(p.smoketest.enabled);
}

TEST_CASE("training_profile: dqn-throughput is the work that speed is measured on") {
  const profile::Profile p = load("dqn-throughput");
  REQUIRE(p.training.gpu_n_episodes == 4096);
  REQUIRE(p.training.batch_size == 4096);
  REQUIRE(p.training.buffer_size == 1048576);
  REQUIRE(p.network.hidden == Widths{256, 256});
  REQUIRE(p.network.atoms == 51);
  REQUIRE(p.environment.actions.size() == 5);
  REQUIRE(p.replay_buffer.alpha == 0.6);
  REQUIRE_FALSE(p.network.spectral_norm);
  REQUIRE(p.loss.cql_weight == 0.1);
  REQUIRE(p.loss.c51_weight == 0.7);
}

TEST_CASE("training_profile: every shipped profile loads, is described, and opens with what it is for") {
  const std::vector<profile::ProfileFile> files = profile::list_profiles(shipped());
  REQUIRE(files.size() >= 3);
  for (const profile::ProfileFile& file : files) {
    INFO(file.name);
    const profile::Profile p = load(file.name);
    REQUIRE(p.name == file.name);
    REQUIRE_FALSE(p.description.empty());
    REQUIRE(profile::read_text(file.file).rfind("# ", 0) == 0);
  }
}

TEST_CASE("profile: the README's table of keys is the one that the schema prints") {
  std::ifstream in(test::source_dir() / "README.md");
  INFO(
      "README.md has to hold the output of `foxhunt-train profiles reference` between the lines "
      "<!-- profile-keys:begin --> and <!-- profile-keys:end -->");
  REQUIRE(in.good());
  std::ostringstream readme, expected;
  readme << in.rdbuf();
  profile::print_reference(expected);
  const std::string text = readme.str(), begin = "<!-- profile-keys:begin -->\n", end = "<!-- profile-keys:end -->";
  const std::size_t first = text.find(begin), last = text.find(end);
  REQUIRE(first != std::string::npos);
  REQUIRE(last != std::string::npos);
  REQUIRE(first < last);
  // Blank lines around a table are Markdown's business.
  const std::string between = text.substr(first + begin.size(), last - first - begin.size());
  const std::size_t table = between.find_first_not_of('\n');
  REQUIRE(table != std::string::npos);
  REQUIRE(between.substr(table, between.find_last_not_of('\n') + 2 - table) == expected.str());
}

#include "core/profile/gpu_profile.h"

#include <set>

#include "core/profile/document.h"
#include "core/profile/printer.h"
#include "tests/profile/profile_folder.h"

using namespace foxhunt;
using namespace foxhunt::profile;

namespace {

constexpr std::size_t gib = std::size_t{1} << 30;

/// A folder with `sizes` (512 episodes, gamma 0.5) beside a base profile (128 episodes, gamma 0.6).
struct SizesFolder : test::ProfileFolder {
  SizesFolder() {
    write("sizes.toml", "description = \"s\"\n[training]\ngpu_n_episodes = 512\ngamma = 0.5\n");
    write("base.toml", "[training]\ngpu_n_episodes = 128\ngamma = 0.6\nn_step = 2\n");
  }
};

}  // namespace

TEST_CASE("gpu_profile: the sizes go over what a file extends and under its own keys") {
  const SizesFolder folder;
  const Profile p = folder.load("extends = \"base\"\ngpu_profile = \"sizes\"\n[training]\ngamma = 0.7\n");
  REQUIRE(p.training.gpu_n_episodes == 512);
  REQUIRE(p.training.gamma == 0.7);
  REQUIRE(p.training.n_step == 2);
  REQUIRE(p.gpu_profile == "sizes");
  REQUIRE(p.name == "a");
  REQUIRE(p.description.empty());
  REQUIRE(folder.load("extends = \"base\"\n").training.gpu_n_episodes == 128);
}

TEST_CASE("gpu_profile: given to --set it goes over every file and under every other --set") {
  const SizesFolder folder;
  const std::string file = "extends = \"base\"\n[training]\ngamma = 0.7\n";
  const Profile p = folder.load(file, {"training.gpu_n_episodes=256", "gpu_profile=sizes"});
  REQUIRE(p.training.gpu_n_episodes == 256);
  REQUIRE(p.training.gamma == 0.5);
  // The last one wins, and none takes none.
  const Profile none = folder.load("extends = \"base\"\ngpu_profile = \"sizes\"\n", {"gpu_profile=none"});
  REQUIRE(none.training.gpu_n_episodes == 128);
  REQUIRE(none.gpu_profile == "none");
}

TEST_CASE("gpu_profile: auto asks once, for the profile as loaded, and the answer is recorded") {
  const SizesFolder folder;
  const std::string file = folder.write("a.toml", "extends = \"base\"\ngpu_profile = \"auto\"\n");
  int asked = 0;
  const auto load = [&](const std::string& answer) {
    return load_profile(file, {"device.device=cuda:1"}, folder.paths(), [&](const Profile& loaded) {
      ++asked;
      REQUIRE(loaded.device.device == "cuda:1");
      REQUIRE(loaded.training.gpu_n_episodes == 128);
      return answer;
    });
  };
  REQUIRE(load("sizes").training.gpu_n_episodes == 512);
  REQUIRE(load("sizes").gpu_profile == "sizes");
  REQUIRE(load("none").training.gpu_n_episodes == 128);
  REQUIRE(load("none").gpu_profile == "none");
  REQUIRE(asked == 4);
  const Profile unasked = load_profile(file, {}, folder.paths());
  REQUIRE(unasked.gpu_profile == "auto");
  REQUIRE(unasked.training.gpu_n_episodes == 128);
}

TEST_CASE("gpu_profile: a resolved profile loads to the same sizes again") {
  const SizesFolder folder;
  const Profile first = folder.load("gpu_profile = \"sizes\"\n[training]\ngamma = 0.7\n");
  const Profile again = folder.load(to_toml(first));
  REQUIRE(to_toml(again) == to_toml(first));
}

TEST_CASE("gpu_profile: an unknown name and a fault in the file are told with their place") {
  const SizesFolder folder;
  test::require_words(folder.refusal("\ngpu_profile = \"size\"\n"), {"a.toml:2", "gpu_profile", "did you mean sizes?"});
  folder.write("sizes.toml", "[training]\ngpu_n_episode = 1\n");
  test::require_words(folder.refusal("gpu_profile = \"sizes\"\n"), {"sizes.toml:2", "training.gpu_n_episodes"});
}

TEST_CASE("gpu_profile: the card's memory and compute capability choose") {
  const auto chosen = [](int major, std::size_t mib) {
    return gpu_profile_for({.name = "card", .major = major, .minor = 0, .memory_bytes = mib << 20});
  };
  REQUIRE(chosen(9, 143771) == "gpu-h200");  // as an H200 reports itself
  REQUIRE(chosen(8, 81251) == "gpu-h200");   // A100, 80 GB
  REQUIRE(chosen(8, 24576) == "gpu-24gb");
  REQUIRE(chosen(8, 23028) == "gpu-24gb");  // A10
  REQUIRE(chosen(7, 65536) == "gpu-24gb");  // room enough, but no Ampere
  REQUIRE(chosen(8, 4096) == "gpu-rtx3050");
  REQUIRE(chosen(8, 3768) == "gpu-rtx3050");  // a little less than it is sold with
  REQUIRE(chosen(8, 2048) == "none");
  REQUIRE(chosen(6, 24576) == "none");
}

TEST_CASE("gpu_profile: the shipped ones set sizes and nothing else, and suit every shipped profile") {
  const ProfilePaths shipped{{test::source_dir() / "profiles"}};
  const std::set<std::string> sizes = {
      "training.gpu_n_episodes",       "training.batch_size",       "training.buffer_size", "training.min_replay_size",
      "training.iterations_in_flight", "replay_buffer.buffer_size", "alpha.windows"};
  std::int64_t smaller_card = load_profile("alpha-phase-a", {}, shipped).alpha.windows;
  for (const std::size_t memory : {4 * gib, 24 * gib, 140 * gib}) {
    const std::string name = gpu_profile_for({.name = "card", .major = 8, .minor = 6, .memory_bytes = memory});
    INFO(name);
    REQUIRE(name.rfind("gpu-", 0) == 0);
    for (const Setting& setting : read_document(find_profile(name, shipped)).settings)
      if (setting.key->name != "description") REQUIRE(sizes.contains(setting.key->name));
    const Profile card = load_profile(name, {}, shipped);
    REQUIRE(card.alpha.windows > smaller_card);
    smaller_card = card.alpha.windows;
    for (const ProfileFile& file : list_profiles(shipped)) {
      INFO(file.name);
      const Profile sized = load_profile(file.name, {"gpu_profile=" + name}, shipped);
      REQUIRE(sized.training.gpu_n_episodes == card.training.gpu_n_episodes);
      REQUIRE(sized.alpha.windows == card.alpha.windows);
      REQUIRE(sized.alpha.steps == load_profile(file.name, {}, shipped).alpha.steps);
    }
  }
}

TEST_CASE("profile: 0 is a seed, and one that is not set is drawn anew each time") {
  const test::ProfileFolder folder;
  Profile zero = folder.load("[run]\nseed = 0\n");
  draw_seed(zero);
  REQUIRE(zero.run.seed == 0);
  std::set<std::int64_t> drawn;
  for (int i = 0; i < 20; ++i) {
    Profile unset = folder.load("");
    REQUIRE_FALSE(unset.run.seed);
    draw_seed(unset);
    REQUIRE(unset.run.seed.value() >= 0);
    REQUIRE(unset.run.seed.value() < std::int64_t{1} << 53);
    drawn.insert(unset.run.seed.value());
    REQUIRE(folder.load(to_toml(unset)).run.seed == unset.run.seed);
  }
  REQUIRE(drawn.size() > 15);
}

TEST_CASE("profile: the profiles that train state their seed") {
  const ProfilePaths shipped{{test::source_dir() / "profiles"}};
  for (const char* name : {"dqn-smoketest", "dqn-baseline", "dqn-throughput"})
    REQUIRE(load_profile(name, {}, shipped).run.seed == 42);
}

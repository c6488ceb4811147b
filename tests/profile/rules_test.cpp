#include "tests/profile/profile_folder.h"

using namespace foxhunt;

namespace {

struct Broken {
  const char* toml;
  std::vector<std::string> words;  ///< that the message has to hold
};

void refuse_all(const std::vector<Broken>& cases) {
  const test::ProfileFolder folder;
  for (const Broken& broken : cases) {
    INFO(broken.toml);
    test::require_words(folder.refusal(broken.toml), broken.words);
  }
}

}  // namespace

TEST_CASE("profile: an unknown key is refused with file, line and the nearest known key") {
  refuse_all({
      {"[training]\n\nbatch_sise = 9\n", {"a.toml:3", "training.batch_sise", "did you mean training.batch_size?"}},
      {"[training]\nlearning_rate = 1\n",
       {"a.toml:2", "training.learning_rate", "did you mean optimizer.learning_rate?"}},
      {"[training]\nlearnin_rate = 1\n", {"a.toml:2", "did you mean optimizer.learning_rate?"}},
      {"[replay_buffer]\nbufer_size = 1\n", {"a.toml:2", "did you mean replay_buffer.buffer_size?"}},
      {"[replay_buffer]\nepsilon_iterations = 1\n", {"a.toml:2", "did you mean exploration.epsilon_iterations?"}},
      {"batch_size = 9\n", {"a.toml:1", "unknown key batch_size", "did you mean training.batch_size?"}},
      {"training.gama = 9\n", {"a.toml:1", "training.gama", "did you mean training.gamma?"}},
      {"[training.gama]\nx = 9\n", {"a.toml:1", "training.gama", "did you mean training.gamma?"}},
      {"\"training.gamma\" = 0.9\n", {"a.toml:1", "unknown key \"training.gamma\""}},
      {"[training]\n\"ga\\nma\" = 0.9\n", {"a.toml:2", "training.\"ga\\u000Ama\"", "training.gamma"}},
      {"[loss]\nzzzzzzzzzzzz = 1\n", {"a.toml:2", "loss.zzzzzzzzzzzz", "known: loss.c51_weight, loss.cql_weight"}},
      {"extend = \"b\"\n", {"a.toml:1", "unknown key extend", "did you mean extends?"}},
      {"Name = \"b\"\n", {"a.toml:1", "unknown key Name", "did you mean name?"}},
  });
}

TEST_CASE("profile: an unknown section is refused with file, line and the nearest known section") {
  refuse_all({
      {"\n[trainin]\nbatch_size = 9\n", {"a.toml:2", "unknown section [trainin]", "did you mean [training]?"}},
      {"[trainin]\n", {"a.toml:1", "unknown section [trainin]"}},
      {"[[optimiser]]\n", {"a.toml:1", "unknown section [optimiser]", "did you mean [optimizer]?"}},
      {"[zzzzzzzzzzzz]\n", {"a.toml:1", "zzzzzzzzzzzz", "known: run, device, data"}},
      {"training = 3\n", {"a.toml:1", "training is a section", "expected [training]"}},
      {"[[training]]\n", {"a.toml:1", "training is a section", "expected [training]"}},
      {"[training.gamma]\nx = 1\n", {"a.toml:1", "training.gamma: expected a number in [0, 1]"}},
  });
}

TEST_CASE("profile: of several faults the first in the file is told") {
  refuse_all({{"[training]\nzeta = 1\n[data]\nalpha_ = 2\n", {"a.toml:2", "training.zeta"}},
              {"[training]\nz = 1\na = 2\n", {"a.toml:2", "training.z"}}});
}

TEST_CASE("profile: what is not TOML is refused with its line") {
  refuse_all({
      {"[training]\ngamma = 0.9\ngamma = 0.8\n", {"a.toml:3", "cannot redefine", "gamma = 0.8"}},
      {"[training]\ngamma = 0.9\n[data]\n[training]\n", {"a.toml:4", "cannot redefine", "[training]"}},
      {"[training]\ngamma =\n", {"a.toml:2", "not TOML", "gamma ="}},
      {"[training\ngamma = 1\n", {"a.toml:1", "not TOML", "[training"}},
      {"[training]\nbatch_size = 123456789012345678901\n", {"a.toml:2", "batch_size", "64 bits"}},
      {"[guards]\npolicy = skip\n", {"a.toml:2", "not TOML", "policy = skip"}},
      {"x = \"\xff\"\n", {"a.toml:1", "utf-8"}},
      {"[network]\nspectral_norm = tru\n", {"a.toml:2", "not TOML", "spectral_norm = tru"}},
      {"[data]\npath = \xc3\xa9.csv\n", {"a.toml:2", "not TOML"}},
      {"=1\n", {"a.toml:1", "not TOML"}},
      {"gamma 0.9\n", {"a.toml:1", "not TOML", "gamma 0.9"}},
  });
  const test::ProfileFolder folder;
  REQUIRE_NOTHROW(folder.load("\xef\xbb\xbf[training]\r\ngamma = 0.5\r\n"));
  const std::string nested = "x = " + std::string(100000, '[');
  test::require_words(folder.refusal(nested), {"a.toml:1", "not TOML"});
}

TEST_CASE("profile: keys that contradict each other are refused, both named with their values and places") {
  refuse_all({
      {"[training]\nbuffer_size = 8192\n[replay_buffer]\nbuffer_size = 4096\n",
       {"a.toml:4", "replay_buffer.buffer_size = 4096", "must equal", "training.buffer_size = 8192 (", "a.toml:2)"}},
      {"[training]\nbuffer_size = 1024\nbatch_size = 1025\nmin_replay_size = 64\n",
       {"a.toml:3", "training.batch_size = 1025", "at most", "training.buffer_size = 1024 (", "a.toml:2)"}},
      {"[training]\nbuffer_size = 1024\nmin_replay_size = 1025\n",
       {"a.toml:3", "training.min_replay_size = 1025", "at most", "training.buffer_size = 1024 (", "a.toml:2)"}},
      {"[training]\nbuffer_size = 8193\n",
       {"a.toml:2", "training.buffer_size = 8193", "multiple", "training.gpu_n_episodes = 64 (default)"}},
      {"[training]\ngpu_n_episodes = 100\n",
       {"a.toml:2", "training.buffer_size = 65536 (default)", "training.gpu_n_episodes = 100;"}},
      {"[training]\nbuffer_size = 320\nbatch_size = 32\nmin_replay_size = 64\nn_step = 4\n",
       {"a.toml:2", "training.buffer_size = 320", "training.gpu_n_episodes = 64", "training.n_step = 4 (",
        "a.toml:5)"}},
      {"[training]\nepochs = 1\ngpu_timesteps_per_episode = 10\n",
       {"a.toml:2", "training.min_replay_size = 4096 (default)", "640", "training.epochs = 1;"}},
      {"[network]\nv_min = 10\nv_max = 10\n",
       {"a.toml:2", "network.v_min = 10.0", "below", "network.v_max = 10.0 (", "a.toml:3)"}},
      {"[exploration]\nepsilon_start = 0.1\nepsilon_end = 0.2\n",
       {"a.toml:3", "exploration.epsilon_end = 0.2", "exploration.epsilon_start = 0.1 (", "a.toml:2)"}},
      {"[replay_buffer]\nbeta_start = 0.9\nbeta_end = 0.8\n",
       {"a.toml:2", "replay_buffer.beta_start = 0.9", "replay_buffer.beta_end = 0.8 (", "a.toml:3)"}},
      {"[data]\ntrain_fraction = 0.85\n",
       {"a.toml:2", "data.train_fraction = 0.85", "below 1", "data.validation_fraction = 0.15 (default)"}},
      {"[early_stopping]\nenabled = true\n[evaluation]\nevery_epochs = 0\n",
       {"a.toml:2", "early_stopping.enabled", "evaluation.every_epochs = 0 (", "a.toml:4)"}},
      {"[environment]\nactions = [-1, 1]\n", {"a.toml:2", "environment.actions = [-1.0, 1.0]", "lacks 0"}},
      {"[environment]\nactions = [0, 0.5, 1, 0.5]\n", {"a.toml:2", "environment.actions", "twice"}},
      {"[environment]\nactions = [-0.0, 0, 1]\n", {"a.toml:2", "environment.actions", "twice"}},
      {"[data]\nresample_minutes = 7\n", {"a.toml:2", "data.resample_minutes = 7", "divide a day"}},
      {"[data]\ncalendar = \"cme-equity-indx\"\n", {"a.toml:2", "data.calendar", "did you mean \"cme-equity-index\"?"}},
      {"[features]\ntimeframes = [5, 7]\n", {"a.toml:2", "features.timeframes = [5, 7]", "divide a day"}},
      {"[features]\ntimeframes = [5, 30, 5]\n", {"a.toml:2", "features.timeframes", "twice"}},
      {"[data]\nresample_minutes = 15\n[features]\ntimeframes = [30, 40]\n",
       {"a.toml:4", "features.timeframes = [30, 40]", "multiples", "data.resample_minutes = 15 (", "a.toml:2)"}},
      {"[data]\nresample_minutes = 15\n[features]\ntimeframes = [15]\n", {"a.toml:4", "features.timeframes"}},
      {"name = \"a/b\"\n", {"a.toml:1", "name = \"a/b\""}},
  });
}

TEST_CASE("profile: the edges of the rules are legal") {
  const test::ProfileFolder folder;
  const auto accept = [&](const std::string& toml) {
    INFO(toml);
    REQUIRE_NOTHROW(folder.load(toml));
  };
  accept("[training]\nbuffer_size = 1024\nbatch_size = 1024\nmin_replay_size = 1024\n");
  accept("[training]\nbuffer_size = 384\nbatch_size = 32\nmin_replay_size = 1\nn_step = 4\n");  // 6 an episode > 4 + 1
  accept("[training]\nbatch_size = 512\nmin_replay_size = 64\n");      // a batch is drawn with replacement
  accept("[training]\nepochs = 1\ngpu_timesteps_per_episode = 64\n");  // 4,096 transitions, just enough
  accept("[exploration]\nepsilon_start = 0.1\nepsilon_end = 0.1\n");
  accept("[replay_buffer]\nbeta_start = 1\n");
  accept("[data]\ntrain_fraction = 0.84\n");
  accept("[data]\nresample_minutes = 15\n[features]\ntimeframes = [30, 1440]\n");
  accept("[environment]\nactions = [0, 1]\n");
  accept("[evaluation]\nevery_epochs = 0\n");
}

TEST_CASE("profile: of the two buffer sizes the one that is set speaks for both") {
  const test::ProfileFolder folder;
  for (const char* section : {"[training]", "[replay_buffer]"}) {
    const profile::Profile loaded = folder.load(std::string(section) + "\nbuffer_size = 8192\n");
    REQUIRE(loaded.training.buffer_size == 8192);
    REQUIRE(loaded.replay_buffer.buffer_size == 8192);
  }
  REQUIRE(folder.load("", {"replay_buffer.buffer_size=8192"}).training.buffer_size == 8192);
  test::require_words(folder.refusal("[training]\nbuffer_size = 8192\n", {"replay_buffer.buffer_size=4096"}),
                      {"--set replay_buffer.buffer_size=4096", "training.buffer_size = 8192 (", "a.toml:2"});
}

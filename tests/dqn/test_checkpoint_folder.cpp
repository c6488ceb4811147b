// Checkpoints against kills, full disks and damage.
#include <fcntl.h>

#include <fstream>
#include <random>

#include "core/run/checkpoint_folder.h"
#include "tests/dqn/training_fixture.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

std::unique_ptr<Training> small_training() {
  return synthetic_training("host", market::MarketKind::walk,
                            {"data.purge_rows=60", "network.hidden=[8]", "network.atoms=11"});
}

dqn::TrainingState state_at(Training& training, std::int64_t epoch) {
  dqn::TrainingState state = training.trainer.state();
  state.epoch = epoch;
  state.iteration = epoch * 50;
  return state;
}

run::CheckpointFolder open_folder(const TemporaryFolder& folder, std::int64_t keep = 3) {
  return {folder.path(), keep, {}, {{"profile", "test"}}};
}

void save_epoch(run::CheckpointFolder& checkpoints, Training& training, std::int64_t epoch) {
  checkpoints.save_epoch({epoch, epoch * 50},
                         dqn::training_writer(training.trainer.agent(), state_at(training, epoch)));
}

std::int64_t newest_iteration(const TemporaryFolder& folder) {
  return run::iteration_of(run::newest_checkpoint(folder.path()).contents);
}

void overwrite(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("checkpoint_folder: the latest epochs and the best stay, the newest is found") {
  const TemporaryFolder folder;
  const auto training = small_training();
  const dqn::Agent& agent = training->trainer.agent();
  auto checkpoints = open_folder(folder, 2);
  std::ofstream(folder / "epoch-000001.txt") << "not a checkpoint";
  for (std::int64_t epoch = 1; epoch <= 4; ++epoch) save_epoch(checkpoints, *training, epoch);
  checkpoints.save_best({2, 100}, dqn::learner_writer(agent, dqn::download_learner(*training->device, agent)));
  checkpoints.wait();
  REQUIRE(files_in(folder.path()) == 4);
  REQUIRE(newest_iteration(folder) == 200);
  dqn::TrainingState last = state_at(*training, 4);
  last.iteration = 217;
  checkpoints.save_last({last.epoch, last.iteration}, dqn::training_writer(agent, last));
  checkpoints.wait();
  REQUIRE(newest_iteration(folder) == 217);
  save_epoch(checkpoints, *training, 5);  // a run taken up from `last` and killed later
  checkpoints.wait();
  REQUIRE(newest_iteration(folder) == 250);

  const std::filesystem::path older = folder / "epoch-000004.safetensors";
  run::set_newer_aside(folder.path(), {older, run::SafetensorsFile::load(older)});
  REQUIRE(newest_iteration(folder) == 200);
  REQUIRE(std::filesystem::exists(folder / "last.safetensors.superseded"));
  REQUIRE(std::filesystem::exists(folder / "epoch-000005.safetensors.superseded"));
}

TEST_CASE("checkpoint_folder: a writer killed at 1,000 random moments leaves the previous checkpoint or the new one") {
  const TemporaryFolder folder;
  const auto training = small_training();
  const dqn::Agent& agent = training->trainer.agent();
  dqn::TrainingState state = state_at(*training, 0);
  std::mt19937_64 random(seed());
  std::int64_t known = 0;
  int in_the_middle = 0;
  {
    auto checkpoints = open_folder(folder);
    checkpoints.save_last({0, 0}, dqn::training_writer(agent, state));
    checkpoints.wait();
  }
  for (int round = 0; round < 1000; ++round) {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const pid_t child = fork();
    if (child == 0) {
      for (std::int64_t i = known + 1;; ++i) {
        state.iteration = i;
        if (write(ends[1], &i, sizeof i) != sizeof i) _exit(1);
        dqn::save_training(folder / "last.safetensors", agent, state, {});
      }
    }
    close(ends[1]);
    std::int64_t begun = 0;
    REQUIRE(read(ends[0], &begun, sizeof begun) == sizeof begun);
    usleep(static_cast<useconds_t>(random() % 6000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], &begun, sizeof begun) == sizeof begun) {}
    close(ends[0]);
    known = newest_iteration(folder);
    in_the_middle += std::filesystem::exists(folder / "last.safetensors.tmp");
    CAPTURE(round, begun, known);
    REQUIRE((known == begun || known == begun - 1));
  }
  std::cout << "killed 1000 writers, " << in_the_middle << " with half a file\n";
  REQUIRE(in_the_middle > 0);  // else the kills met nothing
}

TEST_CASE("checkpoint_folder: cut at 200 places or with a bit flipped at 200, refused, and the one before it offered") {
  const TemporaryFolder folder;
  const auto training = small_training();
  auto checkpoints = open_folder(folder);
  save_epoch(checkpoints, *training, 1);
  save_epoch(checkpoints, *training, 2);
  checkpoints.wait();
  std::mt19937_64 random(seed());
  for (const char* name : {"epoch-000002.safetensors", "last.safetensors"}) {
    const std::filesystem::path file = folder / name;
    const std::string whole = text_of(folder / "epoch-000002.safetensors");
    const auto require_refused = [&](const std::string& bytes) {
      overwrite(file, bytes);
      const std::string error = error_of([&] { run::newest_checkpoint(folder.path()); });
      CAPTURE(error);
      REQUIRE(error.starts_with("7 "));
      REQUIRE(error.find(file.string()) != std::string::npos);
      REQUIRE(error.find(file.filename() == "last.safetensors"
                             ? "--resume " + (folder / "epoch-000002").string()
                             : "--resume " + (folder / "epoch-000001").string()) != std::string::npos);
    };
    for (int i = 0; i < 200; ++i) {
      const std::size_t place = random() % whole.size();
      CAPTURE(name, place);
      require_refused(whole.substr(0, place));
      std::string flipped = whole;
      flipped[place] = static_cast<char>(flipped[place] ^ (1 << (random() % 8)));
      require_refused(flipped);
    }
    overwrite(file, whole);
    REQUIRE(newest_iteration(folder) == 100);
  }
}

TEST_CASE("checkpoint_folder: a disk that is full at any byte of a checkpoint leaves the old ones, and says so") {
  const TemporaryFolder folder;
  const auto training = small_training();
  const dqn::Agent& agent = training->trainer.agent();
  {
    auto checkpoints = open_folder(folder, 1);
    save_epoch(checkpoints, *training, 1);
    checkpoints.wait();
  }
  const auto size = std::filesystem::file_size(folder / "epoch-000001.safetensors");
  const std::string before = text_of(folder / "epoch-000001.safetensors");
  const dqn::TrainingState next = state_at(*training, 2);
  const TemporaryFolder scratch;
  for (int part = 0; part < 40; ++part) {
    const std::string error = error_with_file_limit(scratch / "result", size * part / 40, [&] {
      dqn::save_training(folder / "epoch-000002.safetensors", agent, next, {});
    });
    CAPTURE(part, error);
    REQUIRE(error.starts_with("7 cannot write"));
    REQUIRE(error.find("epoch-000002.safetensors: File too large") != std::string::npos);
    REQUIRE(files_in(folder.path()) == 1);
    REQUIRE((text_of(folder / "epoch-000001.safetensors") == before));
  }
}

TEST_CASE("checkpoint_folder: what goes wrong in the background is thrown by the next call, and no old file removed") {
  const TemporaryFolder folder;
  const auto training = small_training();
  const dqn::Agent& agent = training->trainer.agent();
  auto checkpoints = open_folder(folder, 1);
  save_epoch(checkpoints, *training, 1);
  checkpoints.wait();
  const std::filesystem::path in_the_way = folder / "epoch-000002.safetensors.tmp";
  std::filesystem::create_directory(in_the_way);
  save_epoch(checkpoints, *training, 2);
  const std::string error = error_of([&] {
    checkpoints.save_last({2, 100}, dqn::training_writer(agent, state_at(*training, 2)));
  });
  CAPTURE(error);
  REQUIRE(error.starts_with("7 cannot create " + in_the_way.string()));
  checkpoints.wait();
  REQUIRE(newest_iteration(folder) == 50);
}

#include <cstdlib>
#include <random>
#include <sstream>

#include "core/profile/document.h"
#include "core/profile/resources.h"
#include "tests/profile/profile_folder.h"

using namespace foxhunt;
namespace fs = std::filesystem;

namespace {

/// An environment variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

}  // namespace

TEST_CASE("profile: a profile overrides what it extends, an override overrides both") {
  const test::ProfileFolder folder;
  folder.write("root.toml", "description = \"root\"\n[training]\ngamma = 0.5\nn_step = 1\nbatch_size = 8\n");
  folder.write("middle.toml", "extends = \"root\"\nname = \"mid\"\n[training]\ngamma = 0.6\nn_step = 2\n");
  const std::string leaf = "extends = \"middle\"\n[training]\ngamma = 0.7\n";
  const profile::Profile loaded = folder.load(leaf);
  REQUIRE(loaded.training.gamma == 0.7);
  REQUIRE(loaded.training.n_step == 2);
  REQUIRE(loaded.training.batch_size == 8);
  REQUIRE(loaded.name == "a");  // neither name nor description is inherited
  REQUIRE(loaded.description.empty());
  REQUIRE(folder.load(leaf, {"training.gamma=0.8"}).training.gamma == 0.8);
  REQUIRE(folder.load(leaf, {"training.gamma=0.8", "training.gamma = 0.9"}).training.gamma == 0.9);
}

TEST_CASE("profile: extends takes a path relative to the file, and a name beside the file first") {
  const test::ProfileFolder folder;
  folder.write("base.toml", "[training]\ngamma = 0.1\n");
  folder.write("sub/base.toml", "[training]\ngamma = 0.2\n");
  const auto gamma = [&](const std::string& file, const std::string& text) {
    return profile::load_profile(folder.write(file, text), {}, folder.paths()).training.gamma;
  };
  REQUIRE(gamma("sub/a.toml", "extends = \"base\"\n") == 0.2);
  REQUIRE(gamma("sub/a.toml", "extends = \"../base.toml\"\n") == 0.1);
  REQUIRE(gamma("other/a.toml", "extends = \"base\"\n") == 0.1);
  REQUIRE(gamma("a.toml", "extends = \"sub/base.toml\"\n") == 0.2);
  REQUIRE(gamma("a.toml", "extends = \"" + (folder.path() / "sub" / "base.toml").string() + "\"\n") == 0.2);
}

TEST_CASE("profile: a circle, a missing parent and a fault in a parent are refused with their place") {
  const test::ProfileFolder folder;
  test::require_words(folder.refusal("\nextends = \"a\"\n"), {"a.toml:2", "extends", "circle", "a.toml -> a.toml"});
  folder.write("b.toml", "extends = \"c\"\n");
  folder.write("c.toml", "extends = \"./a.toml\"\n");
  test::require_words(folder.refusal("extends = \"b\"\n"),
                      {"c.toml:1", "circle", "a.toml -> b.toml -> c.toml -> a.toml"});
  folder.write("dqn-base.toml", "");
  test::require_words(folder.refusal("extends = \"dqn-bas\"\n"), {"a.toml:1", "extends", "did you mean dqn-base?"});
  test::require_words(folder.refusal("extends = \"nowhere/x.toml\"\n"), {"a.toml:1", "extends", "nowhere/x.toml"});
  test::require_words(folder.refusal("extends = 3\n"), {"a.toml:1", "extends", "in quotes"});
  test::require_words(folder.refusal("extends = \"\"\n"), {"a.toml:1", "extends"});
  folder.write("b.toml", "\n[training]\ngama = 1\n");
  test::require_words(folder.refusal("extends = \"b\"\n"), {"b.toml:3", "training.gama", "training.gamma"});
  folder.write("b.toml", "[training]\nbuffer_size = 8192\n");
  test::require_words(folder.refusal("extends = \"b\"\n[replay_buffer]\nbuffer_size = 4096\n"),
                      {"a.toml:3", "b.toml:2"});
}

TEST_CASE("profile: overrides are TOML, with bare words for text alone") {
  const test::ProfileFolder folder;
  const auto with = [&](const std::string& override_text) { return folder.load("", {override_text}); };
  REQUIRE(with("optimizer.learning_rate=3e-4").optimizer.learning_rate == 3e-4);
  REQUIRE(with("network.hidden=[64, 64]").network.hidden == std::vector<std::int64_t>{64, 64});
  REQUIRE(with("network.spectral_norm = true").network.spectral_norm);
  REQUIRE(with("guards.policy=skip").guards.policy == "skip");
  REQUIRE(with("guards.policy='skip'").guards.policy == "skip");
  REQUIRE(with("data.path=/data/a=b #1.csv").data.path == "/data/a=b #1.csv");
  REQUIRE(with("data.path=\xc3\xa9.csv").data.path == "\xc3\xa9.csv");
  REQUIRE(with("data.path=").data.path.empty());
  const auto refused = [&](const std::string& text, std::vector<std::string> words) {
    INFO(text);
    words.push_back("--set " + printable(text));
    test::require_words(folder.refusal("", {text}), words);
  };
  refused("training.gamma=abc", {"training.gamma: expected a number in [0, 1], got abc"});
  refused("training.gamma=\"0.9\"", {"training.gamma: expected a number"});
  refused("training.gamma=nan", {"training.gamma: expected a number"});
  refused("training.gamma=", {"training.gamma", "got nothing"});
  refused("training.batch_size=9.0", {"training.batch_size: expected an integer"});
  refused("training.batch_size=0", {"training.batch_size: expected an integer in [1, 1048576]"});
  refused("training.gama=0.9", {"did you mean training.gamma?"});
  refused("gamma=0.9", {"did you mean training.gamma?"});
  refused("training=3", {"training is a section"});
  refused("training.gamma", {"key=value"});
  refused("=3", {"unknown key"});
  refused("extends=b", {"extends", "file"});
  refused("contract.symbol=6", {"contract.symbol: expected one line of text in quotes"});
  refused("run.output=\xff", {"run.output: expected one line of text"});
  refused("training.batch_size=100000", {"training.batch_size = 100000", "training.buffer_size = 65536 (default)"});
  REQUIRE_THROWS_AS(profile::read_override("training.gamma=0.5\ntraining.n_step=4"), Error);
}

TEST_CASE("profile: a name is looked up folder by folder, a path is taken as it is") {
  const test::ProfileFolder first, second;
  first.write("x.toml", "[training]\ngamma = 0.1\n");
  second.write("x.toml", "[training]\ngamma = 0.2\n");
  second.write("dqn-other.toml", "");
  second.write("notes.txt", "");
  const profile::ProfilePaths paths{{first.path() / "absent", first.path(), second.path()}};
  REQUIRE(profile::load_profile("x", {}, paths).training.gamma == 0.1);
  REQUIRE(profile::load_profile("x", {}, paths).name == "x");
  REQUIRE(profile::load_profile((second.path() / "x.toml").string(), {}, paths).training.gamma == 0.2);
  const std::vector<profile::ProfileFile> known = profile::list_profiles(paths);
  REQUIRE(known.size() == 2);
  REQUIRE(known[0].name == "dqn-other");
  REQUIRE(known[1].file == first.path() / "x.toml");
  test::require_words(second.refusal_of("dqn-othr"), {"dqn-othr", "did you mean dqn-other?", second.path().string()});
  test::require_words(second.refusal_of(""), {"no profile \"\""});
  test::require_words(second.refusal_of("missing.toml"), {"missing.toml", "no such profile file"});
  test::require_words(second.refusal_of(second.path().string()), {second.path().string(), "is a folder"});
  second.write("huge.toml", std::string((1 << 20) + 1, '#'));
  test::require_words(second.refusal_of("huge"), {"huge.toml", "larger than 1 MiB"});
}

TEST_CASE("profile: environment variables name the folders of profiles and market data") {
  const test::ProfileFolder folder;
  folder.write("mine.toml", "");
  {
    const Variable variable("FOXHUNT_PROFILES", folder.path().string());
    REQUIRE(profile::load_profile("mine", {}, profile::ProfilePaths::standard()).name == "mine");
    REQUIRE(profile::load_profile("dqn-smoketest", {}, profile::ProfilePaths::standard()).name == "dqn-smoketest");
    REQUIRE(find_resource_dir("profiles") == folder.path());
  }
  {
    const Variable variable("FOXHUNT_TEST_DATA", folder.path().string());
    REQUIRE(resource_dirs("test_data") == std::vector<fs::path>{folder.path()});
  }
  for (const auto& [name, kind] :
       {std::pair("FOXHUNT_PROFILES", "profiles"), std::pair("FOXHUNT_TEST_DATA", "test_data")}) {
    const Variable variable(name, "/no/such/folder");
    try {
      find_resource_dir(kind);
      FAIL("accepted");
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::usage);
      test::require_words(error.what(), {name, "/no/such/folder"});
    }
  }
}

TEST_CASE("profile: an error is one short line, whatever a file or an argument holds") {
  const test::ProfileFolder folder;
  const std::string megabyte(1'000'000, 'k'), control = "a\\nb\\u001B[31m";
  const std::vector<std::string> files{
      "[training]\n" + megabyte + " = 1\n",    "[" + megabyte + "]\na = 1\n",         megabyte + " = 1\n",
      "extends = \"" + megabyte + "\"\n",      "extends = \"" + control + "\"\n",     "extends = \"a\\u0000b\"\n",
      "[training]\n\"" + control + "\" = 1\n", "[data]\npath = \"" + control + "\"\n"};
  for (const std::string& text : files) {
    const std::string message = folder.refusal(text);
    INFO(message);
    REQUIRE(message.size() < 4000);
    REQUIRE(message == printable(message));
  }
  for (const std::string& argument : {"training." + megabyte + "=1", "training.gamma=" + megabyte,
                                      std::string("training.ga\nmma=1"), std::string("training.gamma=\x1B[31m")}) {
    const std::string message = folder.refusal("", {argument});
    INFO(message);
    REQUIRE(message.size() < 4000);
    REQUIRE(message == printable(message));
  }
}

TEST_CASE("profile: damaged files are refused or loaded, and nothing else happens") {
  std::mt19937_64 random(test::seed());
  const test::ProfileFolder folder;
  const std::string whole = profile::read_text(test::source_dir() / "profiles" / "dqn-smoketest.toml");
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string text = whole;
    for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(20));
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(40)));
          break;
        default:
          text.insert(at, 1, "[]{}\"'=.,-+eE09\n#\0"[below(18)]);
          break;
      }
    }
    INFO(text);
    try {
      folder.load(text);
    } catch (const Error& error) {
      ++refused;
      REQUIRE(error.code() == ExitCode::usage);
      REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
    }
  }
  REQUIRE(refused > 100);
}

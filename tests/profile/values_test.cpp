#include <cmath>
#include <limits>

#include "core/profile/document.h"
#include "core/profile/printer.h"
#include "core/profile/schema.h"
#include "tests/profile/profile_folder.h"

using namespace foxhunt;
using namespace foxhunt::profile;

namespace {

struct Sample {
  const char* toml;
  std::vector<std::string> types;  ///< that may take it, limits aside
};

// Nothing is converted but an integer to a number.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {"true", {"true or false"}},
      {"1", {"integer", "integer, optional", "number", "number, optional"}},
      {"9.0", {"number", "number, optional"}},
      {"\"32\"", {"text"}},
      {"\"true\"", {"text"}},
      {"[64, 64]", {"list of numbers", "list of integers"}},
      {"[64.0]", {"list of numbers"}},
      {"[\"64\"]", {"list of text"}},
      {"[\"a\", 1]", {}},
      {"[[64]]", {}},
      {"{ a = 1 }", {}},
      {"2026-01-01", {}},
      {"nan", {}},
      {"inf", {}},
      {"-inf", {}},
      {"123456789012345678901", {}},
      {"3e", {}},
  };
  return all;
}

/// `key = value` under its section, the value on line 2.
std::string file_with(const Key& key, const std::string& value) {
  const std::string section(section_of(key.name)), leaf(leaf_of(key.name));
  return (section.empty() ? "# top of the file" : "[" + section + "]") + "\n" + leaf + " = " + value + "\n";
}

/// Whether --set takes the number; the key alone, without the rules that tie keys together.
bool taken(const Key& key, const Value& number) {
  const bool list = type_name(key).starts_with("list");
  const std::string text = toml_text(number);
  std::string elements = text;
  for (std::size_t i = 1; i < key.limits.min_length; ++i) elements += ", " + text;
  try {
    read_override(key.name + "=" + (list ? "[" + elements + "]" : text));
    return true;
  } catch (const Error& error) {
    REQUIRE(error.code() == ExitCode::usage);
    test::require_words(error.what(),
                        {"--set " + key.name, range_text(key).substr(range_text(key).find_first_of("[("))});
    return false;
  }
}

void check_number_bounds(const Key& key) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Limits& limits = key.limits;
  REQUIRE(taken(key, limits.min) == !limits.min_open);
  REQUIRE_FALSE(taken(key, std::nextafter(limits.min, -infinity)));
  REQUIRE(taken(key, std::nextafter(limits.min, infinity)));
  REQUIRE(taken(key, limits.max) == !limits.max_open);
  REQUIRE_FALSE(taken(key, std::nextafter(limits.max, infinity)));
  REQUIRE(taken(key, std::nextafter(limits.max, -infinity)));
}

void check_integer_bounds(const Key& key) {
  const Limits& limits = key.limits;
  const auto low = static_cast<std::int64_t>(limits.min);
  REQUIRE(taken(key, low));
  REQUIRE_FALSE(taken(key, low - 1));
  if (!std::isfinite(limits.max)) {
    REQUIRE(taken(key, std::numeric_limits<std::int64_t>::max()));
    return;
  }
  const auto high = static_cast<std::int64_t>(limits.max);
  REQUIRE(taken(key, high));
  REQUIRE_FALSE(taken(key, high + 1));
}

}  // namespace

TEST_CASE("profile: a value of the wrong type is refused for every key, with file, line, key and what was expected") {
  const test::ProfileFolder folder;
  for (const Key& key : schema()) {
    for (const Sample& sample : samples()) {
      if (std::count(sample.types.begin(), sample.types.end(), type_name(key))) continue;
      INFO(key.name << " = " << sample.toml);
      const std::string message = folder.refusal(file_with(key, sample.toml));
      test::require_words(message, {"a.toml:2", std::string(leaf_of(key.name))});
      if (message.find("not TOML") == std::string::npos) {
        test::require_words(message, {key.name + ": expected " + expected_text(key)});
      }
    }
  }
}

TEST_CASE("profile: numbers in every notation of TOML are numbers") {
  const test::ProfileFolder folder;
  REQUIRE(folder.load("[optimizer]\nlearning_rate = 2e-5\n").optimizer.learning_rate == 2e-5);
  REQUIRE(folder.load("[optimizer]\nlearning_rate = 3e-4\n").optimizer.learning_rate == 3e-4);
  REQUIRE(folder.load("[optimizer]\nlearning_rate = 1\n").optimizer.learning_rate == 1.0);
  REQUIRE(folder.load("[training]\nbatch_size = 1_024\n").training.batch_size == 1024);
  REQUIRE(folder.load("[training]\nbatch_size = 0x20\n").training.batch_size == 32);
  REQUIRE(folder.load("training.gamma = 0.5\n").training.gamma == 0.5);
  test::require_words(folder.refusal("[training]\nbatch_size = 9.0\n"), {"a.toml:2", "an integer", "9.0"});
  test::require_words(folder.refusal("[training]\nbatch_size = \"32\"\n"), {"a.toml:2", "an integer", "\"32\" (text)"});
}

TEST_CASE("profile: limits hold at both ends of every key") {
  for (const Key& key : schema()) {
    INFO(key.name);
    const std::string type = type_name(key);
    if (type == "integer" || type == "integer, optional" || type == "list of integers") check_integer_bounds(key);
    if (type == "number" || type == "number, optional" || type == "list of numbers") check_number_bounds(key);
  }
}

TEST_CASE("profile: the lengths of lists are limited") {
  const test::ProfileFolder folder;
  test::require_words(folder.refusal("[network]\nhidden = []\n"), {"a.toml:2", "network.hidden", "1 to 8"});
  test::require_words(folder.refusal("[network]\nhidden = [8,8,8,8,8,8,8,8,8]\n"), {"a.toml:2", "1 to 8"});
  test::require_words(folder.refusal("[environment]\nactions = [0]\n"), {"a.toml:2", "2 to 32"});
  std::string many = "0";
  for (int i = 1; i <= 32; ++i) many += ", " + std::to_string(i / 64.0);
  test::require_words(folder.refusal("[environment]\nactions = [" + many + "]\n"), {"a.toml:2", "2 to 32"});
  test::require_words(folder.refusal("[network]\nhidden = [64,\n 4097]\n"), {"a.toml:2", "network.hidden", "4097"});
}

TEST_CASE("profile: a word outside its set is refused with the nearest one") {
  const test::ProfileFolder folder;
  test::require_words(folder.refusal("[optimizer]\nschedule = \"cosin\"\n"),
                      {"a.toml:2", "optimizer.schedule", "constant, linear, cosine", "did you mean \"cosine\""});
  test::require_words(folder.refusal("[guards]\npolicy = \"ignore\"\n"), {"guards.policy", "halt, skip, rollback"});
  for (const char* good : {"auto", "host", "cuda:0", "cuda:15"}) {
    REQUIRE(folder.load("", {std::string("device.device=") + good}).device.device == good);
  }
  for (const char* bad : {"cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cuda:1000000", "gpu"}) {
    test::require_words(folder.refusal("[device]\ndevice = \"" + std::string(bad) + "\"\n"),
                        {"a.toml:2", "device.device", "cuda:N"});
  }
  test::require_words(folder.refusal("description = \"two\\nlines\"\n"), {"a.toml:1", "description", "one line"});
}

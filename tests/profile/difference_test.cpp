#include "core/profile/difference.h"

#include "core/profile/schema.h"
#include "tests/profile/profile_folder.h"

using namespace foxhunt;
using namespace foxhunt::profile;

TEST_CASE("profile: differences are the keys that differ, in schema order, as TOML") {
  const test::ProfileFolder folder;
  const Profile a = folder.load("name = \"one\"\n[training]\ngamma = 0.5\n[contract]\nmultiplier = 20\n");
  const Profile b = folder.load("name = \"two\"\n[network]\nhidden = [8, 8]\n[run]\nseed = 0\n");
  REQUIRE(differences(a, a).empty());
  const std::vector<SideBySide> rows = differences(a, b);
  REQUIRE(rows.size() == 4);
  const auto is = [](const SideBySide& row, const char* name, const char* first, const char* second) {
    return row.name == name && row.first == first && row.second == second;
  };
  REQUIRE(is(rows[0], "run.seed", "", "0"));
  REQUIRE(is(rows[1], "contract.multiplier", "20.0", ""));
  REQUIRE(is(rows[2], "training.gamma", "0.5", "0.99"));
  REQUIRE(is(rows[3], "network.hidden", "[256, 256]", "[8, 8]"));
}

TEST_CASE("profile: every key but name and description takes part in a comparison") {
  std::size_t found = 0;
  for (const Key& key : schema()) {
    INFO(key.name);
    Profile other = default_profile();
    if (key.name == "run.seed") {
      other.run.seed = 1;
    } else if (auto* number = std::get_if<double>(&key.fallback)) {
      set_value(key, *number + 0.5, other);
    } else if (auto* text = std::get_if<std::string>(&key.fallback)) {
      set_value(key, *text + "x", other);
    } else {
      continue;
    }
    const auto rows = differences(default_profile(), other);
    const bool silent = key.name == "name" || key.name == "description";
    REQUIRE(rows.size() == (silent ? 0 : 1));
    if (!silent) REQUIRE(rows[0].name == key.name);
    ++found;
  }
  REQUIRE(found > 40);
}

TEST_CASE("profile: a comparison lines up under its headline, and what is not set shows as a dash") {
  REQUIRE(side_by_side({"key", "a", "longer"}, {{"run.seed", "12345", ""}, {"x", "", "2"}}) ==
          "key       a      longer\n"
          "run.seed  12345  -\n"
          "x         -      2\n");
}

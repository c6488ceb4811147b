#include "core/profile/schema.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <sstream>

#include "core/profile/checks.h"
#include "core/profile/document.h"
#include "core/profile/printer.h"
#include "tests/profile/profile_folder.h"

using namespace foxhunt;
using namespace foxhunt::profile;

namespace {

/// Dotted names of the members that profile.h declares, read from its text: `struct X { TYPE a, b; ... } x;`.
std::multiset<std::string> declared_members() {
  std::ifstream in(test::source_dir() / "core/profile/profile.h");
  std::multiset<std::string> names;
  std::vector<std::string> pending;
  bool nested = false;
  for (std::string line; std::getline(in, line);) {
    std::string code = line.substr(0, line.find("//"));
    std::replace_if(
        code.begin(), code.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
    std::istringstream words(code);
    std::string first, name;
    words >> first;
    if (first == "struct") nested = line.starts_with("  ");
    if (first == "}" && nested && words >> name) {
      for (const std::string& leaf : pending) names.insert(name + "." + leaf);
      pending.clear();
      nested = false;
    } else if (line.find(';') != std::string::npos && first != "}") {
      while (words >> name) nested ? pending.push_back(name) : void(names.insert(name));
    }
  }
  return names;
}

double number_within(const Limits& limits, std::mt19937_64& random) {
  const double low = std::max(limits.min, -1e6), high = std::min(limits.max, 1e6);
  for (;;) {
    const double number = std::uniform_real_distribution<double>(low, high)(random);
    if (within(limits, number)) return number;
  }
}

std::string word_within(const Limits& limits, std::mt19937_64& random) {
  if (limits.words.empty()) {
    static constexpr const char* awkward[] = {"", "a \"quoted\" \\ word", "# no comment", "3e-4", "h\u00e9 \u2192"};
    return awkward[random() % std::size(awkward)];
  }
  const std::string word = limits.words[random() % limits.words.size()];
  return word == "cuda:N" ? "cuda:" + std::to_string(random() % 1000) : word;
}

/// A value that the key may hold, drawn at random.
Value random_value(const Key& key, std::mt19937_64& random) {
  Value value = key.fallback;
  const auto whole = [&] { return static_cast<std::int64_t>(std::floor(number_within(key.limits, random) + 1)) - 1; };
  const auto fill = [&](auto& list, auto draw) {
    list.resize(key.limits.min_length + random() % (key.limits.max_length - key.limits.min_length + 1));
    for (auto& element : list) element = draw();
  };
  if (auto* flag = std::get_if<bool>(&value)) *flag = random() % 2;
  if (auto* integer = std::get_if<std::int64_t>(&value)) *integer = whole();
  if (auto* number = std::get_if<double>(&value)) *number = number_within(key.limits, random);
  if (auto* text = std::get_if<std::string>(&value)) *text = word_within(key.limits, random);
  if (auto* maybe = std::get_if<std::optional<std::int64_t>>(&value))
    *maybe = random() % 2 ? std::optional(whole()) : std::nullopt;
  if (auto* maybe = std::get_if<std::optional<double>>(&value)) {
    *maybe = random() % 2 ? std::optional(number_within(key.limits, random)) : std::nullopt;
  }
  if (auto* numbers = std::get_if<std::vector<double>>(&value))
    fill(*numbers, [&] { return number_within(key.limits, random); });
  if (auto* widths = std::get_if<std::vector<std::int64_t>>(&value)) fill(*widths, whole);
  if (auto* texts = std::get_if<std::vector<std::string>>(&value))
    fill(*texts, [&] { return word_within(key.limits, random); });
  return value;
}

}  // namespace

TEST_CASE("profile: the schema has one row for every member of profile.h and no other") {
  const std::multiset<std::string> declared = declared_members();
  REQUIRE(declared.size() > 70);
  std::multiset<std::string> rows;
  for (const Key& key : schema()) rows.insert(key.name);
  REQUIRE(rows == declared);
}

TEST_CASE("profile: every row reaches its own member") {
  std::mt19937_64 random(test::seed());
  const Profile defaults = default_profile();
  for (const Key& key : schema()) {
    Value other = key.fallback;
    while (other == key.fallback) other = random_value(key, random);
    Profile changed = default_profile();
    set_value(key, other, changed);
    for (const Key& each : schema()) {
      INFO(key.name << " was set; looking at " << each.name);
      REQUIRE(value_of(each, changed) == (each.name == key.name ? other : value_of(each, defaults)));
    }
  }
}

TEST_CASE("profile: every row has help on one line, and a default within its limits") {
  const test::ProfileFolder folder;
  for (const Key& key : schema()) {
    INFO(key.name);
    REQUIRE(key.help.size() > 5);
    REQUIRE((key.help + key.unit).find_first_of("|\n") == std::string::npos);
    REQUIRE(key.fallback.index() == key.member.index());
    const std::string text = toml_text(key.fallback);
    if (!text.empty()) REQUIRE(read_override(key.name + "=" + text).value == key.fallback);
  }
  REQUIRE_NOTHROW(check_profile(default_profile(), {}));
}

TEST_CASE("profile: a profile printed as TOML loads to the same values, bit for bit") {
  std::mt19937_64 random(test::seed());
  const test::ProfileFolder folder;
  for (int round = 0; round < 100; ++round) {
    Profile before = default_profile();
    for (const Key& key : schema()) set_value(key, random_value(key, random), before);
    const std::string text = to_toml(before);
    Profile after = default_profile();
    const Document document = read_document(folder.write("resolved.toml", text));
    for (const Setting& setting : document.settings) set_value(*setting.key, setting.value, after);
    INFO(text);
    for (const Key& key : schema()) {
      INFO(key.name);
      REQUIRE(value_of(key, after) == value_of(key, before));
    }
  }
}

TEST_CASE("profile: a file may set every key, and each arrives") {
  const test::ProfileFolder folder;
  folder.write("sizes.toml", "");
  const Profile loaded = folder.load(R"(
name = "other"
description = "every key away from its default"
model = "alpha"
gpu_profile = "sizes"
[run]
seed = 7
output = "elsewhere"
log_level = "debug"
log_every = 5
report = false
[device]
device = "cuda:1"
memory_limit = 2048
host_threads = 3
[data]
path = "bars.csv"
instrument = "ES"
on_error = "skip"
cache = "off"
csv_time_column = "when"
csv_open_column = "first"
csv_high_column = "top"
csv_low_column = "bottom"
csv_close_column = "last"
csv_volume_column = "6"
csv_symbol_column = "contract"
csv_features = ["imbalance", "open interest"]
csv_time_format = "epoch_ms"
csv_time_zone = "America/Chicago"
csv_stamp = "close"
csv_delimiter = "tab"
csv_decimal = "comma"
train_fraction = 0.6
validation_fraction = 0.2
purge_rows = 60
session_gap_minutes = 45
calendar = "24x7"
resample_minutes = 15
latency_us = 250
trade_bar_seconds = 5
[contract]
symbol = "NQ"
tick_size = 0.25
multiplier = 20
commission = 2.1
slippage_ticks = 0.5
spread_ticks = 2.0
[features]
clip = 4
timeframes = [30, 60]
alpha = "alpha-phase-a"
alpha_outputs = "probabilities"
[environment]
actions = [-1, 0, 1]
max_contracts = 2
reward_scale = 50
risk_aversion = 0.1
starting_capital = 50000
ruin_fraction = 0.4
[training]
gpu_n_episodes = 32
gpu_timesteps_per_episode = 100
epochs = 50
batch_size = 128
buffer_size = 32768
min_replay_size = 1024
gamma = 0.98
n_step = 5
iterations_in_flight = 4
[replay_buffer]
buffer_size = 32768
alpha = 0.5
beta_start = 0.5
beta_end = 0.9
beta_iterations = 5000
priority_epsilon = 1e-5
[network]
hidden = [128, 64, 32]
atoms = 21
v_min = -5
v_max = 6
spectral_norm = true
spectral_epsilon = 1e-7
[loss]
c51_weight = 1
cql_weight = 0
[exploration]
epsilon_start = 0.9
epsilon_end = 0.01
epsilon_iterations = 4000
[optimizer]
learning_rate = 2e-5
schedule = "linear"
warmup_iterations = 10
final_fraction = 0.2
beta1 = 0.8
beta2 = 0.99
epsilon = 1e-7
weight_decay = 0.01
max_grad_norm = 1
[alpha]
hidden = 32
tau_min = 0.02
windows = 16
steps = 32
state = "carry"
horizons = [1, 2, 3, 4, 5]
horizon_unit = "ms"
steps_per_epoch = 50
metric = "loss"
initial_checkpoint = "last.safetensors"
[gate]
confidence = 0.99
min_auc = 0.55
min_independent_labels = 50
min_horizons = 2
resamples = 500
[target_network]
update = "hard"
tau = 0.01
period = 200
[guards]
policy = "rollback"
limit = 3
snapshot_every = 100
[early_stopping]
enabled = true
metric = "sharpe"
patience = 5
min_delta = 0.1
[evaluation]
every_epochs = 2
momentum_rows = 15
[checkpoint]
every_epochs = 4
keep = 2
[smoketest]
enabled = true
budget_seconds = 60
min_action_entropy = 0.2
)");
  for (const Key& key : schema()) {
    INFO(key.name);
    REQUIRE(value_of(key, loaded) != key.fallback);
  }
  REQUIRE(loaded.optimizer.learning_rate == 2e-5);
  REQUIRE(loaded.contract.multiplier == 20.0);
  REQUIRE(loaded.network.hidden == std::vector<std::int64_t>{128, 64, 32});
  const Profile again = folder.load(to_toml(loaded));
  for (const Key& key : schema()) REQUIRE(value_of(key, again) == value_of(key, loaded));
}

TEST_CASE("profile: the reference has a row for every key, or for the section that is asked for") {
  const auto lines = [](const std::string& only) {
    std::ostringstream out;
    print_reference(out, only);
    const std::string text = out.str();
    return std::count(text.begin(), text.end(), '\n') - 2;
  };
  REQUIRE(lines("") == static_cast<std::ptrdiff_t>(schema().size()));
  REQUIRE(lines("loss") == 2);
  REQUIRE(lines("loss.c51_weight") == 1);
  REQUIRE_THROWS_AS(lines("los"), Error);

  std::ostringstream out;
  print_reference(out, "training.gamma");
  REQUIRE(out.str().find("| `training.gamma` | number | `0.99` | `[0, 1]` |  | Discount per step |") !=
          std::string::npos);
}

#include "core/profile/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace foxhunt::profile {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double most_iterations = 1e12;

const Limits anything{};
const std::nullopt_t not_set = std::nullopt;

Limits closed(double min, double max) { return {.min = min, .max = max}; }
Limits open_below(double min, double max) { return {.min = min, .max = max, .min_open = true}; }
Limits open_above(double min, double max) { return {.min = min, .max = max, .max_open = true}; }
Limits words(std::vector<std::string> allowed) { return {.words = std::move(allowed)}; }

Limits list_of(std::size_t min_length, std::size_t max_length, Limits elements) {
  elements.min_length = min_length;
  elements.max_length = max_length;
  return elements;
}

template <class Reach, class Fallback>
Key key(const char* name, Reach reach, const Fallback& fallback, Limits limits, const char* unit, const char* help) {
  using T = std::remove_reference_t<std::invoke_result_t<Reach, Profile&>>;
  return {name, Access<T>(reach), T(fallback), std::move(limits), unit, help};
}

// The dotted name is spelled by the path to the member, so the two cannot disagree.
#define MEMBER(path) #path, [](Profile & profile) -> decltype((profile.path)) { return profile.path; }

// clang-format off
std::vector<Key> rows() {
  using Numbers = std::vector<double>;
  using Words = std::vector<std::string>;
  using Widths = std::vector<std::int64_t>;
  return {
    key(MEMBER(name), "", anything, "", "Name in reports and run folders; the file's stem when not given"),
    key(MEMBER(description), "", anything, "", "One line for `profiles list`"),
    key(MEMBER(model), "dqn", words({"dqn", "alpha"}), "", "What is trained: a trading agent, or the supervised model of order-book snapshots"),
    key(MEMBER(gpu_profile), "none", anything, "", "Profile of a card's sizes, taken over what this file extends and under its own keys; auto picks it by the card, none takes none"),

    key(MEMBER(run.seed), not_set, open_above(0, infinity), "", "Seed of every random number of the run; not set: one is drawn and recorded"),
    key(MEMBER(run.output), "runs", anything, "folder", "Receives one folder a run"),
    key(MEMBER(run.log_level), "info", words({"trace", "debug", "info", "warn", "error"}), "", "Least severe message that is logged"),
    key(MEMBER(run.log_every), 50, closed(1, 1e9), "iterations", "Distance between two lines of metrics.jsonl"),
    key(MEMBER(run.report), true, anything, "", "Write report.html at the end; `foxhunt-train report RUN` does it later"),

    key(MEMBER(device.device), "auto", words({"auto", "host", "cuda:N"}), "", "Where kernels run; auto takes the GPU if there is one"),
    key(MEMBER(device.memory_limit), 0, closed(0, 1 << 24), "MiB", "Most memory to take; 0 is what the device has free"),
    key(MEMBER(device.host_threads), 0, closed(0, 1024), "threads", "Threads of the host target; 0 is all cores"),

    key(MEMBER(data.path), "", anything, "file or folder", "Market data; empty is the bundled futures-baseline, of alpha the bundled alpha-baseline"),
    key(MEMBER(data.instrument), "", anything, "", "Id, raw symbol, parent (ES.FUT) or root (ES) to read of several instruments; empty is the front contract"),
    key(MEMBER(data.on_error), "error", words({"error", "skip"}), "", "A damaged DBN or CSV file: error stops; skip keeps the rows before the damage and says what is lost"),
    key(MEMBER(data.cache), "auto", anything, "folder", "Keeps what large inputs were made into; auto is $XDG_CACHE_HOME/foxhunt or ~/.cache/foxhunt, off or empty is none"),
    key(MEMBER(data.csv_time_column), "", anything, "", "CSV column of the time: a name in the header or a number from 1; empty is the usual name or place"),
    key(MEMBER(data.csv_open_column), "", anything, "", "CSV column of the open"),
    key(MEMBER(data.csv_high_column), "", anything, "", "CSV column of the high"),
    key(MEMBER(data.csv_low_column), "", anything, "", "CSV column of the low"),
    key(MEMBER(data.csv_close_column), "", anything, "", "CSV column of the close"),
    key(MEMBER(data.csv_volume_column), "", anything, "", "CSV column of the volume"),
    key(MEMBER(data.csv_symbol_column), "", anything, "", "CSV column of the instrument's symbol"),
    key(MEMBER(data.csv_features), Words{}, list_of(0, 256, anything), "", "Further numeric CSV columns, known at the bar's close; each becomes a feature"),
    key(MEMBER(data.csv_time_format), "auto", words({"auto", "iso", "dotted", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns"}), "", "Times of a CSV file; dotted is dd.mm.yyyy"),
    key(MEMBER(data.csv_time_zone), "auto", anything, "", "Zone of CSV times that name none, such as America/Chicago; auto is UTC, and says so"),
    key(MEMBER(data.csv_stamp), "auto", words({"auto", "open", "close"}), "", "Whether a CSV bar's time is that of its open or its close; auto guesses, and says so"),
    key(MEMBER(data.csv_delimiter), "auto", words({"auto", "comma", "semicolon", "tab", "pipe"}), "", "Between the fields of a CSV file; auto is what the first line has most of"),
    key(MEMBER(data.csv_decimal), "point", words({"point", "comma"}), "", "Before the decimals of CSV numbers; the other one may stand between thousands"),
    key(MEMBER(data.train_fraction), 0.7, Limits{.min = 0, .max = 1, .min_open = true, .max_open = true}, "of rows", "Size of the training split, the earliest rows"),
    key(MEMBER(data.validation_fraction), 0.15, open_above(0, 1), "of rows", "Size of the validation split; the rest is the test split"),
    key(MEMBER(data.purge_rows), 240, closed(0, 1e9), "rows", "Left out between two splits"),
    key(MEMBER(data.session_gap_minutes), 30, closed(1, 1e6), "minutes", "A longer pause between two rows ends a session"),
    key(MEMBER(data.calendar), "auto", words({"auto", "none", "24x7", "cme-equity-index", "cme-energy-metals", "cme-fx", "us-equities"}), "", "Exchange hours whose trading dates end sessions, besides pauses; auto is the contract's"),
    key(MEMBER(data.resample_minutes), 0, closed(0, 720), "minutes", "Bars are put into bars of this length, a divisor of a day, counted from the session's opening; 0 leaves them"),
    key(MEMBER(data.latency_us), 1000, closed(0, 1e10), "us", "Books: time from a decision to the earliest book that fills it"),
    key(MEMBER(data.trade_bar_seconds), 1, closed(1, 86400), "s", "Trades are put into bars of this length"),

    key(MEMBER(contract.symbol), "", anything, "", "Contract root such as ES; empty takes it from the data, else the default contract"),
    key(MEMBER(contract.tick_size), not_set, open_below(0, 1e6), "points", "Smallest price step; not set: the built-in contract table"),
    key(MEMBER(contract.multiplier), not_set, open_below(0, 1e9), "$/point", "Value of one point; not set: the built-in contract table"),
    key(MEMBER(contract.commission), not_set, closed(0, 1e6), "$/contract/side", "Fee of a fill; not set: the built-in contract table"),
    key(MEMBER(contract.spread_ticks), 1, closed(0, 1000), "ticks", "Bars: spread between bid and ask, half of it paid on every fill; a book brings its own"),
    key(MEMBER(contract.slippage_ticks), 0, closed(0, 1000), "ticks", "Paid per contract on every fill, beyond the half spread"),

    key(MEMBER(features.clip), 5, open_below(0, 100), "standard deviations", "Standardised features are clipped to plus and minus this"),
    key(MEMBER(features.timeframes), Widths{}, list_of(0, 8, closed(1, 1440)), "minutes", "Longer bars, divisors of a day, whose return, range, close, volume and volatility are features too, once they are over"),
    key(MEMBER(features.alpha), "", anything, "run or file", "Trained alpha model whose outputs after each book are features too: a run (folder, or name in runs/: its best checkpoint) or a .safetensors file; empty: none"),
    key(MEMBER(features.alpha_outputs), "projections", words({"projections", "probabilities"}), "", "Which outputs: the eight projections, or the five probabilities"),

    key(MEMBER(environment.actions), (Numbers{-1, -0.5, 0, 0.5, 1}), list_of(2, 32, closed(-1, 1)), "of max_contracts", "Target positions to choose from; distinct, one of them 0"),
    key(MEMBER(environment.max_contracts), 1, open_below(0, 1e6), "contracts", "Position at action 1"),
    key(MEMBER(environment.reward_scale), 0, closed(0, 1e9), "$/reward", "Dollars that count as reward 1; 0 is chosen from the training split"),
    key(MEMBER(environment.risk_aversion), 0, closed(0, 1e6), "", "Weight of the squared step return that is taken off the reward"),
    key(MEMBER(environment.starting_capital), 100000, open_below(0, 1e12), "$", "Equity at the start of an episode"),
    key(MEMBER(environment.ruin_fraction), 0.5, open_above(0, 1), "of capital", "Equity below this ends the episode"),

    key(MEMBER(training.gpu_n_episodes), 64, closed(1, 1 << 20), "episodes", "Market episodes that run side by side"),
    key(MEMBER(training.gpu_timesteps_per_episode), 240, closed(1, 1e6), "steps", "Step limit of an episode, and iterations of an epoch"),
    key(MEMBER(training.epochs), 100, closed(1, 1e6), "epochs", "Length of the run, in gpu_timesteps_per_episode iterations each; of alpha, in alpha.steps_per_epoch"),
    key(MEMBER(training.batch_size), 256, closed(1, 1 << 20), "transitions", "Drawn from replay for one update"),
    key(MEMBER(training.buffer_size), 65536, closed(2, 1 << 30), "transitions", "Capacity of replay; equals replay_buffer.buffer_size, a multiple of gpu_n_episodes"),
    key(MEMBER(training.min_replay_size), 4096, closed(1, 1 << 30), "transitions", "Updates start when replay holds so many"),
    key(MEMBER(training.gamma), 0.99, closed(0, 1), "", "Discount per step"),
    key(MEMBER(training.n_step), 3, closed(1, 128), "steps", "Length of the n-step return"),
    key(MEMBER(training.iterations_in_flight), 8, closed(1, 1024), "iterations", "Most iterations queued ahead of the health word"),

    key(MEMBER(replay_buffer.buffer_size), 65536, closed(2, 1 << 30), "transitions", "Capacity of replay; equals training.buffer_size"),
    key(MEMBER(replay_buffer.alpha), 0.6, closed(0, 1), "", "Exponent of the priorities; 0 draws uniformly"),
    key(MEMBER(replay_buffer.beta_start), 0.4, closed(0, 1), "", "First exponent of the importance weights"),
    key(MEMBER(replay_buffer.beta_end), 1, closed(0, 1), "", "Last exponent of the importance weights"),
    key(MEMBER(replay_buffer.beta_iterations), 20000, closed(1, most_iterations), "iterations", "Beta goes from its start to its end over so many"),
    key(MEMBER(replay_buffer.priority_epsilon), 1e-6, closed(1e-12, 1), "", "Added to the loss before it becomes a priority"),

    key(MEMBER(network.hidden), (Widths{256, 256}), list_of(1, 8, closed(8, 4096)), "units", "Width of each hidden layer"),
    key(MEMBER(network.atoms), 51, closed(2, 256), "atoms", "Size of the support of the return distribution (C51)"),
    key(MEMBER(network.v_min), -10, closed(-1e6, 1e6), "reward", "Lowest atom"),
    key(MEMBER(network.v_max), 10, closed(-1e6, 1e6), "reward", "Highest atom"),
    key(MEMBER(network.spectral_norm), false, anything, "", "Divide each trunk weight by its largest singular value"),
    key(MEMBER(network.spectral_epsilon), 1e-6, closed(1e-12, 1), "", "Floor of that singular value"),

    key(MEMBER(loss.c51_weight), 0.7, closed(0, 1), "", "Share of C51 cross-entropy in the loss; the rest is expected-value MSE"),
    key(MEMBER(loss.cql_weight), 0.1, closed(0, 100), "", "Weight of the conservative (CQL) term; 0 is off"),

    key(MEMBER(exploration.epsilon_start), 1, closed(0, 1), "", "First chance of a random action"),
    key(MEMBER(exploration.epsilon_end), 0.05, closed(0, 1), "", "Last chance of a random action"),
    key(MEMBER(exploration.epsilon_iterations), 10000, closed(1, most_iterations), "iterations", "Epsilon goes from its start to its end over so many"),

    key(MEMBER(optimizer.learning_rate), 3e-4, open_below(0, 10), "", "AdamW step size after warm-up"),
    key(MEMBER(optimizer.schedule), "constant", words({"constant", "linear", "cosine"}), "", "Course of the learning rate after warm-up"),
    key(MEMBER(optimizer.warmup_iterations), 0, closed(0, most_iterations), "iterations", "The learning rate rises linearly over so many"),
    key(MEMBER(optimizer.final_fraction), 0.1, closed(0, 1), "of learning_rate", "Reached at the last iteration by linear and cosine"),
    key(MEMBER(optimizer.beta1), 0.9, open_above(0, 1), "", "Decay of the first moment"),
    key(MEMBER(optimizer.beta2), 0.999, open_above(0, 1), "", "Decay of the second moment"),
    key(MEMBER(optimizer.epsilon), 1e-8, closed(1e-12, 1), "", "Added to the root of the second moment"),
    key(MEMBER(optimizer.weight_decay), 1e-4, closed(0, 1), "", "Decoupled weight decay"),
    key(MEMBER(optimizer.max_grad_norm), 10, open_below(0, 1e9), "", "Global gradient norm is clipped to this"),

    key(MEMBER(alpha.hidden), 64, closed(1, 128), "units", "Width of the recurrent trunk"),
    key(MEMBER(alpha.tau_min), 0.01, open_below(0, 1e6), "s", "Shortest time constant of the trunk"),
    key(MEMBER(alpha.windows), 32, closed(1, 8192), "windows", "Stretches of snapshots in one training step"),
    key(MEMBER(alpha.steps), 64, closed(1, 4096), "rows", "Length of a window; none crosses the end of a session, a roll or a split"),
    key(MEMBER(alpha.state), "reset", words({"reset", "carry"}), "", "At the start of a window: reset draws windows at random and starts from zero; carry goes through the sessions in order, each window from the state that the one before it left"),
    key(MEMBER(alpha.horizons), (Widths{10, 25, 50, 100, 200}), list_of(5, 5, closed(1, 1e12)), "horizon_unit", "How far ahead the mid is compared with the present one, ascending"),
    key(MEMBER(alpha.horizon_unit), "rows", words({"rows", "ms"}), "", "Unit of the horizons: rows, or milliseconds of market time"),
    key(MEMBER(alpha.steps_per_epoch), 100, closed(1, 1e6), "iterations", "Training steps of an epoch"),
    key(MEMBER(alpha.metric), "auc", words({"auc", "loss"}), "", "What early stopping watches and the best state is chosen by, on the validation split: mean AUC over the horizons, or cross-entropy"),
    key(MEMBER(alpha.initial_checkpoint), "", anything, "file", "Checkpoint of an alpha run of the same shape whose parameters training starts from; empty: fresh ones"),

    key(MEMBER(gate.confidence), 0.999, Limits{.min = 0.5, .max = 1, .max_open = true}, "", "That no horizon's lower bound of the AUC is too high by chance, over all five together"),
    key(MEMBER(gate.min_auc), 0.5, closed(0.5, 1), "", "The lower bound of the AUC has to lie above it"),
    key(MEMBER(gate.min_independent_labels), 20, closed(1, 1e9), "labels", "Least number of labels of the rarer class that do not share the moves that they look at"),
    key(MEMBER(gate.min_horizons), 1, closed(1, 5), "horizons", "Horizons that have to fulfil every criterion"),
    key(MEMBER(gate.resamples), 1000, closed(100, 1e6), "", "Resamples of the block bootstrap"),

    key(MEMBER(target_network.update), "polyak", words({"polyak", "hard"}), "", "Follow the online network a little each update, or copy it now and then"),
    key(MEMBER(target_network.tau), 0.005, open_below(0, 1), "", "Share taken from the online network each update (polyak)"),
    key(MEMBER(target_network.period), 1000, closed(1, most_iterations), "updates", "Distance between two copies (hard)"),

    key(MEMBER(guards.policy), "halt", words({"halt", "skip", "rollback"}), "", "On a non-finite value: stop, go on without that update, or return to the last good state"),
    key(MEMBER(guards.limit), 10, closed(0, 1e9), "trips", "skip and rollback give up after so many"),
    key(MEMBER(guards.snapshot_every), 500, closed(1, 1e9), "iterations", "Distance between two good states kept for rollback"),

    key(MEMBER(early_stopping.enabled), false, anything, "", "Stop when validation no longer improves"),
    key(MEMBER(early_stopping.metric), "net_pnl", words({"net_pnl", "sharpe", "sortino", "mean_reward"}), "", "What has to improve on the validation split"),
    key(MEMBER(early_stopping.patience), 10, closed(1, 1e9), "evaluations", "Stop after so many without improvement"),
    key(MEMBER(early_stopping.min_delta), 0, closed(0, 1e12), "of the metric", "A smaller gain is no improvement"),

    key(MEMBER(evaluation.every_epochs), 10, closed(0, 1e6), "epochs", "Distance between two evaluations; 0 is only at the end"),
    key(MEMBER(evaluation.momentum_rows), 30, closed(1, 1e6), "rows", "The momentum baseline follows the sign of the return over so many"),

    key(MEMBER(checkpoint.every_epochs), 10, closed(0, 1e6), "epochs", "Distance between two checkpoints; 0 is only at the end"),
    key(MEMBER(checkpoint.keep), 3, closed(1, 1e6), "files", "Latest checkpoints kept, the best one apart"),

    key(MEMBER(smoketest.enabled), false, anything, "", "Check the run as CI does, and say PASS or FAIL by name"),
    key(MEMBER(smoketest.budget_seconds), 120, open_below(0, 1e6), "s", "Longest time the run may take"),
    key(MEMBER(smoketest.min_action_entropy), 0.1, closed(0, 3.5), "nats", "Floor of the entropy of the actions taken while training"),
  };
}
// clang-format on
#undef MEMBER

/// The key with the same leaf whose section is spelled most like that of `name`.
std::string same_leaf(const std::string& name) {
  std::string best;
  int best_distance = std::numeric_limits<int>::max();
  for (const Key& key : schema()) {
    if (leaf_of(key.name) != leaf_of(name)) continue;
    const int distance = edit_distance(name, key.name);
    if (distance < best_distance) best_distance = distance, best = key.name;
  }
  return best;
}

/// The leaf spelled most like that of `name`, within a section or (section "*") anywhere.
std::string nearest_leaf(const std::string& name, std::string_view section) {
  std::vector<std::string> leaves;
  for (const Key& key : schema()) {
    if (section == "*" || section_of(key.name) == section) leaves.emplace_back(leaf_of(key.name));
  }
  return nearest_name(std::string(leaf_of(name)), leaves);
}

/// 1e6 rather than 1000000, but 1048576 in full.
std::string bound_text(double bound) {
  const double magnitude = std::abs(bound);
  const double exponent = std::log10(magnitude);
  const bool power = std::isfinite(exponent) && exponent >= 6 && exponent == std::floor(exponent);
  return power ? fmt::format("{}1e{}", bound < 0 ? "-" : "", exponent) : fmt::format("{}", bound);
}

std::string interval_text(const Limits& limits) {
  return fmt::format("{}{}, {}{}", limits.min_open ? '(' : '[', bound_text(limits.min), bound_text(limits.max),
                     limits.max_open ? ')' : ']');
}

bool is_text(const Key& key) { return std::holds_alternative<std::string>(key.fallback); }
bool is_text_list(const Key& key) { return std::holds_alternative<std::vector<std::string>>(key.fallback); }
bool is_number_list(const Key& key) {
  return std::holds_alternative<std::vector<double>>(key.fallback) ||
         std::holds_alternative<std::vector<std::int64_t>>(key.fallback);
}

}  // namespace

const std::vector<Key>& schema() {
  static const std::vector<Key> table = rows();
  return table;
}

const Key* find_key(std::string_view name) {
  const auto found = std::find_if(schema().begin(), schema().end(), [&](const Key& key) { return key.name == name; });
  return found == schema().end() ? nullptr : &*found;
}

std::string_view section_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

std::string_view leaf_of(std::string_view name) { return name.substr(name.rfind('.') + 1); }

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const Key& key : schema()) {
      const std::string section(section_of(key.name));
      if (!section.empty() && (found.empty() || found.back() != section)) found.push_back(section);
    }
    return found;
  }();
  return names;
}

bool is_section(const std::string& name) {
  return std::find(section_names().begin(), section_names().end(), name) != section_names().end();
}

std::string nearest_key(const std::string& name) {
  if (const std::string found = same_leaf(name); !found.empty()) return found;
  const std::string_view section = section_of(name);
  for (const std::string_view scope : {section, std::string_view("*")}) {
    const std::string leaf = nearest_leaf(name, scope);
    if (!leaf.empty()) return same_leaf(section.empty() ? leaf : fmt::format("{}.{}", section, leaf));
  }
  return "";
}

Profile default_profile() {
  Profile profile{};
  for (const Key& key : schema()) set_value(key, key.fallback, profile);
  return profile;
}

Value value_of(const Key& key, const Profile& profile) {
  // Accessors hand out references to write through; here it is only read.
  Profile& readable = const_cast<Profile&>(profile);
  return std::visit([&](auto access) -> Value { return access(readable); }, key.member);
}

void set_value(const Key& key, const Value& value, Profile& profile) {
  std::visit(
      [&](auto access) {
        auto& member = access(profile);
        member = std::get<std::remove_reference_t<decltype(member)>>(value);
      },
      key.member);
}

std::string type_name(const Key& key) {
  static constexpr const char* names[] = {
      "true or false",    "integer",         "number",           "text",        "integer, optional",
      "number, optional", "list of numbers", "list of integers", "list of text"};
  static_assert(std::size(names) == std::variant_size_v<Value>);
  return names[key.fallback.index()];
}

std::string range_text(const Key& key) {
  const Limits& limits = key.limits;
  if (std::holds_alternative<bool>(key.fallback)) return "";
  if (is_text(key)) return fmt::format("{}", fmt::join(limits.words, ", "));
  if (is_text_list(key)) return fmt::format("{} to {}", limits.min_length, limits.max_length);
  if (is_number_list(key))
    return fmt::format("{} to {} of {}", limits.min_length, limits.max_length, interval_text(limits));
  return interval_text(limits);
}

std::string expected_text(const Key& key) {
  const Limits& limits = key.limits;
  if (std::holds_alternative<bool>(key.fallback)) return "true or false";
  if (is_text(key)) {
    return limits.words.empty() ? "one line of text in quotes"
                                : fmt::format("one of {}", fmt::join(limits.words, ", "));
  }
  const bool whole = std::holds_alternative<std::int64_t>(key.fallback) ||
                     std::holds_alternative<std::optional<std::int64_t>>(key.fallback) ||
                     std::holds_alternative<std::vector<std::int64_t>>(key.fallback);
  if (is_text_list(key))
    return fmt::format("a list of {} to {} one-line texts in quotes", limits.min_length, limits.max_length);
  if (is_number_list(key)) {
    return fmt::format("a list of {} to {} {} in {}", limits.min_length, limits.max_length,
                       whole ? "integers" : "numbers", interval_text(limits));
  }
  return fmt::format("{} in {}", whole ? "an integer" : "a number", interval_text(limits));
}

bool within(const Limits& limits, double number) {
  return (limits.min_open ? number > limits.min : number >= limits.min) &&
         (limits.max_open ? number < limits.max : number <= limits.max);
}

bool among(const Limits& limits, std::string_view text) {
  const auto matches = [&](std::string_view word) {
    if (word == text) return true;
    if (!word.ends_with(":N")) return false;
    word.remove_suffix(1);
    const std::string_view digits = text.substr(std::min(text.size(), word.size()));
    return text.starts_with(word) && !digits.empty() && digits.size() <= 3 &&
           digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return limits.words.empty() || std::any_of(limits.words.begin(), limits.words.end(), matches);
}

}  // namespace foxhunt::profile

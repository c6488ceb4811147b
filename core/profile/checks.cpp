#include "core/profile/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "core/profile/printer.h"
#include "core/profile/schema.h"

namespace foxhunt::profile {
namespace {

/// Turns a broken rule into one line. The line opens with the place of the first named key that was set by hand.
class Rules {
 public:
  Rules(const Profile& profile, const Origins& origins) : profile_(profile), origins_(origins) {}

  /// `first` and `second` are dotted names; `rule` stands between them, `advice` after.
  void require(bool holds, const std::string& first, const std::string& rule, const std::string& second,
               const std::string& advice) const {
    if (holds) return;
    std::string where = origin(first);
    if (where.empty()) where = origin(second);
    if (where.empty()) where = "profile " + profile_.name;
    throw Error(ExitCode::usage,
                fmt::format("{}: {} {} {}; {}", where, shown(first, where), rule, shown(second, where), advice));
  }

  void require(bool holds, const std::string& key, const std::string& rule) const {
    if (holds) return;
    std::string where = origin(key);
    if (where.empty()) where = "profile " + profile_.name;
    throw Error(ExitCode::usage, fmt::format("{}: {} {}", where, shown(key, where), rule));
  }

 private:
  std::string origin(const std::string& name) const {
    const auto found = origins_.find(name);
    return found == origins_.end() ? "" : found->second;
  }

  /// "training.batch_size = 512 (a.toml:3)"; without the place when the line already opens with it.
  std::string shown(const std::string& name, const std::string& opening) const {
    const std::string where = origin(name);
    const std::string text = fmt::format("{} = {}", name, toml_text(value_of(*find_key(name), profile_)));
    return where == opening ? text : fmt::format("{} ({})", text, where.empty() ? "default" : where);
  }

  const Profile& profile_;
  const Origins& origins_;
};

void check_capacities(const Profile& p, const Rules& rules) {
  const Profile::Training& t = p.training;
  rules.require(t.buffer_size == p.replay_buffer.buffer_size, "replay_buffer.buffer_size", "must equal",
                "training.buffer_size", "set both alike, or one of them alone");
  rules.require(t.batch_size <= t.buffer_size, "training.batch_size", "must be at most", "training.buffer_size",
                "a batch is drawn from the buffer");
  rules.require(t.min_replay_size <= t.buffer_size, "training.min_replay_size", "must be at most",
                "training.buffer_size", "the buffer would never hold so many and nothing would be learned");
  rules.require(t.buffer_size % t.gpu_n_episodes == 0, "training.buffer_size", "must be a multiple of",
                "training.gpu_n_episodes", "each episode has an equal share of the buffer");
  rules.require(t.buffer_size / t.gpu_n_episodes > t.n_step + 1, "training.buffer_size",
                fmt::format("gives each of training.gpu_n_episodes = {} episodes {} transitions, which must exceed by "
                            "more than 1",
                            t.gpu_n_episodes, t.buffer_size / t.gpu_n_episodes),
                "training.n_step", "an n-step return has to fit in an episode's share");
  // In floating point: the product may exceed 64 bits.
  const double collected = static_cast<double>(t.epochs) * static_cast<double>(t.gpu_timesteps_per_episode) *
                           static_cast<double>(t.gpu_n_episodes);
  rules.require(static_cast<double>(t.min_replay_size) <= collected, "training.min_replay_size",
                fmt::format("must be at most the {} transitions that the run collects with", collected),
                "training.epochs", "nothing would be learned");
}

void check_intervals(const Profile& p, const Rules& rules) {
  rules.require(p.network.v_min < p.network.v_max, "network.v_min", "must be below", "network.v_max",
                "they are the ends of the support");
  rules.require(p.exploration.epsilon_end <= p.exploration.epsilon_start, "exploration.epsilon_end", "must be at most",
                "exploration.epsilon_start", "exploration only ever declines");
  rules.require(p.replay_buffer.beta_start <= p.replay_buffer.beta_end, "replay_buffer.beta_start", "must be at most",
                "replay_buffer.beta_end", "importance weights are annealed upwards");
  rules.require(p.data.train_fraction + p.data.validation_fraction < 1, "data.train_fraction",
                "must be below 1 together with", "data.validation_fraction", "a test split has to be left");
}

/// Stretches that do not divide a day would begin at another time every day.
void check_bar_lengths(const Profile& p, const Rules& rules) {
  constexpr std::int64_t day = 1440;
  const auto divides = [](std::int64_t minutes) { return minutes == 0 || day % minutes == 0; };
  rules.require(divides(p.data.resample_minutes), "data.resample_minutes",
                "does not divide a day; expected a divisor of 1440 such as 5, 15 or 60");
  const auto& lengths = p.features.timeframes;
  rules.require(std::all_of(lengths.begin(), lengths.end(), divides), "features.timeframes",
                "holds one that does not divide a day; expected divisors of 1440 such as 5, 15 or 60");
  std::vector<std::int64_t> sorted = lengths;
  std::sort(sorted.begin(), sorted.end());
  rules.require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "features.timeframes",
                "holds one twice; expected distinct ones");
  const bool longer = std::all_of(lengths.begin(), lengths.end(), [&](std::int64_t minutes) {
    return p.data.resample_minutes == 0 ||
           (minutes > p.data.resample_minutes && minutes % p.data.resample_minutes == 0);
  });
  rules.require(longer, "features.timeframes", "must be multiples, twice or more, of", "data.resample_minutes",
                "a longer bar is made of whole rows");
}

void check_actions(const Profile& p, const Rules& rules) {
  std::vector<double> sorted = p.environment.actions;
  std::sort(sorted.begin(), sorted.end());
  rules.require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "environment.actions",
                "holds a position twice; expected distinct ones");
  rules.require(std::binary_search(sorted.begin(), sorted.end(), 0.0), "environment.actions",
                "lacks 0; expected a way to be flat");
}

void check_horizons(const Profile& p, const Rules& rules) {
  const auto& h = p.alpha.horizons;
  rules.require(std::adjacent_find(h.begin(), h.end(), std::greater_equal<>()) == h.end(), "alpha.horizons",
                "does not ascend; expected five different ones, the shortest first");
}

}  // namespace

void check_profile(const Profile& profile, const Origins& origins) {
  const Rules rules(profile, origins);
  check_capacities(profile, rules);
  check_intervals(profile, rules);
  check_bar_lengths(profile, rules);
  check_actions(profile, rules);
  check_horizons(profile, rules);
  rules.require(profile.name.find('/') == std::string::npos, "name",
                "holds a /; expected a name that fits in a folder's");
  rules.require(!profile.early_stopping.enabled || profile.evaluation.every_epochs > 0, "early_stopping.enabled",
                "needs evaluations to judge by, but", "evaluation.every_epochs", "evaluate every epoch or more");
}

}  // namespace foxhunt::profile

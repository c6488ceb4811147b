#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foxhunt::profile {

/// A resolved profile: what a TOML file, its `extends` chain and `--set` say, after every check in schema.cpp.
/// Defaults, ranges, units and help live in that one schema table and nowhere else: the members here have none.
struct Profile {
  std::string name;         ///< file stem of the profile
  std::string description;  ///< one line, for `profiles list`
  std::string model;        ///< dqn or alpha: what is trained
  std::string gpu_profile;  ///< none, auto until the card is known, or the profile whose sizes were taken

  struct Run {
    std::optional<std::int64_t> seed;  ///< not set: draw_seed() gives it one
    std::string output;                ///< folder that receives one folder a run
    std::string log_level;             ///< trace, debug, info, warn, error
    std::int64_t log_every;            ///< iterations between two lines of metrics.jsonl
    bool report;                       ///< write report.html at the end
  } run;

  struct Device {
    std::string device;         ///< auto, host, cuda:N
    std::int64_t memory_limit;  ///< MiB; 0: what the card has free
    std::int64_t host_threads;  ///< 0: all cores
  } device;

  struct Data {
    std::string path;        ///< file or folder; "" is the model's bundled data in test_data
    std::string instrument;  ///< id, symbol, parent or root; "" is the front contract
    std::string on_error;    ///< of a damaged file: error, or skip what follows the damage
    std::string cache;       ///< folder of prepared inputs; auto: $XDG_CACHE_HOME/foxhunt or ~/.cache/foxhunt; off
    // How CSV files are written. Columns: a name of the header or a number from 1; "" is the usual name or place.
    std::string csv_time_column, csv_open_column, csv_high_column, csv_low_column, csv_close_column;
    std::string csv_volume_column, csv_symbol_column;
    std::vector<std::string> csv_features;       ///< further numeric columns, each a feature
    std::string csv_time_format;                 ///< auto, iso, dotted, epoch_s, epoch_ms, epoch_us, epoch_ns
    std::string csv_time_zone;                   ///< IANA name; auto: what the times say, else UTC
    std::string csv_stamp;                       ///< a bar's time is its open, its close, or auto
    std::string csv_delimiter;                   ///< auto, comma, semicolon, tab, pipe
    std::string csv_decimal;                     ///< point, comma
    double train_fraction, validation_fraction;  ///< of the rows; the rest is the test split
    std::int64_t purge_rows;                     ///< rows left out between two splits
    std::int64_t session_gap_minutes;            ///< a longer pause between two rows ends a session
    std::string calendar;                        ///< of trading dates, which end sessions too; auto: the contract's
    std::int64_t resample_minutes;               ///< bars are put into bars of this length; 0: as they are
    std::int64_t latency_us;                     ///< books: from a decision to the earliest book that fills it
    std::int64_t trade_bar_seconds;              ///< trades are put into bars of this length
  } data;

  struct Contract {
    std::string symbol;  ///< "" takes it from the file, else the default contract
    // Override the built-in table.
    std::optional<double> tick_size;   ///< points
    std::optional<double> multiplier;  ///< $/point
    std::optional<double> commission;  ///< $/contract/side
    double spread_ticks;               ///< bars: taken for their spread; a book brings its own
    double slippage_ticks;             ///< paid per contract on every fill, beyond the half spread
  } contract;

  struct Features {
    double clip;                           ///< standardised features are clipped to [-clip, clip]
    std::vector<std::int64_t> timeframes;  ///< minutes of the longer bars that have features on every row
    std::string alpha;                     ///< run or checkpoint of an alpha model whose outputs are features; "": none
    std::string alpha_outputs;             ///< projections, probabilities
  } features;

  struct Environment {
    std::vector<double> actions;  ///< target positions as fractions of max_contracts
    double max_contracts;
    double reward_scale;      ///< dollars per unit of reward; 0: chosen from the training split
    double risk_aversion;     ///< weight of the squared step return in the reward
    double starting_capital;  ///< dollars
    double ruin_fraction;     ///< an episode ends when equity falls below this fraction of the capital
  } environment;

  struct Training {
    std::int64_t gpu_n_episodes, gpu_timesteps_per_episode;
    std::int64_t epochs;  ///< an epoch is gpu_timesteps_per_episode iterations; of alpha, alpha.steps_per_epoch
    std::int64_t batch_size, buffer_size, min_replay_size;
    double gamma;
    std::int64_t n_step;
    std::int64_t iterations_in_flight;  ///< bound on iterations queued ahead of the health word
  } training;

  struct ReplayBuffer {
    std::int64_t buffer_size;  ///< must equal training.buffer_size
    double alpha, beta_start, beta_end;
    std::int64_t beta_iterations;  ///< beta reaches beta_end after so many iterations
    double priority_epsilon;
  } replay_buffer;

  struct Network {
    std::vector<std::int64_t> hidden;
    std::int64_t atoms;
    double v_min, v_max;  ///< support of the return, in reward units
    bool spectral_norm;
    double spectral_epsilon;  ///< floor of sigma
  } network;

  struct Loss {
    double c51_weight;  ///< alpha of the blend: 1 is cross-entropy alone, 0 expected value alone
    double cql_weight;
  } loss;

  struct Exploration {
    double epsilon_start, epsilon_end;
    std::int64_t epsilon_iterations;
  } exploration;

  struct Optimizer {
    double learning_rate;
    std::string schedule;  ///< constant, linear, cosine
    std::int64_t warmup_iterations;
    double final_fraction;  ///< of learning_rate, reached at the last iteration
    double beta1, beta2, epsilon, weight_decay, max_grad_norm;
  } optimizer;

  struct Alpha {
    std::int64_t hidden;                 ///< width of the recurrent trunk
    double tau_min;                      ///< seconds; its shortest time constant
    std::int64_t windows, steps;         ///< of one training step; rows of a window
    std::string state;                   ///< at a window's start: reset, or carry from the window before
    std::vector<std::int64_t> horizons;  ///< five, ascending
    std::string horizon_unit;            ///< rows, ms
    std::int64_t steps_per_epoch;
    std::string metric;              ///< auc, loss: of the validation split, for early stopping and the best state
    std::string initial_checkpoint;  ///< whose parameters training starts from; "": fresh ones
  } alpha;

  struct Gate {
    double confidence;
    double min_auc;  ///< its lower bound has to lie above
    double min_independent_labels;
    std::int64_t min_horizons;
    std::int64_t resamples;
  } gate;

  struct TargetNetwork {
    std::string update;  ///< polyak, hard
    double tau;
    std::int64_t period;  ///< updates between two hard copies
  } target_network;

  struct Guards {
    std::string policy;           ///< halt, skip, rollback
    std::int64_t limit;           ///< trips after which skip and rollback give up too
    std::int64_t snapshot_every;  ///< iterations between two good states kept for rollback
  } guards;

  struct EarlyStopping {
    bool enabled;
    std::string metric;     ///< net_pnl, sharpe, sortino, mean_reward: of the validation split
    std::int64_t patience;  ///< evaluations without improvement
    double min_delta;
  } early_stopping;

  struct Evaluation {
    std::int64_t every_epochs;   ///< 0: only at the end
    std::int64_t momentum_rows;  ///< rows that the momentum baseline looks back
  } evaluation;

  struct Checkpoint {
    std::int64_t every_epochs;  ///< 0: only at the end
    std::int64_t keep;          ///< latest checkpoints kept, the best one apart
  } checkpoint;

  struct Smoketest {
    bool enabled;
    double budget_seconds;
    double min_action_entropy;  ///< nats; floor of the entropy of the actions taken while training
  } smoketest;
};

}  // namespace foxhunt::profile

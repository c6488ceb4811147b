#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/card_profile.h"
#include "app/commands.h"
#include "core/alpha/frozen_model.h"
#include "core/dqn/benchmark.h"
#include "core/profile/loader.h"

namespace foxhunt::app {
namespace {

struct BenchOptions {
  std::string profile = "dqn-throughput", device;
  std::vector<std::string> overrides;
  int iterations = 100, repeats = 20;
  bool kernels = false;
};

void bench(const BenchOptions& options) {
  std::vector<std::string> overrides = options.overrides;
  if (!options.device.empty()) overrides.push_back("device.device=\"" + options.device + "\"");
  profile::Profile profile =
      profile::load_profile(options.profile, overrides, profile::ProfilePaths::standard(), card_profile);
  if (profile.model != "dqn")
    throw Error(ExitCode::usage, "bench --profile " + options.profile + ": its model is " + profile.model +
                                     ", which `foxhunt-train bench alpha` times");
  profile::draw_seed(profile);
  const std::unique_ptr<Device> device = open_device(profile.device.device);
  fmt::print(std::cout, "{} on {}\n", profile.name, device->description());
  const std::unique_ptr<market::BookModel> book_model = alpha::open_book_model(*device, profile);
  const dqn::LoadedMarket market = dqn::load_market(profile, book_model.get());
  dqn::Trainer trainer(*device, profile, market);
  trainer.initialise();
  std::cout << to_text(dqn::benchmark_iteration(trainer, options.iterations, options.repeats, options.kernels));
}

}  // namespace

void add_bench_command(CLI::App& app, ExitCode& result) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Time a training iteration: microseconds, steps/s, kernels, memory");
  command->add_option("--profile", options->profile, "Profile to time")->capture_default_str();
  command->add_option("--device", options->device, "auto, host or cuda:N");
  command->add_option("--set", options->overrides, "Override one key: dotted.key=TOML-VALUE (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--iterations", options->iterations, "Iterations in one timed run")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--repeats", options->repeats, "Timed runs; the median is reported")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_flag("--kernels", options->kernels, "Time each kernel of the iteration alone, too");
  add_bench_data(*command, result);
  add_bench_alpha(*command, result);
  add_bench_latency(*command, result);
  command->callback([options, command, &result] {
    if (!command->get_subcommands().empty()) return;
    bench(*options);
    result = ExitCode::ok;
  });
}

}  // namespace foxhunt::app

#pragma once
// A small generated market and a trainer on it.
#include <functional>
#include <memory>

#include "core/alpha/dataset_loader.h"
#include "core/alpha/trainer.h"
#include "core/market/synth.h"
#include "core/profile/schema.h"
#include "tests/cuda/kernel_fixture.h"

namespace foxhunt::test {

/// A short run; what a test wants otherwise it changes.
inline profile::Profile alpha_profile(std::uint64_t run_seed = 1) {
  profile::Profile p = profile::default_profile();
  p.name = "alpha-test";
  p.model = "alpha";
  p.run.seed = static_cast<std::int64_t>(run_seed);
  p.data.purge_rows = 0;
  p.alpha.hidden = 16;
  p.alpha.windows = 16;
  p.alpha.steps = 32;
  p.alpha.horizons = {1, 2, 5, 10, 20};
  p.alpha.steps_per_epoch = 25;
  p.training.epochs = 6;
  p.optimizer.learning_rate = 5e-3;
  p.optimizer.max_grad_norm = 1.0;
  p.evaluation.every_epochs = 2;
  p.guards.snapshot_every = 1;  // a diagnosis starts where a test has planted something
  return p;
}

/// Books of kind baseline, with an edge as strong as that of the bundled ones, or walk.
inline alpha::Dataset alpha_dataset(const profile::Profile& p, market::MarketKind kind, std::uint64_t market_seed = 1,
                                    std::int64_t sessions = 6, std::int64_t rows = 3000) {
  market::SynthOptions options;
  options.kind = kind;
  options.sessions = sessions;
  options.seed = market_seed;
  options.rows = rows;
  if (kind == market::MarketKind::baseline) options.strength = 0.5;
  const market::Books books = market::synthesize_books(options);
  return alpha::make_dataset(books, alpha::dataset_options(p, market::contract_for("ES")));
}

/// A trainer, ready to train.
struct AlphaTraining {
  profile::Profile profile;
  alpha::Dataset data;
  alpha::Trainer trainer;

  AlphaTraining(Device& device, const profile::Profile& p, market::MarketKind kind, std::uint64_t market_seed = 1,
                bool goes_on = false)
      : profile(p), data(alpha_dataset(p, kind, market_seed)), trainer(device, profile, data) {
    trainer.initialise(goes_on);
  }
};

}  // namespace foxhunt::test

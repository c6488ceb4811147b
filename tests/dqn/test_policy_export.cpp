// The exported policy in ONNX Runtime against the device's own forward pass.
#include "core/dqn/policy_export.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>

#include "core/device/launch.h"
#include "tests/dqn/trained_model.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// Python with what the check needs: FOXHUNT_PYTHON, else python3.
std::string python() {
  const char* chosen = std::getenv("FOXHUNT_PYTHON");
  return chosen ? chosen : "python3";
}

template <class T>
void write(const std::filesystem::path& file, const std::vector<T>& values) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

/// Rows as they go in: features as the market gives them, and as the trainer's table holds them.
struct Rows {
  std::vector<double> features;
  std::vector<float> standardised, portfolio;
  int count = 0;

  void add(const dqn::ModelCard& card, const std::vector<double>& raw, std::mt19937_64& random) {
    for (std::size_t f = 0; f < raw.size(); ++f) {
      features.push_back(raw[f]);
      standardised.push_back(static_cast<float>(
          std::clamp((raw[f] - card.features.mean[f]) / card.features.deviation[f], -card.clip, card.clip)));
    }
    std::uniform_real_distribution<float> within(-1, 1);
    for (int i = 0; i < portfolio_width; ++i) portfolio.push_back(within(random));
    ++count;
  }
};

/// A third of the market's own rows, then random ones that reach beyond the clip.
Rows make_rows(const dqn::Model& model, const market::FeatureTable& table) {
  std::mt19937_64 random(seed());
  std::normal_distribution<double> normal(0, 4);
  const std::vector<double>&mean = model.card.features.mean, &deviation = model.card.features.deviation;
  const std::size_t width = mean.size();
  Rows rows;
  std::vector<double> raw(width);
  for (std::size_t row = 0; row < 500; ++row) {
    for (std::size_t f = 0; f < width; ++f) {
      const double z = row < 250 ? static_cast<double>(table.values[row * 31 * width + f]) : normal(random);
      raw[f] = mean[f] + deviation[f] * z;
    }
    rows.add(model.card, raw, random);
  }
  return rows;
}

std::vector<float> device_q(const dqn::Model& model, const Rows& rows) {
  const auto device = open_device("host");
  const nn::DenseNetwork network = model.card.network();
  const auto count = static_cast<std::size_t>(rows.count), width = static_cast<std::size_t>(network.inputs());
  const auto actions = static_cast<std::size_t>(model.card.actions()),
             atoms = static_cast<std::size_t>(model.card.atoms);
  std::vector<float> observation;
  for (std::size_t row = 0; row < count; ++row) {
    const auto features = rows.standardised.begin() + static_cast<std::ptrdiff_t>(row * (width - portfolio_width));
    observation.insert(observation.end(), features, features + static_cast<std::ptrdiff_t>(width - portfolio_width));
    const auto portfolio = rows.portfolio.begin() + static_cast<std::ptrdiff_t>(row * portfolio_width);
    observation.insert(observation.end(), portfolio, portfolio + portfolio_width);
  }
  Arena arena(*device);
  DeviceSpan<float> weights, input, logits, q;
  nn::Activations activations;
  activations.layer.resize(static_cast<std::size_t>(network.layers()));
  arena.plan("weights", model.weights().size(), weights);
  arena.plan("input", observation.size(), input);
  arena.plan("logits", count * actions * atoms, logits);
  arena.plan("q", count * actions, q);
  for (int l = 0; l < network.layers(); ++l)
    arena.plan("layer" + std::to_string(l), count * static_cast<std::size_t>(network.outputs(l)),
               activations.layer[static_cast<std::size_t>(l)]);
  arena.commit();
  device->upload(weights, model.weights());
  device->upload(input, observation);
  nn::forward(*device, network, weights, input, activations, rows.count);
  launch(*device, dueling_forward_kernel, activations.output(), logits, q, rows.count, model.card.actions(),
         model.card.atoms, network.outputs(), model.card.v_min, model.card.v_max);
  return device->download(q);
}

}  // namespace

TEST_CASE("export: ONNX Runtime gives the device's Q-values within 1e-4 on real and random rows") {
  if (!have_baseline()) return skip("the bundled futures-baseline is not there");
  if (std::system((python() + " -c 'import numpy, onnx, onnxruntime' 2>/dev/null").c_str()) != 0)
    return skip("onnx and onnxruntime are not installed for " + python() + " (set FOXHUNT_PYTHON)");
  for (const char* spectral : {"network.spectral_norm=true", "network.spectral_norm=false"}) {
    CAPTURE(spectral);
    const TrainedModel trained({spectral, "environment.actions=[-1.0, 0.0, 1.0]", "network.hidden=[24, 40, 16]"});
    const dqn::Model model = trained.load();
    const Rows rows = make_rows(model, trained.training->market.features);
    const TemporaryFolder folder;
    write(folder / "features", rows.features);
    write(folder / "portfolio", rows.portfolio);
    write(folder / "q", device_q(model, rows));
    std::ofstream(folder / "policy.onnx", std::ios::binary) << dqn::policy_onnx(model);
    const std::string script = (source_dir() / "tests/dqn/onnx_check.py").string();
    REQUIRE(std::system((python() + " '" + script + "' '" + folder.path().string() + "'").c_str()) == 0);
  }
}

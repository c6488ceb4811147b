#include "core/dqn/policy_export.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/run/json.h"
#include "core/run/onnx.h"

namespace foxhunt::dqn {
namespace {

using run::OnnxGraph;
using Shape = std::vector<std::int64_t>;

std::string scalar(OnnxGraph& graph, const std::string& name, double value) {
  return graph.constant(name, Shape{}, std::span<const double>(&value, 1));
}

std::string integers(OnnxGraph& graph, const std::string& name, const std::vector<std::int64_t>& values) {
  return graph.constant(name, Shape{static_cast<std::int64_t>(values.size())}, std::span<const std::int64_t>(values));
}

/// features -> clip((features - mean) / deviation), in float64 as the trainer computes it, then float32.
std::string add_standardisation(OnnxGraph& graph, const ModelCard& card) {
  const Shape shape{static_cast<std::int64_t>(card.features.names.size())};
  const std::string mean = graph.constant("mean", shape, std::span<const double>(card.features.mean));
  const std::string deviation = graph.constant("deviation", shape, std::span<const double>(card.features.deviation));
  const std::string centred = graph.node("Sub", {"features", mean}, "centred");
  const std::string scaled = graph.node("Div", {centred, deviation}, "scaled");
  const std::string clipped = graph.node(
      "Clip", {scaled, scalar(graph, "clip_min", -card.clip), scalar(graph, "clip_max", card.clip)}, "clipped");
  return graph.node("Cast", {clipped}, "standardised", {{"to", {static_cast<int>(OnnxGraph::Type::f32)}}});
}

/// The dense layers: observation [batch, F + 8] -> raw [batch, (1 + A) * Z], without what pads the last one.
std::string add_layers(OnnxGraph& graph, const Model& model, const std::string& observation) {
  const nn::DenseNetwork network = model.card.network();
  const LayerTable& table = network.table();
  std::string x = observation;
  for (int l = 0; l < table.layers; ++l) {
    const bool last = l + 1 == table.layers;
    const int inputs = table.inputs[l], stored = table.outputs[l];
    const int outputs = last ? (model.card.actions() + 1) * model.card.atoms : stored;
    std::vector<float> matrix;  // [inputs + 1, outputs], the bias last
    for (int row = 0; row <= inputs; ++row) {
      const auto from = model.weights().begin() + table.offset[l] + static_cast<std::ptrdiff_t>(row) * stored;
      matrix.insert(matrix.end(), from, from + outputs);
    }
    const std::string name = fmt::format("layer{}", l);
    const std::span<const float> values(matrix);
    const auto weights = static_cast<std::size_t>(inputs) * static_cast<std::size_t>(outputs);
    const std::string w = graph.constant(name + ".weight", Shape{inputs, outputs}, values.first(weights));
    const std::string b = graph.constant(name + ".bias", Shape{outputs}, values.subspan(weights));
    x = graph.node("Gemm", {x, w, b}, name);
    if (!last) x = graph.node("Relu", {x}, name + ".relu");
  }
  return x;
}

/// Dueling streams: raw -> logits [batch, A, Z] = V + A - mean over actions of A (dueling_forward_kernel).
std::string add_dueling(OnnxGraph& graph, const ModelCard& card, const std::string& raw) {
  const std::string shape = integers(graph, "stream_shape", {-1, card.actions() + 1, card.atoms});
  const std::string streams = graph.node("Reshape", {raw, shape}, "streams");
  const std::string zero = integers(graph, "zero", {0}), one = integers(graph, "one", {1});
  const std::string end = integers(graph, "streams_end", {card.actions() + 1});
  const std::string value = graph.node("Slice", {streams, zero, one, one}, "value");
  const std::string advantage = graph.node("Slice", {streams, one, end, one}, "advantage");
  const std::string mean =
      graph.node("ReduceMean", {advantage}, "mean_advantage", {{"axes", {1}, true}, {"keepdims", {1}}});
  return graph.node("Add", {graph.node("Sub", {value, mean}, "centre"), advantage}, "logits");
}

/// logits -> q, the means of their distributions on the support, and the action.
void add_choice(OnnxGraph& graph, const ModelCard& card, const std::string& logits) {
  std::vector<float> support;
  const float step = (card.v_max - card.v_min) / static_cast<float>(card.atoms - 1);
  for (int z = 0; z < card.atoms; ++z) support.push_back(card.v_min + step * static_cast<float>(z));
  const std::string atoms = graph.constant("support", Shape{card.atoms, 1}, std::span<const float>(support));
  const std::string distribution = graph.node("Softmax", {logits}, "distribution", {{"axis", {2}}});
  const std::string expected = graph.node("MatMul", {distribution, atoms}, "expected");
  graph.node("Squeeze", {expected, integers(graph, "last_axis", {2})}, "q");
  graph.node("ArgMax", {"q"}, "action", {{"axis", {1}}, {"keepdims", {0}}});
}

void add_metadata(OnnxGraph& graph, const Model& model) {
  for (const auto& [key, value] : model_metadata(model.card, model.profile)) graph.metadata(key, value);
  graph.metadata("feature_names", run::json_text(model.card.features.names));
  graph.metadata("portfolio_names", run::json_text(portfolio_names()));
  graph.metadata("positions", run::json_text(model.card.positions));
  graph.metadata("profile", model.profile.name);
  graph.metadata("epoch", std::to_string(model.epoch));
  graph.metadata("iteration", std::to_string(model.iteration));
  graph.metadata("fingerprint", fmt::format("{:016x}", fingerprint(model.learner)));
}

}  // namespace

std::string policy_onnx(const Model& model) {
  const auto features = static_cast<std::int64_t>(model.card.features.names.size());
  OnnxGraph graph("policy");
  graph.input("features", OnnxGraph::Type::f64, Shape{OnnxGraph::batch, features});
  graph.input("portfolio", OnnxGraph::Type::f32, Shape{OnnxGraph::batch, portfolio_width});
  graph.output("q", OnnxGraph::Type::f32, Shape{OnnxGraph::batch, model.card.actions()});
  graph.output("action", OnnxGraph::Type::i64, Shape{OnnxGraph::batch});
  const std::string standardised = add_standardisation(graph, model.card);
  const std::string observation = graph.node("Concat", {standardised, "portfolio"}, "observation", {{"axis", {1}}});
  add_choice(graph, model.card, add_dueling(graph, model.card, add_layers(graph, model, observation)));
  add_metadata(graph, model);
  return graph.bytes(fmt::format(
      "Greedy policy of profile {}, epoch {}: features (not standardised) and portfolio in, expected returns "
      "and the action out",
      model.profile.name, model.epoch));
}

}  // namespace foxhunt::dqn

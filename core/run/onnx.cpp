#include "core/run/onnx.h"

#include <bit>

namespace foxhunt::run {
namespace {

static_assert(std::endian::native == std::endian::little);  // as raw_data is

/// Field numbers of the messages in use.
enum ModelField {
  model_ir_version = 1,
  model_producer = 2,
  model_description = 6,
  model_graph = 7,
  model_opset = 8,
  model_metadata = 14
};
enum OpsetField { opset_version = 2 };
enum EntryField { entry_key = 1, entry_value = 2 };
enum GraphField { graph_node = 1, graph_name = 2, graph_tensor = 5, graph_input = 11, graph_output = 12 };
enum NodeField { node_input = 1, node_output = 2, node_name = 3, node_op = 4, node_attribute = 5 };
enum AttributeField { attribute_name = 1, attribute_int = 3, attribute_ints = 8, attribute_type = 20 };
enum AttributeType { type_int = 2, type_ints = 7 };
enum TensorField { tensor_dims = 1, tensor_type = 2, tensor_name = 8, tensor_data = 9 };
enum ValueField { value_name = 1, value_type = 2 };
enum TypeField { type_tensor = 1 };
enum TensorTypeField { element_type = 1, shape_of = 2 };
enum ShapeField { shape_dim = 1 };
enum DimensionField { dimension_size = 1, dimension_name = 2 };

constexpr int ir_version = 8, operator_set = 17;

ProtobufMessage value_info(const std::string& name, OnnxGraph::Type type, std::span<const std::int64_t> shape) {
  ProtobufMessage dimensions;
  for (const std::int64_t size : shape) {
    ProtobufMessage dimension;
    size == OnnxGraph::batch ? dimension.text(dimension_name, "batch") : dimension.integer(dimension_size, size);
    dimensions.message(shape_dim, dimension);
  }
  ProtobufMessage tensor;
  tensor.integer(element_type, static_cast<int>(type)).message(shape_of, dimensions);
  return ProtobufMessage().text(value_name, name).message(value_type, ProtobufMessage().message(type_tensor, tensor));
}

template <class T>
std::string_view as_text(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

void OnnxGraph::input(const std::string& name, Type type, std::span<const std::int64_t> shape) {
  inputs_.push_back(value_info(name, type, shape));
}

void OnnxGraph::output(const std::string& name, Type type, std::span<const std::int64_t> shape) {
  outputs_.push_back(value_info(name, type, shape));
}

std::string OnnxGraph::tensor(const std::string& name, Type type, std::span<const std::int64_t> shape,
                              std::string_view data) {
  ProtobufMessage message;
  for (const std::int64_t size : shape) message.integer(tensor_dims, size);
  message.integer(tensor_type, static_cast<int>(type)).text(tensor_name, name).text(tensor_data, data);
  tensors_.push_back(message);
  return name;
}

std::string OnnxGraph::constant(const std::string& name, std::span<const std::int64_t> shape,
                                std::span<const float> values) {
  return tensor(name, Type::f32, shape, as_text(values));
}

std::string OnnxGraph::constant(const std::string& name, std::span<const std::int64_t> shape,
                                std::span<const double> values) {
  return tensor(name, Type::f64, shape, as_text(values));
}

std::string OnnxGraph::constant(const std::string& name, std::span<const std::int64_t> shape,
                                std::span<const std::int64_t> values) {
  return tensor(name, Type::i64, shape, as_text(values));
}

std::string OnnxGraph::node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                            const std::vector<Attribute>& attributes) {
  ProtobufMessage message;
  for (const std::string& name : inputs) message.text(node_input, name);
  message.text(node_output, output).text(node_name, output).text(node_op, op);
  for (const Attribute& attribute : attributes) {
    ProtobufMessage written;
    written.text(attribute_name, attribute.name);
    for (const std::int64_t value : attribute.values)
      written.integer(attribute.list ? attribute_ints : attribute_int, value);
    written.integer(attribute_type, attribute.list ? type_ints : type_int);
    message.message(node_attribute, written);
  }
  nodes_.push_back(message);
  return output;
}

std::string OnnxGraph::bytes(std::string_view description) const {
  ProtobufMessage graph;
  for (const ProtobufMessage& node : nodes_) graph.message(graph_node, node);
  graph.text(graph_name, name_);
  for (const ProtobufMessage& tensor : tensors_) graph.message(graph_tensor, tensor);
  for (const ProtobufMessage& value : inputs_) graph.message(graph_input, value);
  for (const ProtobufMessage& value : outputs_) graph.message(graph_output, value);
  ProtobufMessage model;
  model.integer(model_ir_version, ir_version)
      .text(model_producer, "foxhunt-train")
      .text(model_description, description)
      .message(model_graph, graph)
      .message(model_opset, ProtobufMessage().integer(opset_version, operator_set));
  for (const auto& [key, value] : metadata_)
    model.message(model_metadata, ProtobufMessage().text(entry_key, key).text(entry_value, value));
  return model.bytes();
}

}  // namespace foxhunt::run

#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/protobuf.h"

namespace foxhunt::run {

/// An ONNX model being written (onnx/onnx.proto, IR version 8, operator set 17): values are referred to by name, nodes
/// come after what they read.
class OnnxGraph {
 public:
  /// TensorProto.DataType.
  enum class Type { f32 = 1, i64 = 7, f64 = 11 };
  /// The size of a dimension that is known when the model runs.
  static constexpr std::int64_t batch = -1;

  explicit OnnxGraph(std::string name) : name_(std::move(name)) {}

  void input(const std::string& name, Type type, std::span<const std::int64_t> shape);
  void output(const std::string& name, Type type, std::span<const std::int64_t> shape);

  /// A tensor of the model, row-major; an empty shape is a scalar. Returns its name.
  std::string constant(const std::string& name, std::span<const std::int64_t> shape, std::span<const float> values);
  std::string constant(const std::string& name, std::span<const std::int64_t> shape, std::span<const double> values);
  std::string constant(const std::string& name, std::span<const std::int64_t> shape,
                       std::span<const std::int64_t> values);

  struct Attribute {
    std::string name;
    std::vector<std::int64_t> values;
    bool list = false;  ///< an attribute of type INTS, not INT
  };
  /// Applies an operator (https://onnx.ai/onnx/operators) and returns the name of its one output.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                   const std::vector<Attribute>& attributes = {});

  void metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

  /// The whole file.
  std::string bytes(std::string_view description) const;

 private:
  std::string tensor(const std::string& name, Type type, std::span<const std::int64_t> shape, std::string_view data);

  std::string name_;
  std::vector<ProtobufMessage> nodes_, tensors_, inputs_, outputs_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace foxhunt::run

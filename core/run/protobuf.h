#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace foxhunt::run {

/// One protobuf message being written, field by field (protobuf.dev/programming-guides/encoding).
class ProtobufMessage {
 public:
  ProtobufMessage& integer(int field, std::int64_t value) {
    return key(field, 0).varint(static_cast<std::uint64_t>(value));
  }
  ProtobufMessage& number(int field, double value) { return key(field, 1).raw(value); }
  ProtobufMessage& number(int field, float value) { return key(field, 5).raw(value); }
  /// Text, bytes or a message.
  ProtobufMessage& text(int field, std::string_view value) {
    key(field, 2).varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage& message(int field, const ProtobufMessage& value) { return text(field, value.bytes_); }
  /// Packed.
  ProtobufMessage& numbers(int field, std::span<const double> values) {
    return text(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  const std::string& bytes() const { return bytes_; }

 private:
  ProtobufMessage& key(int field, int wire_type) { return varint(static_cast<std::uint64_t>(field << 3 | wire_type)); }
  ProtobufMessage& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  template <class T>
  ProtobufMessage& raw(T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
    return *this;
  }
  std::string bytes_;
};

}  // namespace foxhunt::run

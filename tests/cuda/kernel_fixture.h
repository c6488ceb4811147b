#pragma once
// What every kernel test stands on: the devices present, device memory that notices stray writes and elements left
// unwritten, and seeded inputs.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/device/launch.h"
#include "tests/catch.h"

namespace foxhunt::test {

struct OpenDevice {
  std::string name;
  std::shared_ptr<Device> device;
  std::string shape = {};  ///< of its launches, where it is not what the catalogue states
};

/// Every device present, opened once for each launch shape: on a GPU as the catalogue states, and in a few blocks of
/// one warp (FOXHUNT_TEST_ONE_SHAPE leaves that out); on the host with every block size that its kernels were built
/// for.
inline const std::vector<OpenDevice>& devices() {
  static const std::vector<OpenDevice> all = [] {
    std::vector<OpenDevice> opened;
    const auto open = [&](const std::string& name, int block_threads, unsigned most_blocks) {
      opened.push_back({name, open_device(name, {.block_threads = block_threads, .most_blocks = most_blocks}),
                        block_threads > 0 ? ", threads a block: " + std::to_string(block_threads) : ""});
    };
    for (const std::string& name : present_devices()) {
      if (name == "host") {
        for (const int size : host_block_sizes()) open(name, size, 0);
      } else {
        open(name, 0, 0);
        if (!std::getenv("FOXHUNT_TEST_ONE_SHAPE")) open(name, 32, 3);
      }
    }
    return opened;
  }();
  return all;
}

/// Repeats the test case for every device present, with `variable` a Device& and its name in every failure.
#define ON_EVERY_DEVICE(variable)                                                             \
  const foxhunt::test::OpenDevice on_device = GENERATE(from_range(foxhunt::test::devices())); \
  INFO("on " << on_device.name << on_device.shape);                                           \
  foxhunt::Device& variable = *on_device.device

/// Seeded random numbers; `salt` tells the uses within a test program apart.
class Random {
 public:
  explicit Random(unsigned salt) : engine_(seed() * 1000003ULL + salt) {}
  float uniform(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine_); }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  std::vector<float> floats(std::size_t count, float low, float high) {
    std::vector<float> values(count);
    for (float& v : values) v = uniform(low, high);
    return values;
  }
  /// Whole numbers: sums and products of small ones are exact in float32, whatever their order.
  std::vector<float> whole(std::size_t count, int low, int high) {
    std::vector<float> values(count);
    for (float& v : values) v = static_cast<float>(integer(low, high));
    return values;
  }
  std::vector<std::int32_t> integers(std::size_t count, int low, int high) {
    std::vector<std::int32_t> values(count);
    for (std::int32_t& v : values) v = integer(low, high);
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

/// Device memory between two guard bands. Contents are uploaded, or poisoned with a pattern that no kernel computes:
/// a NaN with a payload for floats, 0xA5 bytes for others.
template <class T>
class TestBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  TestBuffer(Device& device, std::size_t count) : TestBuffer(device, std::vector<T>(count, poison())) {}
  TestBuffer(Device& device, const std::vector<T>& contents) : device_(&device), count_(contents.size()) {
    std::vector<T> whole(count_ + 2 * guard, guard_value());
    std::copy(contents.begin(), contents.end(), whole.begin() + guard);
    memory_ = static_cast<T*>(device.allocate(whole.size() * sizeof(T)));
    device.upload(DeviceSpan<T>(memory_, whole.size()), whole);
  }
  TestBuffer(const TestBuffer&) = delete;
  TestBuffer& operator=(const TestBuffer&) = delete;
  ~TestBuffer() { device_->release(memory_); }

  DeviceSpan<T> span() const { return {memory_ + guard, count_}; }
  operator DeviceSpan<T>() const { return span(); }
  operator DeviceSpan<const T>() const { return span(); }
  std::size_t size() const { return count_; }

  void upload(const std::vector<T>& contents) { device_->upload(span(), contents); }
  std::vector<T> download() const { return device_->download(span()); }
  T at(std::size_t i) const { return device_->download(span().part(i, 1))[0]; }
  void set(std::size_t i, const T& value) { device_->upload(span().part(i, 1), std::span(&value, 1)); }

  bool guards_intact() const {
    const T expected = guard_value();
    for (T* band : {memory_, memory_ + guard + count_})
      for (const T& v : device_->download(DeviceSpan<T>(band, guard)))
        if (std::memcmp(&v, &expected, sizeof(T)) != 0) return false;
    return true;
  }
  /// Elements that still hold the poison.
  std::size_t unwritten() const {
    const T expected = poison();
    const std::vector<T> now = download();
    return static_cast<std::size_t>(
        std::count_if(now.begin(), now.end(), [&](const T& v) { return std::memcmp(&v, &expected, sizeof(T)) == 0; }));
  }

 private:
  static constexpr std::size_t guard = 64;
  static T filled(unsigned char byte) {
    T value;
    std::memset(static_cast<void*>(&value), byte, sizeof(T));
    return value;
  }
  static T guard_value() { return filled(0x5C); }
  static T poison() {
    if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(0x7fc0deadu);
    return filled(0xA5);
  }

  Device* device_;
  std::size_t count_;
  T* memory_;
};

/// Inputs at the very end of their memory: with an address sanitizer, or a memory checker on a GPU, a read beyond them
/// is reported. Aligned as their type is, no more.
template <class T>
class EndingBuffer {
 public:
  EndingBuffer(Device& device, const std::vector<T>& contents) : device_(&device), count_(contents.size()) {
    const std::size_t bytes = count_ * sizeof(T), rounded = (bytes + granule - 1) / granule * granule;
    memory_ = static_cast<std::byte*>(device.allocate(rounded));
    first_ = reinterpret_cast<T*>(memory_ + rounded - bytes);
    device.upload(DeviceSpan<T>(first_, count_), contents);
  }
  EndingBuffer(const EndingBuffer&) = delete;
  EndingBuffer& operator=(const EndingBuffer&) = delete;
  ~EndingBuffer() { device_->release(memory_); }
  operator DeviceSpan<const T>() const { return {first_, count_}; }

 private:
  static constexpr std::size_t granule = 512;  // of what any device allocates

  Device* device_;
  std::size_t count_;
  std::byte* memory_;
  T* first_;
};

template <class T>
void require_guards(const KernelInfo& kernel, std::size_t argument, const TestBuffer<T>& buffer) {
  CAPTURE(kernel.name, kernel.arguments[argument].name);
  REQUIRE(buffer.guards_intact());
}
template <class T>
void require_guards(const KernelInfo&, std::size_t, const T&) {}

/// Launches, waits, and requires that nothing was written beside any TestBuffer among the arguments.
template <class... P, class... A>
void launch_guarded(Device& device, void (*kernel)(P...), const A&... arguments) {
  launch(device, kernel, arguments...);
  device.synchronize();
  const KernelInfo& info = kernel_info(reinterpret_cast<const void*>(kernel));
  std::size_t i = 0;
  (require_guards(info, i++, arguments), ...);
}

/// Bits, so that NaN equals itself and -0 differs from 0.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

/// Largest of the values noted; infinite from the first NaN on.
class Largest {
 public:
  void note(double value) { value_ = value <= value_ ? value_ : std::isnan(value) ? INFINITY : value; }
  double value() const { return value_; }

 private:
  double value_ = 0.0;
};

/// Largest |a - b|; NaN or different sizes give infinity.
inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  Largest largest;
  for (std::size_t i = 0; i < a.size(); ++i) largest.note(std::fabs(static_cast<double>(a[i]) - b[i]));
  return largest.value();
}

inline double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = a.size() == b.size() ? 0.0 : NAN;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

inline double sum(const std::vector<float>& values) {
  double total = 0.0;
  for (float v : values) total += v;
  return total;
}

/// Message of the Error(device) that `f` throws, or "" when it throws nothing.
template <class F>
std::string device_error(F f) {
  try {
    f();
  } catch (const Error& error) {
    REQUIRE(error.code() == ExitCode::device);
    return error.what();
  }
  return "";
}

/// A bus and counters of an iteration that learns, with nothing non-finite met so far.
inline std::vector<float> isv_with(std::initializer_list<std::pair<IsvSlot, float>> slots) {
  std::vector<float> isv(isv_slot_count, 0.0f);
  for (const auto& [slot, value] : slots) isv[slot] = value;
  return isv;
}
inline std::vector<std::uint32_t> counters_with(std::initializer_list<std::pair<Counter, std::uint32_t>> values) {
  std::vector<std::uint32_t> counters(counter_count, 0u);
  counters[counter_learning] = 1;
  for (const auto& [counter, value] : values) counters[counter] = value;
  return counters;
}

}  // namespace foxhunt::test

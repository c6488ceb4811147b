#include "core/run/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <set>
#include <stdexcept>

#include "core/checksum.h"
#include "core/run/safetensors_header.h"
#include "core/storage.h"

namespace foxhunt::run {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kLengthBytes = 8, kMaxHeaderBytes = 100'000'000;

// The checksum covers header and data; its own digits, at a fixed place in the header, count as zeros. The format key
// says that a checksum must be there: a flipped bit in either key leaves the other.
constexpr std::string_view kFormatKey = "foxhunt.format", kFormat = "1", kChecksumKey = "foxhunt.checksum";
constexpr std::string_view kOpening = "{\"__metadata__\":{", kChecksum = "\"foxhunt.checksum\":\"0000000000000000\",";
constexpr std::size_t kDigitsAt = kOpening.size() + kChecksum.find('0'), kDigits = 16;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
  constexpr std::size_t longest = 500;  // it may quote a name of the file, which may be anything
  throw Error(ExitCode::storage,
              fmt::format("cannot load {}: {}; it is damaged or not a safetensors file; use another copy",
                          path.string(), printable(reason.substr(0, longest))));
}

/// Sum of a header whose digits are zeros, and of the data.
std::uint64_t sum_of(std::string_view header, std::span<const std::span<const std::byte>> data) {
  std::uint64_t sum = xxh64(std::as_bytes(std::span(header)));
  for (const auto part : data) sum = xxh64(part, sum);
  return sum;
}

/// Throws std::invalid_argument when the file is one written here and is not as it was written.
void verify(std::string header, const std::map<std::string, std::string>& metadata,
            std::span<const TensorView> tensors) {
  const auto format = metadata.find(std::string(kFormatKey)), checksum = metadata.find(std::string(kChecksumKey));
  if (format == metadata.end() && checksum == metadata.end()) return;  // written elsewhere
  if (format == metadata.end() || checksum == metadata.end())
    throw std::invalid_argument("half of its checksum is missing");
  if (format->second != kFormat)
    throw std::invalid_argument(fmt::format("its format is '{}', expected '{}'", format->second, kFormat));

  if (header.compare(kDigitsAt, kDigits, checksum->second) != 0)
    throw std::invalid_argument("its checksum is not where it was written");
  header.replace(kDigitsAt, kDigits, kDigits, '0');
  std::vector<std::span<const std::byte>> data;
  for (const TensorView& tensor : tensors) data.push_back(tensor.data);
  const std::string found = fmt::format("{:016x}", sum_of(header, data));
  if (found != checksum->second)
    throw std::invalid_argument(fmt::format("its checksum is {}, expected {}", found, checksum->second));
}

void read_fully(const std::filesystem::path& path, int file, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t count = ::read(file, into.data(), into.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw storage_error("read", path, errno);
    if (count == 0) refuse(path, "it became shorter while it was read");
    into = into.subspan(static_cast<std::size_t>(count));
  }
}

Descriptor open_plain_file(const std::filesystem::path& path, std::uint64_t& size) {
  // Non-blocking, for opening a pipe would wait for its writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0) throw storage_error("open", path, errno);
  if (!S_ISREG(status.st_mode)) refuse(path, "it is not a plain file");
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

std::string read_header(const std::filesystem::path& path, int file, std::uint64_t file_size) {
  if (file_size < kLengthBytes) refuse(path, fmt::format("it has {} bytes, too few for a header", file_size));
  std::uint64_t length = 0;
  read_fully(path, file, std::as_writable_bytes(std::span(&length, 1)));
  if (length > kMaxHeaderBytes || length > file_size - kLengthBytes)
    refuse(path, fmt::format("its header is said to have {} bytes; the file has {} and {} are allowed", length,
                             file_size, kMaxHeaderBytes));
  std::string text(length, ' ');
  read_fully(path, file, std::as_writable_bytes(std::span(text)));
  return text;
}

/// Wide elements first, so that every tensor is aligned to its own element size whatever stands before it.
std::vector<const TensorView*> in_file_order(std::span<const TensorView> tensors) {
  std::vector<const TensorView*> order;
  for (const TensorView& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const TensorView* a, const TensorView* b) {
    return dtype_size(a->dtype) > dtype_size(b->dtype);
  });
  return order;
}

SafetensorsHeader describe(std::span<const TensorView* const> tensors,
                           const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header;
  std::set<std::string> names = {"__metadata__"};
  for (const TensorView* tensor : tensors) {
    if (!names.insert(tensor->name).second)
      throw std::invalid_argument(fmt::format("tensor name '{}' is taken", tensor->name));
    const std::uint64_t bytes = tensor_bytes(tensor->dtype, tensor->shape);
    if (bytes != tensor->data.size())
      throw std::invalid_argument(fmt::format("tensor '{}' has {} bytes of data and its shape needs {}", tensor->name,
                                              tensor->data.size(), bytes));
    const std::uint64_t begin = header.tensors.empty() ? 0 : header.tensors.back().end;
    header.tensors.push_back({tensor->name, tensor->dtype, tensor->shape, begin, begin + bytes});
  }
  for (const auto& [key, value] : metadata)
    if (key.starts_with("foxhunt.")) throw std::invalid_argument(fmt::format("metadata key '{}' is reserved", key));
  header.metadata = metadata;
  header.metadata[std::string(kFormatKey)] = kFormat;
  return header;
}

}  // namespace

void save_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata) try {
  const auto order = in_file_order(tensors);
  std::string header = safetensors_header_text(describe(order, metadata));
  header.insert(kOpening.size(), kChecksum);
  header.append((8 - header.size() % 8) % 8, ' ');
  std::vector<std::span<const std::byte>> data;
  for (const TensorView* tensor : order) data.push_back(tensor->data);
  header.replace(kDigitsAt, kDigits, fmt::format("{:016x}", sum_of(header, data)));

  const std::uint64_t length = header.size();
  std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(&length, 1)),
                                                   std::as_bytes(std::span(header))};
  parts.insert(parts.end(), data.begin(), data.end());
  write_file_atomically(path, parts);
} catch (const std::invalid_argument& reason) {
  throw Error(ExitCode::storage, fmt::format("cannot save {}: {}", path.string(), reason.what()));
}

SafetensorsFile SafetensorsFile::load(const std::filesystem::path& path) try {
  std::uint64_t file_size = 0;
  const Descriptor descriptor = open_plain_file(path, file_size);
  const std::string text = read_header(path, descriptor.get(), file_size);
  const std::uint64_t data_size = file_size - kLengthBytes - text.size();
  SafetensorsHeader header = parse_safetensors_header(text, data_size);

  SafetensorsFile file;
  file.path_ = path;
  file.data_ = std::make_unique_for_overwrite<std::byte[]>(data_size);
  const std::span<std::byte> data(file.data_.get(), data_size);
  read_fully(path, descriptor.get(), data);
  for (TensorEntry& entry : header.tensors)
    file.tensors_.push_back({std::move(entry.name), entry.dtype, std::move(entry.shape),
                             data.subspan(entry.begin, entry.end - entry.begin)});
  verify(text, header.metadata, file.tensors_);
  file.metadata_ = std::move(header.metadata);
  std::erase_if(file.metadata_, [](const auto& entry) { return entry.first.starts_with("foxhunt."); });
  return file;
} catch (const std::invalid_argument& reason) {
  refuse(path, reason.what());
} catch (const std::bad_alloc&) {
  throw Error(ExitCode::device, fmt::format("cannot load {}: it does not fit into memory", path.string()));
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const TensorView& tensor : tensors_) names.push_back(tensor.name);
  return names;
}

bool SafetensorsFile::contains(std::string_view name) const {
  return std::any_of(tensors_.begin(), tensors_.end(), [&](const TensorView& tensor) { return tensor.name == name; });
}

const TensorView& SafetensorsFile::tensor(std::string_view name) const {
  for (const TensorView& tensor : tensors_)
    if (tensor.name == name) return tensor;
  const std::string near = nearest_name(std::string(name), names());
  throw Error(ExitCode::storage, fmt::format("{} has no tensor '{}'{}; use a file of the same model", path_.string(),
                                             name, near.empty() ? "" : fmt::format(" (nearest: '{}')", near)));
}

void SafetensorsFile::copy_bytes(std::string_view name, DType dtype, std::span<std::byte> destination) const {
  const TensorView& found = tensor(name);
  if (found.dtype != dtype || found.data.size() != destination.size())
    throw Error(
        ExitCode::storage,
        fmt::format("tensor '{}' of {} holds {} x {}, expected {} x {}; use a file of the same model and profile", name,
                    path_.string(), found.data.size() / dtype_size(found.dtype), dtype_name(found.dtype),
                    destination.size() / dtype_size(dtype), dtype_name(dtype)));
  if (!destination.empty()) std::memcpy(destination.data(), found.data.data(), destination.size());
}

}  // namespace foxhunt::run

#include "core/market/dbn_records.h"

#include <fmt/format.h>

#include <system_error>

namespace foxhunt::market {

DbnRecords::DbnRecords(const std::filesystem::path& file, const ReadOptions& options, SymbolNames& names)
    : stream_(file),
      options_(options),
      names_(names),
      send_time_size_(metadata().ts_out ? 8 : 0),
      walked_to_(metadata().records_at) {
  if (options.progress) stream_.source().report_to(options.progress);
  note_symbols(metadata(), names_);
}

void DbnRecords::note(const DbnRecord& record) {
  if (record.rtype() == dbn::rtype::symbol_mapping) note_symbol(record, names_);
  ++others_[record.rtype()];
}

/// Called while the error is being handled.
void DbnRecords::end_at_damage(const Error& error) {
  if (options_.on_damage == DamagePolicy::fail || error.code() != ExitCode::data) throw;
  ByteSource& source = stream_.source();
  const std::string lost = source.compressed()
                               ? "what the rest of it held"
                               : fmt::format("the {} bytes after them", source.file_size() - walked_to_);
  damage_ = fmt::format("{}; kept the {} records before it, lost {}", error.what(), walked_, lost);
}

void DbnRecords::fail_size(const DbnRecord& record, std::size_t expected) const {
  stream_.fail(record, fmt::format("{} record of {} bytes, expected {}; the file is damaged, fetch it again",
                                   dbn::record_label(record.rtype()), record.size, expected));
}

void DbnRecords::fail_without(const std::string& what, std::map<std::string, std::int64_t> rejects,
                              const std::string& wanted) const {
  for (std::size_t type = 0; type < others_.size(); ++type)
    if (others_[type]) rejects[dbn::record_label(static_cast<std::uint8_t>(type))] += others_[type];
  const std::string there =
      rejects.empty() && walked_ ? fmt::format("{} records that make none", walked_) : list_counts(rejects);
  throw Error(ExitCode::data, fmt::format("{}: no {}: schema {}, {}; {}", stream_.name(), what,
                                          dbn::schema_name(metadata().schema), there, wanted));
}

ReadOptions part_options(const ReadOptions& options, std::span<const std::filesystem::path> files, std::size_t at) {
  ReadOptions part = options;
  if (!options.progress || files.size() == 1) return part;
  std::error_code ignored;
  std::uint64_t before = 0, total = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i == at) before = total;
    total += std::filesystem::file_size(files[i], ignored);
  }
  part.progress = [=, &options](std::uint64_t done, std::uint64_t) { options.progress(before + done, total); };
  return part;
}

std::string source_name(std::span<const std::filesystem::path> files) {
  return files.size() == 1 ? files[0].string() : files[0].parent_path().string();
}

std::string list_counts(const std::map<std::string, std::int64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text.empty() ? "no record at all" : text;
}

}  // namespace foxhunt::market

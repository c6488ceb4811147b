#include "core/market/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t longest_line = 1 << 18;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(const char* begin, const char* end) {
  while (begin < end && is_blank(*begin)) ++begin;
  while (begin < end && is_blank(end[-1])) --end;
  if (end - begin >= 2 && *begin == '"' && end[-1] == '"') ++begin, --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

const char* find(const char* begin, const char* end, char c) {
  const void* found = std::memchr(begin, c, static_cast<std::size_t>(end - begin));
  return found ? static_cast<const char*>(found) : end;
}

/// Where the field that starts at `begin` ends, when separators inside quotes do not count.
const char* end_of_quoted(const char* begin, const char* end, char separator) {
  bool inside = false;
  const char* at = begin;
  for (; at < end && (inside || *at != separator); ++at) inside ^= *at == '"';
  return at;
}

}  // namespace

void split_csv_line(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  const char *at = line.data(), *end = at + line.size();
  const bool quotes = find(at, end, '"') != end;
  for (;;) {
    const char* stop = quotes ? end_of_quoted(at, end, separator) : find(at, end, separator);
    fields.push_back(trimmed(at, stop));
    if (stop == end) return;
    at = stop + 1;
  }
}

std::string quoted_field(std::string_view field) {
  constexpr std::size_t most = 60;
  return fmt::format("'{}{}'", printable(std::string(field.substr(0, most))), field.size() > most ? "..." : "");
}

CsvRows::CsvRows(const std::filesystem::path& file, const ReadOptions& options)
    : options_(options), source_(file), buffer_(longest_line) {
  if (options.progress) source_.report_to(options.progress);
  const std::string& name = options.csv.delimiter;
  if (name == "comma") separator_ = ',';
  if (name == "semicolon") separator_ = ';';
  if (name == "tab") separator_ = '\t';
  if (name == "pipe") separator_ = '|';
}

bool CsvRows::next() {
  while (next_line()) {
    if (line_.empty() || line_[0] == '#' || std::all_of(line_.begin(), line_.end(), is_blank)) continue;
    if (!separator_) separator_ = separator_of_line();
    split_csv_line(line_, separator_, fields_);
    if (expected_ && fields_.size() != expected_) {
      if (fields_.size() == expected_ + 1 && fields_.back().empty()) return true;
      if (may_be_cut()) {
        drop_cut_row();
        return false;
      }
      check_fields();
    }
    return true;
  }
  return false;
}

/// The one that cuts the line into most fields. A comma that marks decimals cuts nothing.
char CsvRows::separator_of_line() const {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', ';', '\t', '|'}) {
    if (candidate == ',' && options_.csv.decimal == "comma") continue;
    const auto fields = std::count(line_.begin(), line_.end(), candidate);
    if (fields > most) most = fields, best = candidate;
  }
  return best;
}

void CsvRows::check_fields() const {
  fail(fmt::format("{} fields, expected {}; correct or remove the line", fields_.size(), expected_));
}

void CsvRows::drop_cut_row() {
  damage_ = fmt::format("{}: cut short in line {}; lost its {} bytes", name(), number_, line_.size());
}

bool CsvRows::next_line() {
  for (;;) {
    const std::string_view rest(buffer_.data() + at_, filled_ - at_);
    const std::size_t end = rest.find('\n');
    line_ended_ = end != std::string_view::npos;
    if (line_ended_) return take(rest.substr(0, end), end + 1);
    if (rest.size() == buffer_.size()) {
      ++number_;
      fail(fmt::format("longer than {} bytes; this is no CSV file of market data", buffer_.size()));
    }
    // Of compressed data that is damaged, the last line is never whole.
    if (!refill()) return !rest.empty() && damage_.empty() && take(rest, rest.size());
  }
}

bool CsvRows::take(std::string_view content, std::size_t size) {
  at_ += size;
  if (++number_ == 1) {
    if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
    if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF")) fail("UTF-16 text; save the file as UTF-8");
  }
  line_ = content;
  return true;
}

bool CsvRows::refill() {
  std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
  filled_ -= at_;
  at_ = 0;
  try {
    const std::size_t got = source_.read(buffer_.data() + filled_, buffer_.size() - filled_);
    filled_ += got;
    return got > 0;
  } catch (const Error& error) {
    // Of data that is damaged, not cut, it is not known where the damage begins.
    if (options_.on_damage == DamagePolicy::fail || !source_.cut_short()) throw;
    damage_ = fmt::format("{}; lost what comes after {} bytes of line {}", error.what(), filled_, number_ + 1);
    return false;
  }
}

void CsvRows::fail(const std::string& what) const {
  const char* cut = line_ended_ || !expected_ ? ""
                                              : "; the line has no end: if the file is cut short, fetch it again, or "
                                                "keep what comes before by data.on_error = \"skip\"";
  throw Error(ExitCode::data, fmt::format("{}: line {}: {}{}", name(), number_, what, cut));
}

}  // namespace foxhunt::market

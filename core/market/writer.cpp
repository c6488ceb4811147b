#include "core/market/writer.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/market/csv_writer.h"
#include "core/market/dbn_writer.h"

namespace foxhunt::market {

void write_bars(const Bars& bars, const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  if (name.ends_with(".dbn") || name.ends_with(".dbn.zst")) return write_dbn(bars, file);
  if (name.ends_with(".csv")) return write_csv(bars, file);
  throw Error(ExitCode::usage,
              fmt::format("'{}' names no market format; end it in .dbn, .dbn.zst or .csv", file.string()));
}

}  // namespace foxhunt::market

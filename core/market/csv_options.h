#pragma once
#include <string>
#include <vector>

namespace foxhunt::market {

/// How to read CSV files. Columns are names of the header in any case, or numbers counted from 1; "" looks for the
/// usual names, or in a file without a header for the order time, open, high, low, close, volume.
struct CsvOptions {
  std::string time_column{}, open_column{}, high_column{}, low_column{}, close_column{}, volume_column{};
  std::string symbol_column{};
  std::string time_format = "auto";     ///< or one of time_format_names()
  std::string time_zone = "auto";       ///< of times that name none themselves; see TimeZone. auto: UTC, with a note
  std::string stamp = "auto";           ///< what a bar's time is: "open" or "close"
  std::string delimiter = "auto";       ///< "comma", "semicolon", "tab" or "pipe"
  std::string decimal = "point";        ///< or "comma": the mark before decimals; the other one may group thousands
  std::vector<std::string> features{};  ///< further numeric columns, each of which becomes a feature
};

}  // namespace foxhunt::market

#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/market/books.h"
#include "core/market/tape.h"

namespace foxhunt::market {

/// The rows that a model's training has seen, by the time of the last of them: UTC ns.
struct SeenRows {
  std::string instrument;          ///< symbol of the contract; "": none was known
  std::int64_t trained_until = 0;  ///< of the rows that it learned from
  std::int64_t chosen_until = 0;   ///< of those by which its best state was chosen
  bool operator==(const SeenRows&) const = default;
};

/// A trained model of order books whose outputs become features.
class BookModel {
 public:
  virtual ~BookModel() = default;

  /// The checkpoint that it was read from, and the XXH64 of its bytes, 16 hexadecimal digits.
  virtual const std::filesystem::path& file() const = 0;
  virtual const std::string& checksum() const = 0;
  /// Nothing where the checkpoint does not say.
  virtual const std::optional<SeenRows>& seen() const = 0;
  /// All that its outputs depend on besides books, contract and sessions, for a cache's key.
  virtual std::string identity() const = 0;
  virtual std::vector<std::string> names() const = 0;

  /// A column for each of names(), with a value for every book, one-sided ones included; all finite. Causal: a value
  /// depends on its book and on earlier ones of the session alone. Throws Error(data) for books or a contract that the
  /// model was not made for, Error(numerics) for an output that is not finite.
  virtual std::vector<ExtraColumn> columns(const Books& books, const Contract& contract,
                                           const TapeOptions& sessions) = 0;
};

}  // namespace foxhunt::market

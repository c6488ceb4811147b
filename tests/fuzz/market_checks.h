#pragma once
#include <vector>

#include "core/error.h"
#include "core/market/reader.h"
#include "tests/fuzz/target.h"

// What rows hold whatever file they were read from, and how much a compressed file comes to.
namespace foxhunt::fuzz {

inline constexpr std::size_t most_decompressed = std::size_t{8} << 20;

/// The bytes that a file comes to, up to what is damaged or a little beyond most_decompressed.
template <class Source>
std::size_t decompressed_size(const MemoryFile& file) {
  std::vector<char> block(1 << 16);
  std::size_t size = 0;
  try {
    Source source(file.path());
    while (const std::size_t got = source.read(block.data(), block.size()))
      if ((size += got) > most_decompressed) break;
  } catch (const Error&) {}
  return size;
}

/// A limit on what reading `file` may hold, more of it for zstd: a frame may ask for a window of 128 MiB, of which it
/// uses what it holds.
MemoryLimit with_zstd_window(MemoryLimit limit, std::string_view file);

/// Columns of one length, a positive interval, times that ascend: a tape can be made of them. Throws Finding.
void check_bars(const market::Bars& bars);
/// Columns of one length; times that ascend within an instrument; no crossed and no empty book. Throws Finding.
void check_books(market::Books& books);
/// Columns of one length, times that ascend within an instrument, a size. Throws Finding.
void check_trades(market::Trades& trades);

bool same_rows(const market::Bars& a, const market::Bars& b);
bool same_rows(market::Books& a, market::Books& b);
bool same_rows(market::Trades& a, market::Trades& b);

}  // namespace foxhunt::fuzz

#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "core/market/books.h"
#include "core/market/synth_random.h"
#include "core/market/synth_sessions.h"

namespace foxhunt::market {

/// Ten levels a side, a tick apart, which keep their sizes while the best prices come and go.
class SynthLadder {
 public:
  static constexpr std::size_t depth = 10;
  enum Side { bid, ask };

  /// The side on which a move in this direction opens a better price. The other one loses its best.
  static constexpr Side gaining(int direction) { return direction > 0 ? bid : ask; }
  static constexpr Side losing(int direction) { return direction > 0 ? ask : bid; }

  /// A book of one tick's spread.
  void reset(std::int64_t best_bid, SynthRandom& random) {
    for (std::size_t l = 0; l < depth; ++l) sizes_[bid][l] = deep(l, random), sizes_[ask][l] = deep(l, random);
    best_[bid] = best_bid, best_[ask] = best_bid + synth_tick;
  }

  /// Adds `points` to every price.
  void shift(std::int64_t points) { best_[bid] += points, best_[ask] += points; }

  void gain(Side side, SynthRandom& random) {
    auto& sizes = sizes_[side];
    std::move_backward(sizes.begin(), sizes.end() - 1, sizes.end());
    sizes.front() = deep(0, random);
    best_[side] += side == bid ? synth_tick : -synth_tick;
  }

  void lose(Side side, SynthRandom& random) {
    auto& sizes = sizes_[side];
    std::move(sizes.begin() + 1, sizes.end(), sizes.begin());
    sizes.back() = deep(depth - 1, random);
    best_[side] -= side == bid ? synth_tick : -synth_tick;
  }

  /// Sizes anew: of the best prices, the larger on the side of the pressure; of one level further down, any.
  void resize(int pressure, SynthRandom& random) {
    sizes_[gaining(pressure)].front() = queue(40 + random.below(80), random);
    sizes_[losing(pressure)].front() = queue(5 + random.below(30), random);
    const std::int64_t choice = random.below(2 * (depth - 1));
    const auto level = 1 + static_cast<std::size_t>(choice / 2);
    sizes_[choice % 2][level] = deep(level, random);
  }

  std::int64_t best(Side side) const { return best_[side]; }
  std::int64_t spread_ticks() const { return (best_[ask] - best_[bid]) / synth_tick; }

  void copy_to(BookLevel* row) const {
    for (std::size_t l = 0; l < depth; ++l) {
      const std::int64_t away = static_cast<std::int64_t>(l) * synth_tick;
      const Queue &buy = sizes_[bid][l], &sell = sizes_[ask][l];
      row[l] = {best_[bid] - away, best_[ask] + away, buy.size, sell.size, buy.orders, sell.orders};
    }
  }

 private:
  struct Queue {
    std::uint32_t size = 0, orders = 0;
  };

  /// Orders of one to eight contracts in the mean.
  static Queue queue(std::int64_t size, SynthRandom& random) {
    return {static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(1 + (size - 1) / (1 + random.below(8)))};
  }
  static Queue deep(std::size_t level, SynthRandom& random) {
    return queue(20 + 10 * static_cast<std::int64_t>(level) + random.below(100), random);
  }

  std::array<std::array<Queue, depth>, 2> sizes_{};
  std::array<std::int64_t, 2> best_{};
};

}  // namespace foxhunt::market

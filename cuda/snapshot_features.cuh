#pragma once
// Forty bounded features of a ten-level book: what each is, core/alpha/snapshot_features.h says in the same order. A
// level that is not there is masked: it adds nothing, and what is left without a meaning is 0. One thread makes them
// all, or a block's threads share them out: the same sums in the same order, so the same bits.
#include "cuda/device.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

/// n / d, d > 0. A GPU divides zero on a path that takes three times as long, and much of a quiet book is zero: it
/// divides d then. Times 0 or 1, because of a choice between the two the compiler would make one division again.
DEVICE float ratio(float n, float d) {
  const bool zero = n == 0.0f;
  return (zero ? d : n) / d * (zero ? 0.0f : 1.0f);
}
/// x / (1 + |x|) of x = n / unit, unit > 0, with one division: any number into [-1, 1], and most of the range for the
/// first few units.
DEVICE float bounded(float n, float unit) { return ratio(n, unit + fabsf(n)); }
/// (a - b) / (a + b) for numbers that are not negative; 0 where there is neither.
DEVICE float imbalance(float a, float b) { return ratio(a - b, a + b > 0.0f ? a + b : 1.0f); }

/// A side of the book by number, for threads that do the same for both.
enum Side : int { bid_side, ask_side };
DEVICE int64_t price_of(const Mbp10Level& l, int side) { return side == bid_side ? l.bid : l.ask; }
DEVICE uint32_t size_of(const Mbp10Level& l, int side) { return side == bid_side ? l.bid_size : l.ask_size; }
DEVICE uint32_t count_of(const Mbp10Level& l, int side) { return side == bid_side ? l.bid_count : l.ask_count; }
DEVICE bool has(const Mbp10Level& l, int side) {
  return static_cast<int>(price_of(l, side) != undefined_price) & static_cast<int>(size_of(l, side) != 0);
}
DEVICE bool has_bid(const Mbp10Level& l) { return has(l, bid_side); }
DEVICE bool has_ask(const Mbp10Level& l) { return has(l, ask_side); }

/// Sums and differences of prices wrap instead of overflowing: whatever a damaged file says, a result is finite.
DEVICE int64_t less(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
DEVICE int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Below, what is not there is masked by a choice of values, not of paths: a live snapshot waits for one warp.

/// Order-flow imbalance of a level against the same level of the snapshot before (Cont, Kukanov & Stoikov 2014), over
/// all the sizes it knows of: a side that is not there in both is left out.
DEVICE float order_flow(const Mbp10Level& before, const Mbp10Level& now) {
  float flow = 0.0f, sizes = 0.0f;
  UNROLL for (int side = bid_side; side <= ask_side; ++side) {
    const bool both = static_cast<int>(has(before, side)) & static_cast<int>(has(now, side));
    const float was = both ? static_cast<float>(size_of(before, side)) : 0.0f;
    const float is = both ? static_cast<float>(size_of(now, side)) : 0.0f;
    const int64_t price = price_of(now, side), price_before = price_of(before, side);
    // A price that moved towards the other side brings all of its size, one that moved away took all it had.
    const bool closer = side == bid_side ? price > price_before : price < price_before;
    const float change =
        (price == price_before || closer ? is : 0.0f) - (price == price_before || !closer ? was : 0.0f);
    flow += side == bid_side ? change : -change;
    sizes += was + is;
  }
  return ratio(flow, sizes > 0.0f ? sizes : 1.0f);
}

/// What a level adds to the sums of its side; nothing when it is not there.
struct SideLevel {
  float size, count, away;  // contracts, orders, 1e-9 points from the side's best price
  float level;              // 1 when it is there
};
DEVICE SideLevel side_level(const Mbp10Level& level, const Mbp10Level& best, int side) {
  const bool there = has(level, side);
  const int64_t price = price_of(level, side), first = price_of(best, side);
  const float distance = static_cast<float>(side == bid_side ? less(first, price) : less(price, first));
  return {there ? static_cast<float>(size_of(level, side)) : 0.0f,
          there ? static_cast<float>(count_of(level, side)) : 0.0f, has(best, side) ? distance : 0.0f,
          there ? 1.0f : 0.0f};
}

/// Sums over the first levels of one side.
struct SideSums {
  float size = 0.0f, count = 0.0f;
  float away = 0.0f;  // sizes times distances from the best price
  float levels = 0.0f;
  DEVICE void add(const SideLevel& l) {
    size += l.size, count += l.count, levels += l.level;
    away = fmaf(l.size, l.away, away);  // said, not left to each compiler: the same bits by a thread and by a block
  }
};

/// Whether a book has a mid: both sides, and not crossed.
DEVICE bool has_mid(const Mbp10Level& best) {
  return static_cast<int>(has_bid(best)) & static_cast<int>(has_ask(best)) & static_cast<int>(best.ask >= best.bid);
}
DEVICE float log_size(float size) { return bounded(log1pf(size), 4.0f); }

// Places in the list.
enum SnapshotFeature : int {
  feature_spread,
  feature_microprice,
  feature_mid_move,
  feature_size_imbalance,                                     // [10]
  feature_order_flow = feature_size_imbalance + book_levels,  // [10]
  feature_imbalances = feature_order_flow + book_levels,      // sizes of 3, 5, 10 levels, orders of 1, 10, trades
  feature_trade_volume = feature_imbalances + 6,
  feature_trade_price,
  feature_bid_gap,
  feature_ask_gap,
  feature_away,  // [2], and so for the next two
  feature_side_size = feature_away + 2,
  feature_side_levels = feature_side_size + 2,
  feature_seconds = feature_side_levels + 2
};
static_assert(feature_seconds + 1 == snapshot_features);

DEVICE void level_features(const Mbp10Level& level, const Mbp10Level& before, bool first, int l, float* out) {
  out[feature_size_imbalance + l] = imbalance(has_bid(level) ? static_cast<float>(level.bid_size) : 0.0f,
                                              has_ask(level) ? static_cast<float>(level.ask_size) : 0.0f);
  const float flow = order_flow(before, level);
  out[feature_order_flow + l] = first ? 0.0f : flow;
}

DEVICE float away_feature(const SideSums& all, float tick) {
  return bounded(all.away, 10.0f * tick * (all.size > 0.0f ? all.size : 1.0f));
}
DEVICE float levels_feature(const SideSums& all) { return all.levels / book_levels; }

/// What the best prices and the last trade say: their places, and feature i of them. Each is made of one or two
/// differences of prices, whatever prices are there.
constexpr int price_features = 6;
DEVICE int price_feature(int i) { return i < 3 ? i : feature_trade_price + i - 3; }
DEVICE float price_value(const Mbp10RawInput& now, const Mbp10RawInput& before, int i, float tick) {
  static_assert(feature_spread == 0 && feature_microprice == 1 && feature_mid_move == 2 &&
                feature_bid_gap == feature_trade_price + 1 && feature_ask_gap == feature_bid_gap + 1);
  const Mbp10Level best = now.level[0], second = now.level[1], was = before.level[0];
  const bool mid = has_mid(best), bid = has_bid(best), ask = has_ask(best);
  // Spread and, of it, the microprice; what the mid moved; the trade over the mid; gaps to the second level. Twice the
  // mid is a whole number of price units, so that no tick is lost to rounding.
  const int64_t upper = i == 2 || i == 4 ? best.bid : i == 3 ? now.trade_price : i == 5 ? second.ask : best.ask;
  const int64_t lower = i == 2 ? was.bid : i == 4 ? second.bid : i == 5 ? best.ask : best.bid;
  const int64_t other_upper = i == 3 ? now.trade_price : best.ask, other_lower = i == 3 ? best.ask : was.ask;
  const int64_t first = less(upper, lower), both = plus(first, less(other_upper, other_lower));
  const float difference = static_cast<float>(i == 2 || i == 3 ? both : first);
  const float bid_size = static_cast<float>(best.bid_size), ask_size = static_cast<float>(best.ask_size);
  const float lean = i == 1 ? bid_size - ask_size : 1.0f, size = i == 1 ? bid_size + ask_size : 1.0f;
  const float value = bounded(difference * lean, (i >= 1 && i <= 3 ? 2.0f * tick : tick) * size);
  const bool moved = static_cast<int>(now.first == 0) & static_cast<int>(has_mid(was));
  const bool second_bid = static_cast<int>(bid) & static_cast<int>(has_bid(second));
  const bool second_ask = static_cast<int>(ask) & static_cast<int>(has_ask(second));
  const bool traded = now.trade_price != undefined_price;
  const bool more = i == 2 ? moved : i == 3 ? traded : true;
  const bool there = i == 4   ? second_bid
                     : i == 5 ? second_ask
                              : static_cast<bool>(static_cast<int>(mid) & static_cast<int>(more));
  return there ? value : 0.0f;
}

DEVICE float trade_imbalance(const Mbp10RawInput& now) {
  return imbalance(static_cast<float>(now.buy_volume), static_cast<float>(now.sell_volume));
}
DEVICE float traded(const Mbp10RawInput& now) {
  return static_cast<float>(now.buy_volume) + static_cast<float>(now.sell_volume);
}
/// What log_size() makes into the feature of the time since the snapshot before.
DEVICE float milliseconds(const Mbp10RawInput& now) { return 1000.0f * fminf(fmaxf(now.seconds, 0.0f), 1e6f); }

/// All features of one snapshot, by one thread.
DEVICE void snapshot_row(const Mbp10RawInput& now, const Mbp10RawInput& before, float tick, float* out) {
  SideSums bid, ask;
  float* imbalances = out + feature_imbalances;
  const Mbp10Level best = now.level[0];
  UNROLL_ALL for (int l = 0; l < book_levels; ++l) {
    const Mbp10Level level = now.level[l], was = before.level[l];  // copies: two wide loads each
    level_features(level, was, now.first != 0, l, out);
    bid.add(side_level(level, best, bid_side));
    ask.add(side_level(level, best, ask_side));
    if (l == 0) imbalances[3] = imbalance(bid.count, ask.count);
    if (l == 2) imbalances[0] = imbalance(bid.size, ask.size);
    if (l == 4) imbalances[1] = imbalance(bid.size, ask.size);
  }
  imbalances[2] = imbalance(bid.size, ask.size);
  imbalances[4] = imbalance(bid.count, ask.count);
  imbalances[5] = trade_imbalance(now);
  out[feature_away] = away_feature(bid, tick), out[feature_away + 1] = away_feature(ask, tick);
  out[feature_side_size] = log_size(bid.size), out[feature_side_size + 1] = log_size(ask.size);
  out[feature_side_levels] = levels_feature(bid), out[feature_side_levels + 1] = levels_feature(ask);
  UNROLL_ALL for (int i = 0; i < price_features; ++i) out[price_feature(i)] = price_value(now, before, i, tick);
  out[feature_trade_volume] = log_size(traded(now));
  out[feature_seconds] = log_size(milliseconds(now));
}

/// All features of one snapshot, by the threads of the block, in two steps with a barrier between and none after: the
/// lanes of a warp do the same to different numbers, and what takes another path has another warp.
DEVICE void snapshot_row_by_block(const Mbp10RawInput& now, const Mbp10RawInput& before, float tick, float* out) {
  constexpr int lanes = 32, sides = 2;
  SHARED_ARRAY(SideLevel, part, sides * book_levels);
  for (int item : thread_stride(4 * lanes)) {
    const int i = item % lanes, warp = item / lanes;
    if (warp == 0 && i < sides * book_levels)
      part[i] = side_level(now.level[i % book_levels], now.level[0], i / book_levels);
    if (warp == 1 && i < book_levels) level_features(now.level[i], before.level[i], now.first != 0, i, out);
    if (warp == 2 && i < price_features) out[price_feature(i)] = price_value(now, before, i, tick);
    if (warp == 3 && i < 2)
      out[i == 0 ? feature_trade_volume : feature_seconds] = log_size(i == 0 ? traded(now) : milliseconds(now));
    if (warp == 3 && i == 2) out[feature_imbalances + 5] = trade_imbalance(now);
  }
  __syncthreads();
  for (int item : thread_stride(3 * lanes)) {
    const int i = item % lanes, warp = item / lanes;
    if (warp == 0 && i < 5) {  // sizes of 3, 5 and 10 levels, orders of 1 and 10
      const int levels = i == 0 ? 3 : i == 1 ? 5 : i == 3 ? 1 : book_levels;
      float bid = 0.0f, ask = 0.0f;
      UNROLL_ALL for (int l = 0; l < book_levels; ++l) {
        const SideLevel &b = part[l], &a = part[book_levels + l];
        bid += l < levels ? (i < 3 ? b.size : b.count) : 0.0f;
        ask += l < levels ? (i < 3 ? a.size : a.count) : 0.0f;
      }
      out[feature_imbalances + i] = imbalance(bid, ask);
    }
    if (warp == 1 && i < sides) {
      SideSums sums;
      UNROLL_ALL for (int l = 0; l < book_levels; ++l) sums.add(part[i * book_levels + l]);
      out[feature_away + i] = away_feature(sums, tick);
      out[feature_side_levels + i] = levels_feature(sums);
    }
    if (warp == 2 && i < sides) {
      float size = 0.0f;
      UNROLL_ALL for (int l = 0; l < book_levels; ++l) size += part[i * book_levels + l].size;
      out[feature_side_size + i] = log_size(size);
    }
  }
}

}  // namespace foxhunt::cuda

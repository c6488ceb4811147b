// Forty bounded features of a ten-level book: what each is, core/alpha/snapshot_features.h says in the same order. A
// level that is not there is masked: it adds nothing, and what is left without a meaning is 0.
#include "cuda/device.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

constexpr int chunk = 64;                           // snapshots of a block
constexpr int stage_pitch = snapshot_features + 1;  // odd: threads that write a column meet in no bank

constexpr int quads = sizeof(Mbp10RawInput) / sizeof(float4);
/// A snapshot in shared memory, an odd number of 16-byte words long: threads that read the same word of neighbouring
/// snapshots meet in no bank.
union Staged {
  Mbp10RawInput book;
  float4 quad[quads + (quads + 1) % 2];
};

/// x / (1 + |x|): any number into (-1, 1), and most of the range for the first few units.
DEVICE float bounded(float x) { return x / (1.0f + fabsf(x)); }
/// (a - b) / (a + b) for numbers that are not negative; 0 where there is neither.
DEVICE float imbalance(float a, float b) { return a + b > 0.0f ? (a - b) / (a + b) : 0.0f; }

DEVICE bool has_bid(const Mbp10Level& l) { return l.bid != undefined_price && l.bid_size != 0; }
DEVICE bool has_ask(const Mbp10Level& l) { return l.ask != undefined_price && l.ask_size != 0; }

/// a - b in ticks. The difference wraps instead of overflowing: whatever a damaged file says, the result is finite.
DEVICE float ticks(int64_t a, int64_t b, float tick) {
  return static_cast<float>(static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b))) / tick;
}

/// What a level's change adds to one side (Cont, Kukanov & Stoikov 2014), contracts: `better` is the sign of a price
/// that moved towards the other side.
DEVICE float side_flow(int better, float size_before, float size_now) {
  return better > 0 ? size_now : better < 0 ? -size_before : size_now - size_before;
}
DEVICE int sign(int64_t a, int64_t b) { return a > b ? 1 : a < b ? -1 : 0; }

/// Order-flow imbalance of a level against the same level of the snapshot before, over all the sizes it knows of: a
/// side that is not there in both is left out.
DEVICE float order_flow(const Mbp10Level& before, const Mbp10Level& now) {
  float flow = 0.0f, sizes = 0.0f;
  if (has_bid(before) && has_bid(now)) {
    const float was = static_cast<float>(before.bid_size), is = static_cast<float>(now.bid_size);
    flow += side_flow(sign(now.bid, before.bid), was, is);
    sizes += was + is;
  }
  if (has_ask(before) && has_ask(now)) {
    const float was = static_cast<float>(before.ask_size), is = static_cast<float>(now.ask_size);
    flow -= side_flow(sign(before.ask, now.ask), was, is);
    sizes += was + is;
  }
  return sizes > 0.0f ? flow / sizes : 0.0f;
}

/// Sums over the first levels of a book.
struct Depth {
  float bid_size = 0.0f, ask_size = 0.0f, bid_count = 0.0f, ask_count = 0.0f;
  float bid_away = 0.0f, ask_away = 0.0f;  // sizes times ticks from the best price
  int bids = 0, asks = 0;
  DEVICE void add(const Mbp10Level& level, const Mbp10Level& best, float tick) {
    if (has_bid(level)) {
      const float size = static_cast<float>(level.bid_size);
      bid_size += size, bid_count += static_cast<float>(level.bid_count), ++bids;
      bid_away += size * (has_bid(best) ? ticks(best.bid, level.bid, tick) : 0.0f);
    }
    if (has_ask(level)) {
      const float size = static_cast<float>(level.ask_size);
      ask_size += size, ask_count += static_cast<float>(level.ask_count), ++asks;
      ask_away += size * (has_ask(best) ? ticks(level.ask, best.ask, tick) : 0.0f);
    }
  }
};

/// Whether a book has a mid: both sides, and not crossed.
DEVICE bool has_mid(const Mbp10Level& best) { return has_bid(best) && has_ask(best) && best.ask >= best.bid; }

DEVICE float mean_away(float away, float size) { return size > 0.0f ? bounded(away / size / 10.0f) : 0.0f; }
DEVICE float log_size(float size) { return bounded(log1pf(size) / 4.0f); }

DEVICE void assemble(const Mbp10RawInput& now, const Mbp10RawInput& before, float tick, float* out) {
  const Mbp10Level &best = now.level[0], &second = now.level[1];
  const bool mid = has_mid(best), moved = mid && !now.first && has_mid(before.level[0]);
  const float bid = static_cast<float>(best.bid_size), ask = static_cast<float>(best.ask_size);
  const float spread = mid ? ticks(best.ask, best.bid, tick) : 0.0f;
  int f = 0;
  out[f++] = bounded(spread);
  out[f++] = mid ? bounded(0.5f * spread * imbalance(bid, ask)) : 0.0f;  // microprice less mid, ticks
  // Twice the mid is a whole number of price units, so that no tick is lost to rounding.
  out[f++] =
      moved ? bounded(0.5f * (ticks(best.bid, before.level[0].bid, tick) + ticks(best.ask, before.level[0].ask, tick)))
            : 0.0f;
  Depth depth;
  float to3 = 0.0f, to5 = 0.0f, count1 = 0.0f;
  for (int l = 0; l < book_levels; ++l) {
    const Mbp10Level& level = now.level[l];
    out[f + l] = imbalance(has_bid(level) ? static_cast<float>(level.bid_size) : 0.0f,
                           has_ask(level) ? static_cast<float>(level.ask_size) : 0.0f);
    out[f + book_levels + l] = now.first ? 0.0f : order_flow(before.level[l], level);
    depth.add(level, best, tick);
    if (l == 0) count1 = imbalance(depth.bid_count, depth.ask_count);
    if (l == 2) to3 = imbalance(depth.bid_size, depth.ask_size);
    if (l == 4) to5 = imbalance(depth.bid_size, depth.ask_size);
  }
  f += 2 * book_levels;
  out[f++] = to3;
  out[f++] = to5;
  out[f++] = imbalance(depth.bid_size, depth.ask_size);
  out[f++] = count1;
  out[f++] = imbalance(depth.bid_count, depth.ask_count);
  const float bought = static_cast<float>(now.buy_volume), sold = static_cast<float>(now.sell_volume);
  out[f++] = imbalance(bought, sold);
  out[f++] = log_size(bought + sold);
  const bool traded = mid && now.trade_price != undefined_price;
  out[f++] =
      traded ? bounded(0.5f * (ticks(now.trade_price, best.bid, tick) + ticks(now.trade_price, best.ask, tick))) : 0.0f;
  out[f++] = has_bid(best) && has_bid(second) ? bounded(ticks(best.bid, second.bid, tick)) : 0.0f;
  out[f++] = has_ask(best) && has_ask(second) ? bounded(ticks(second.ask, best.ask, tick)) : 0.0f;
  out[f++] = mean_away(depth.bid_away, depth.bid_size);
  out[f++] = mean_away(depth.ask_away, depth.ask_size);
  out[f++] = log_size(depth.bid_size);
  out[f++] = log_size(depth.ask_size);
  out[f++] = static_cast<float>(depth.bids) / book_levels;
  out[f++] = static_cast<float>(depth.asks) / book_levels;
  out[f++] = bounded(log1pf(1000.0f * fminf(fmaxf(now.seconds, 0.0f), 1e6f)) / 4.0f);
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(chunk)
    snap_feature_assemble_kernel(const Mbp10RawInput* __restrict__ before, const Mbp10RawInput* __restrict__ input,
                                 float* __restrict__ features, int rows, int64_t tick) {
  SHARED_ARRAY(Staged, books, chunk + 1);  // the one before the chunk first
  SHARED_ARRAY(float, stage, chunk* stage_pitch);
  const float unit = static_cast<float>(tick);
  for (int item : block_per_item((rows + chunk - 1) / chunk)) {
    const int first = item * chunk, count = rows - first < chunk ? rows - first : chunk;
    const float4* from = reinterpret_cast<const float4*>(input + first);
    const float4* just_before = reinterpret_cast<const float4*>(first > 0 ? input + first - 1 : before);
    for (int i : thread_stride((count + 1) * quads))
      books[i / quads].quad[i % quads] = i < quads ? just_before[i] : from[i - quads];
    __syncthreads();
    for (int r : thread_stride(count)) assemble(books[r + 1].book, books[r].book, unit, stage + r * stage_pitch);
    __syncthreads();
    float* out = features + static_cast<int64_t>(first) * snapshot_features;
    for (int i : thread_stride(count * snapshot_features))
      out[i] = stage[i / snapshot_features * stage_pitch + i % snapshot_features];
    __syncthreads();
  }
}

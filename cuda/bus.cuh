#pragma once
// Words that the other side of the bus reads or writes at the same time, whole at every moment. What was written before
// store_release is there for who sees its word; the others order nothing.
#include "cuda/device.cuh"

namespace foxhunt::cuda {

#ifdef __CUDACC__
DEVICE uint64_t load_bus_word(const uint64_t* p) {
  uint64_t v;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p));
  return v;
}
DEVICE void store_bus_word(uint64_t* p, uint64_t v) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(p), "l"(v));
}
DEVICE void store_release(uint32_t* p, uint32_t v) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}
/// The compiler moves no load across it: what is written first is on its way first.
#define LOADS_SO_FAR_FIRST() asm volatile("" : : : "memory")
/// Of a clock that only goes forward.
DEVICE uint64_t nanoseconds_now() {
  uint64_t v;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v));
  return v;
}
/// Between two looks at a word: on the host the writer may need this core.
DEVICE void wait_a_moment() {}
#else
DEVICE uint64_t load_bus_word(const uint64_t* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
DEVICE void store_bus_word(uint64_t* p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
DEVICE void store_release(uint32_t* p, uint32_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
inline uint64_t nanoseconds_now() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}
#define LOADS_SO_FAR_FIRST()
inline void wait_a_moment() { std::this_thread::yield(); }
#endif

/// Words [first_count + second_count] from two places over the bus, shared out over the threads of a block as
/// OwnedItems does; both counts are even, both places 16-byte aligned. One such fetch a kernel, once.
///
/// Loads come back to a multiprocessor in order, so that all that a kernel loads behind one over the bus waits for it.
/// From compute capability 9.0 on, the copy engine fetches the words past all loads.
template <int first_count, int second_count, int threads>
class BusFetch {
 public:
  using Words = OwnedItems<first_count + second_count, threads>;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  DEVICE BusFetch(const uint64_t* first, const uint64_t* second) {
    if (threadIdx.x != 0) return;
    const uint32_t barrier = address(arrival()), to = address(words());
    constexpr uint32_t first_bytes = 8 * first_count, second_bytes = 8 * second_count;
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
        "fence.proxy.async.shared::cta;\n\t"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n\t"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%2], [%3], %4, [%0];\n\t"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%5], [%6], %7, [%0];"
        :
        : "r"(barrier), "r"(first_bytes + second_bytes), "r"(to), "l"(first), "r"(first_bytes), "r"(to + first_bytes),
          "l"(second), "r"(second_bytes)
        : "memory");
  }
  /// Waits for this thread's words. There has to be a barrier between the fetch and this.
  DEVICE void get(uint64_t (&value)[Words::count]) const {
    asm volatile(
        "{\n\t"
        ".reg .pred arrived;\n\t"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 arrived, [%0], 0;\n\t"
        "@!arrived bra again;\n\t"
        "}"
        :
        : "r"(address(arrival()))
        : "memory");
    UNROLL for (int k = 0; k < Words::count; ++k) if (Words::exists(Words::item(k))) value[k] = words()[Words::item(k)];
  }

 private:
  DEVICE static uint64_t* words() {
    SHARED_ARRAY(uint64_t, fetched, first_count + second_count);
    return fetched;
  }
  DEVICE static uint64_t* arrival() {
    SHARED_ARRAY(uint64_t, barrier, 1);
    return barrier;
  }
  DEVICE static uint32_t address(const void* shared) { return static_cast<uint32_t>(__cvta_generic_to_shared(shared)); }
#else
  DEVICE BusFetch(const uint64_t* first, const uint64_t* second) {
    UNROLL for (int k = 0; k < Words::count; ++k) {
      const int i = Words::item(k);
      if (Words::exists(i)) value_[k] = load_bus_word(i < first_count ? first + i : second + (i - first_count));
    }
  }
  DEVICE void get(uint64_t (&value)[Words::count]) const {
    UNROLL for (int k = 0; k < Words::count; ++k) value[k] = value_[k];
  }

 private:
  uint64_t value_[Words::count] = {};
#endif
};

}  // namespace foxhunt::cuda

#pragma once
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

namespace foxhunt::market {

/// A vector of plain values for columns of millions of rows. What std::vector cannot do: room that is added is not
/// filled with zeros, and a large column grows through realloc, which moves its pages and not its bytes. So reading
/// never holds a column twice, and room that is reserved but not used costs no memory.
template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  using value_type = T;

  Column() = default;
  Column(std::initializer_list<T> values) { append(values.begin(), values.size()); }
  Column(std::size_t size, T value) { std::fill_n(extend(size), size, value); }
  Column(const Column& other) { append(other.data_, other.size_); }
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column other) noexcept {
    swap(other);
    return *this;
  }
  ~Column() { std::free(data_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t row) { return data_[row]; }
  const T& operator[](std::size_t row) const { return data_[row]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }

  void push_back(T value) { *extend(1) = value; }

  /// `values` may lie at any address.
  void append(const void* values, std::size_t count) {
    if (count) std::memcpy(static_cast<void*>(extend(count)), values, count * sizeof(T));
  }

  /// Adds `count` values that are not set yet and returns the first.
  T* extend(std::size_t count) {
    if (count > capacity_ - size_) reallocate(std::max(size_ + count, capacity_ + capacity_ / 2));
    T* first = data_ + size_;
    size_ += count;
    return first;
  }

  /// Room for `capacity` values in all.
  void reserve(std::size_t capacity) {
    if (capacity > capacity_) reallocate(capacity);
  }
  /// Drops values from the end.
  void truncate(std::size_t size) { size_ = std::min(size_, size); }
  void shrink_to_fit() {
    if (size_ < capacity_) reallocate(size_);
  }

  friend bool operator==(const Column& a, const Column& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  void swap(Column& other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_), std::swap(capacity_, other.capacity_);
  }

  void reallocate(std::size_t capacity) {
    if (capacity > PTRDIFF_MAX / sizeof(T)) throw std::bad_alloc();
    void* moved = std::realloc(static_cast<void*>(data_), std::max<std::size_t>(capacity, 1) * sizeof(T));
    if (!moved) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
    prefer_huge_pages(moved, capacity * sizeof(T));
  }

  /// Filling a large column is mostly the kernel handing out pages; in pieces of 2 MiB that is much less work. From
  /// this size on a column is a mapping of its own; all of it is asked for, as realloc could not grow one of two kinds.
  static void prefer_huge_pages(void* first, std::size_t size) {
    constexpr std::size_t page = 4096, own_mapping = std::size_t{64} << 20;
    if (size < own_mapping) return;
    const auto at = reinterpret_cast<std::uintptr_t>(first), start = at / page * page;
    madvise(reinterpret_cast<void*>(start), at + malloc_usable_size(first) - start, MADV_HUGEPAGE);  // or not
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace foxhunt::market

#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace foxhunt {

/// XXH64 of `bytes` (github.com/Cyan4973/xxHash, doc/xxhash_spec.md): finds bit-rot at memory speed. No protection
/// against intent. To cover several pieces, pass the sum of one as the seed of the next.
std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of `bytes`: what TFRecord files are framed with.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

}  // namespace foxhunt

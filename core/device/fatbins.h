#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace foxhunt {

/// Kernels of one cuda/*.cu file, compiled for every listed architecture and embedded as bytes (cmake/Fatbins.cmake).
struct Fatbin {
  const char* name;
  const unsigned char* data;
};
const std::vector<Fatbin>& embedded_fatbins();

/// e.g. "86, 90".
std::string fatbin_architectures();

}  // namespace foxhunt

// fuzz_seeds TARGET FOLDER: writes the seeds of a fuzz target into a folder, a file each.
#include <cstdio>
#include <exception>
#include <fstream>

#include "tests/fuzz/target.h"

int main(int argc, char** argv) try {
  if (argc != 3) throw std::invalid_argument("usage: fuzz_seeds TARGET FOLDER");
  std::size_t number = 0;
  for (const std::string& seed : foxhunt::fuzz::seeds(argv[1])) {
    const std::string file = std::string(argv[2]) + "/seed-" + std::to_string(number++);
    if (!(std::ofstream(file, std::ios::binary) << seed)) throw std::runtime_error("cannot write " + file);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fuzz_seeds: %s\n", error.what());
  return 1;
}

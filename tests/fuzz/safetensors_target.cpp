// Checkpoints: the input is the file.
#include "core/run/safetensors.h"
#include "core/run/safetensors_header.h"
#include "tests/fuzz/target.h"

namespace foxhunt::fuzz {

void fuzz_safetensors(std::string_view input) {
  const MemoryFile path(input);
  attempt({input.size()}, [&] {
    const auto file = run::SafetensorsFile::load(path.path());
    for (const std::string& name : file.names()) {
      const run::TensorView& tensor = file.tensor(name);
      require(tensor.data.size() == run::tensor_bytes(tensor.dtype, tensor.shape), "data does not fill the shape");
      std::vector<std::byte> copy(tensor.data.begin(), tensor.data.end());
      require(copy.size() <= input.size(), "a tensor larger than its file");
    }
  });
}

}  // namespace foxhunt::fuzz

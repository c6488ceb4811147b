# foxhunt_fatbins(TARGET sources...): compiles each .cu once per architecture into a fatbin and embeds it as bytes.
function(foxhunt_fatbins target)
  set(gencode "")
  list(GET FOXHUNT_CUDA_ARCHITECTURES -1 newest)
  foreach(arch ${FOXHUNT_CUDA_ARCHITECTURES})
    list(APPEND gencode -gencode arch=compute_${arch},code=sm_${arch})
  endforeach()
  # PTX of the newest architecture lets the driver compile for cards that come later.
  list(APPEND gencode -gencode arch=compute_${newest},code=compute_${newest})
  set(defines "")
  if(NOT FOXHUNT_GUARDS)
    set(defines -DFOXHUNT_GUARDS_OFF)
  endif()
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/*.cuh)
  set(entries "")
  set(embeds "")
  set(fatbins "")
  foreach(source ${ARGN})
    cmake_path(GET source STEM name)
    set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
    add_custom_command(
      OUTPUT ${fatbin}
      COMMAND ${FOXHUNT_NVCC} -fatbin -std=c++20 -O3 -lineinfo ${defines} -I${PROJECT_SOURCE_DIR} ${gencode} -o ${fatbin} ${source}
      DEPENDS ${source} ${headers} ${PROJECT_SOURCE_DIR}/core/kernels.h ${PROJECT_SOURCE_DIR}/core/alpha_kernels.h
        ${PROJECT_SOURCE_DIR}/core/isv_slots.h
      COMMENT "nvcc ${name}.cu" VERBATIM)
    list(APPEND fatbins ${fatbin})
    string(APPEND embeds "asm(\".section .rodata\\n.balign 64\\nfoxhunt_fatbin_${name}:\\n.incbin \\\"${fatbin}\\\"\\n.previous\\n\");\n"
                         "extern \"C\" __attribute__((visibility(\"hidden\"))) const unsigned char foxhunt_fatbin_${name}[];\n")
    string(APPEND entries "{\"${name}\", foxhunt_fatbin_${name}}, ")
  endforeach()
  string(REPLACE ";" ", " architectures "${FOXHUNT_CUDA_ARCHITECTURES}")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/fatbins.cpp @ONLY CONTENT [[
#include "core/device/fatbins.h"
@embeds@
const std::vector<foxhunt::Fatbin>& foxhunt::embedded_fatbins() {
  static const std::vector<Fatbin> all = {@entries@};
  return all;
}
std::string foxhunt::fatbin_architectures() { return "@architectures@"; }
]])
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/fatbins.cpp PROPERTIES OBJECT_DEPENDS "${fatbins}")
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/fatbins.cpp ${fatbins})
endfunction()

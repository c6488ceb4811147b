# Flags for this project's own targets. A target takes them by linking foxhunt_flags.
add_library(foxhunt_flags INTERFACE)
target_include_directories(foxhunt_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(foxhunt_flags INTERFACE -Wall -Wextra -Wshadow -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual)
if(FOXHUNT_WERROR)
  target_compile_options(foxhunt_flags INTERFACE -Werror)
endif()
# GCC's ISO mode contracts no a*b+c; nvcc does. One source, one arithmetic.
target_compile_options(foxhunt_flags INTERFACE -ffp-contract=fast)
if(FOXHUNT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "FOXHUNT_FUZZ=ON needs clang++, for libFuzzer is a part of clang (the compiler here is "
                        "${CMAKE_CXX_COMPILER_ID}); use scripts/fuzz, or cmake --preset fuzz in an empty build folder")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)  # what a target is built of counts as covered code, too
endif()
if(FOXHUNT_SANITIZE)
  add_compile_options(-fsanitize=${FOXHUNT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FOXHUNT_SANITIZE})
  target_compile_definitions(foxhunt_flags INTERFACE FOXHUNT_SANITIZED)
else()
  # The C++ runtime travels in the binary; glibc is the only thing asked of the machine.
  add_link_options(-static-libgcc -static-libstdc++)
endif()

# foxhunt_library(NAME sources... LINK targets...): one static library per folder of core/, so that a link line
# says who may use whom.
function(foxhunt_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC foxhunt_flags ${arg_LINK})
endfunction()

#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace foxhunt::app {

/// One line for a command line that did not parse: the unknown option or command with the nearest known one, else what
/// the parser says.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace foxhunt::app

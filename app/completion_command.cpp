// Scripts that complete the command line in bash and zsh. What there is to complete comes from the commands themselves;
// names of profiles and keys are asked of the program when Tab is pressed.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.h"

namespace foxhunt::app {
namespace {

/// A command by its words after the program's name ("", "profiles", "profiles show"), and what can follow.
struct Completed {
  std::string words;
  std::vector<std::string> commands, options, valued, positionals;
};

void collect(const CLI::App& app, const std::string& words, std::vector<Completed>& all) {
  Completed here{.words = words, .commands = {}, .options = {}, .valued = {}, .positionals = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) here.positionals.push_back(option->get_name());
    for (const std::string& name : option->get_lnames()) {
      here.options.push_back("--" + name);
      if (option->get_items_expected_max() > 0) here.valued.push_back("--" + name);
    }
  }
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands) here.commands.push_back(command->get_name());
  all.push_back(here);
  for (const CLI::App* command : commands)
    collect(*command, words.empty() ? command->get_name() : words + " " + command->get_name(), all);
}

/// What stands where a command takes words of its own.
std::string kind_of_positionals(const Completed& command) {
  if (command.positionals.empty()) return "none";
  if (command.words.starts_with("runs ")) return "run";
  if (command.words == "profiles reference") return "key";
  return command.words.starts_with("profiles ") ? "profile" : "file";
}

/// A quoted pattern for each command, for `case`.
std::string patterns(const std::vector<Completed>& all) {
  std::string text;
  for (const Completed& command : all)
    if (!command.words.empty()) text += fmt::format("{}'{}'", text.empty() ? "" : " | ", command.words);
  return text;
}

/// One `case` branch a command: its commands, options, options with a value, kind of its own words.
std::string branches(const std::vector<Completed>& all) {
  std::string text;
  for (const Completed& command : all)
    text +=
        fmt::format("    '{}')\n      commands='{}'\n      options='{}'\n      valued='{}'\n      kind={}\n      ;;\n",
                    command.words, fmt::join(command.commands, " "), fmt::join(command.options, " "),
                    fmt::join(command.valued, " "), kind_of_positionals(command));
  return text;
}

// Both scripts in the same steps: which command is being typed, what kind of word comes next, what it can be.

constexpr const char* bash_script =
    R"sh(# Completes foxhunt-train in bash: source this file. Written by `foxhunt-train completion bash`.
_foxhunt_train() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local chosen='' next commands options valued kind i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    next="${chosen:+$chosen }${COMP_WORDS[i]}"
    case $next in
    @PATTERNS@) chosen=$next ;;
    esac
  done
  case $chosen in
@BRANCHES@  esac

  case " $valued " in
  *" $previous "*) kind=${previous#--} ;;
  *) if [[ $word == -* || $kind == none ]]; then kind=own; fi ;;
  esac
  local words='' program=${COMP_WORDS[0]}
  case $kind in
  own) words="$commands $options" ;;
  profile) words=$("$program" profiles list --names 2>/dev/null) ;;
  key) words=$("$program" profiles reference --names 2>/dev/null) ;;
  set) words=$("$program" profiles reference --names 2>/dev/null | sed 's/$/=/') ;;
  device) words='auto host cuda:0' ;;
  run | repeat | resume) words=$(for i in runs/*/profile.toml; do [[ -f $i ]] && basename "${i%/profile.toml}"; done) ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  case $kind in
  own | key | device) ;;
  set) compopt -o nospace 2>/dev/null ;;
  *) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}
complete -o filenames -F _foxhunt_train foxhunt-train
)sh";

constexpr const char* zsh_script = R"sh(#compdef foxhunt-train
# Completes foxhunt-train in zsh: put this file into a folder of $fpath. Written by `foxhunt-train completion zsh`.
_foxhunt_train() {
  local word=${words[CURRENT]} previous=${words[CURRENT-1]}
  local chosen='' next commands options valued kind i
  for ((i = 2; i < CURRENT; ++i)); do
    next="${chosen:+$chosen }${words[i]}"
    case $next in
    @PATTERNS@) chosen=$next ;;
    esac
  done
  case $chosen in
@BRANCHES@  esac

  case " $valued " in
  *" $previous "*) kind=${previous#--} ;;
  *) if [[ $word == -* || $kind == none ]]; then kind=own; fi ;;
  esac
  local program=${words[1]}
  case $kind in
  own) compadd -- ${=commands} ${=options} ;;
  profile) compadd -- $("$program" profiles list --names 2>/dev/null) ;;
  key) compadd -- $("$program" profiles reference --names 2>/dev/null) ;;
  set) compadd -S = -- $("$program" profiles reference --names 2>/dev/null) ;;
  device) compadd -- auto host cuda:0 ;;
  run | repeat | resume) compadd -- runs/*/profile.toml(N:h:t) ;;
  esac
  case $kind in
  own | key | device | set) ;;
  *) _files ;;
  esac
}
_foxhunt_train "$@"
)sh";

std::string script(const CLI::App& app, std::string text) {
  std::vector<Completed> all;
  collect(app, "", all);
  const auto put = [&](const std::string& mark, const std::string& what) {
    text.replace(text.find(mark), mark.size(), what);
  };
  put("@PATTERNS@", patterns(all));
  put("@BRANCHES@", branches(all));
  return text;
}

}  // namespace

void add_completion_command(CLI::App& app, ExitCode& result) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print the script that completes commands in a shell");
  command->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([&app, &result, shell] {
    std::cout << script(app, *shell == "bash" ? bash_script : zsh_script);
    result = ExitCode::ok;
  });
}

}  // namespace foxhunt::app

"""The TOML file of a search: which profile keys are tried, within which ranges, and what is looked for."""
import json
import math
import os
import tomllib
from dataclasses import dataclass, field

RANGE, CHOICE = {"low", "high", "log", "step"}, {"choices"}


class SpaceError(Exception):
    """A search file that makes no sense: file, key and what was expected, on one line."""


def toml_text(value):
    """A value as TOML, for --set."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return "[" + ", ".join(toml_text(item) for item in value) + "]"
    return repr(value)


@dataclass
class Dimension:
    """One key of the profile: a range of numbers, or a choice of TOML values."""

    key: str
    low: float = 0
    high: float = 0
    log: bool = False
    step: float | None = None
    choices: list = field(default_factory=list)

    def suggest(self, trial):
        """The value that a trial takes, as TOML text."""
        if self.choices:
            return trial.suggest_categorical(self.key, [toml_text(choice) for choice in self.choices])
        if isinstance(self.low, int):
            return toml_text(trial.suggest_int(self.key, self.low, self.high, step=self.step or 1, log=self.log))
        return toml_text(trial.suggest_float(self.key, self.low, self.high, step=self.step, log=self.log))

    def text_of(self, value):
        """A stored parameter as TOML text."""
        return value if self.choices else toml_text(value)

    def first(self):
        """Any one value, to check the key with."""
        return toml_text(self.choices[0] if self.choices else self.low)


@dataclass
class Space:
    name: str
    profile: str
    objective: str
    maximize: bool
    fixed: list  # key=TOML text
    dimensions: list

    def metric(self):
        """Name of the objective in the lines of validation.jsonl; None where they do not tell."""
        section, _, leaf = self.objective.partition(".")
        return "metric" if self.objective == "best_metric" else leaf if section == "validation" else None


def load(path):
    try:
        with open(path, "rb") as file:
            text = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise SpaceError(f"{path}: {error}") from error
    unknown = text.keys() - {"name", "profile", "objective", "direction", "set", "space"}
    if unknown:
        raise SpaceError(f"{path}: unknown key {sorted(unknown)[0]}; known: name, profile, objective, direction, set, space")
    if not isinstance(text.get("profile"), str) or not isinstance(text.get("space"), dict) or not text["space"]:
        raise SpaceError(f"{path}: expected profile = \"NAME\" and a table [space] of keys to try")
    objective, direction = text.get("objective", "validation.net_pnl"), text.get("direction", "maximize")
    if objective != "best_metric" and not str(objective).startswith("validation."):
        raise SpaceError(
            f"{path}: objective = {objective!r}: expected \"best_metric\" or \"validation.METRIC\" of summary.json; "
            "what is chosen on the test split is no test of it any more"
        )
    if direction not in ("maximize", "minimize"):
        raise SpaceError(f"{path}: direction = {direction!r}: expected \"maximize\" or \"minimize\"")
    return Space(
        text.get("name", os.path.splitext(os.path.basename(path))[0]),
        text["profile"],
        objective,
        direction == "maximize",
        [f"{key}={toml_text(value)}" for key, value in flat(text.get("set", {}), lambda value: False)],
        [dimension(path, key, value) for key, value in flat(text["space"], is_dimension)],
    )


def flat(table, is_leaf, prefix=""):
    """(dotted key, value) of nested tables: optimizer.learning_rate may be written with quotes or without."""
    for name, value in table.items():
        if isinstance(value, dict) and not is_leaf(value):
            yield from flat(value, is_leaf, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def is_dimension(table):
    return bool(table.keys() & (RANGE | CHOICE))


def dimension(path, key, table):
    where = f"{path}: space.{key}"
    if not isinstance(table, dict) or not (table.keys() <= RANGE or table.keys() == CHOICE):
        raise SpaceError(f"{where}: expected {{ low, high, log, step }} or {{ choices = [...] }}")
    if table.keys() == CHOICE:
        if not isinstance(table["choices"], list) or not table["choices"]:
            raise SpaceError(f"{where}: choices: expected a list of values")
        return Dimension(key, choices=table["choices"])
    bounds = [table.get("low"), table.get("high")]
    if not all(type(bound) in (int, float) and math.isfinite(bound) for bound in bounds) or bounds[0] > bounds[1]:
        raise SpaceError(f"{where}: expected numbers low and high, low not above high")
    if not all(type(bound) is int for bound in bounds):
        bounds = [float(bound) for bound in bounds]
    log, step = table.get("log", False), table.get("step")
    if not isinstance(log, bool) or (log and bounds[0] <= 0):
        raise SpaceError(f"{where}: log: expected true or false, and low above 0 with true")
    whole = type(bounds[0]) is int
    if step is not None and (log or type(step) not in ((int,) if whole else (int, float)) or step <= 0):
        raise SpaceError(f"{where}: step: expected a number above 0, whole where low and high are, and no log")
    return Dimension(key, bounds[0], bounds[1], log, step)

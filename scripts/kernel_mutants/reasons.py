"""tests/mutants/survivors.toml: why a mutant that no test notices may live.

One [[reason]] for each cause: `because`, and `mutants`, each as report.md prints it, which names file, function, kind and
text, not a line: an edit elsewhere leaves it true."""

import tomllib

PATH = "tests/mutants/survivors.toml"


class ReasonsError(Exception):
    pass


def load(path):
    """{title: reason}"""
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise ReasonsError(f"{PATH}: {error}") from error
    reasons = {}
    for entry in table.get("reason", []):
        if set(entry) != {"because", "mutants"}:
            raise ReasonsError(f"{PATH}: a [[reason]] has `because` and `mutants`, not {', '.join(sorted(entry))}")
        for name in entry["mutants"]:
            if name in reasons:
                raise ReasonsError(f"{PATH}: listed twice: {name}")
            reasons[name] = entry["because"]
    return reasons

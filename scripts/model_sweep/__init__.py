"""What scripts/sweep is made of.

space    the TOML file of a search: keys, ranges, objective
process  one foxhunt-train process, watched while it runs
study    trials of an Optuna study
seeds    one profile under several seeds: mean and interval
"""

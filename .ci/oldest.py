"""Print the oldest version of each library that pyproject.toml allows, as requirements."""

import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
allowed = [*project["dependencies"], *project["optional-dependencies"]["test"]]
print(*(requirement.replace(">=", "==") for requirement in allowed), sep="\n")

"""What a release says of itself in several places is the same in all."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import promoarray as pa

ROOT = Path(__file__).resolve().parents[1]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_told_alike() -> None:
    assert f"version: {pa.__version__}\n" in read("CITATION.cff")
    assert f'version: "{pa.__version__}"\n' in read("recipe/recipe.yaml")
    assert f"## [{pa.__version__}]" in read("CHANGELOG.md")


def test_the_recipe_needs_what_the_package_needs() -> None:
    settings = tomllib.loads(read("pyproject.toml"))
    recipe = read("recipe/recipe.yaml")
    run = recipe[recipe.index("  run:") : recipe.index("tests:")]
    needed = {line.replace(" ", "") for line in re.findall(r"- (.*)", run)} - {"python"}
    assert needed == {*settings["project"]["dependencies"]}
    host = recipe[recipe.index("  host:") : recipe.index("  run:")]
    for line in settings["build-system"]["requires"]:
        assert re.sub("(>=)", r" \1", line) in host


def test_licences_of_what_is_compiled_in_are_told() -> None:
    licence = tomllib.loads(read("pyproject.toml"))["project"]["license"]
    assert f"  license: {licence}\n" in read("recipe/recipe.yaml")
    for name in licence.split(" AND ")[1:]:
        assert f"({name})" in read("THIRD_PARTY_NOTICES.txt")

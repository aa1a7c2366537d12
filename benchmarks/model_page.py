"""Put the committed tables of models into docs/models.md: ``python benchmarks/model_page.py``."""

import csv
import os
import re
from pathlib import Path

from common import RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "models.md"
PARTS = ("model", "model-recovery", "model-imputation", "gaussian")


def markdown(name: str) -> str:
    """Return a table of results as Markdown; seconds of peers stay in the CSV of imputation."""
    with open(RESULTS / f"{name}.csv") as file:
        rows = list(csv.DictReader(file))
    keys = [key for key in rows[0] if not (name == "model-imputation" and key.endswith(" s"))]
    lines = [keys, ["---"] * len(keys), *([row[key] for key in keys] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    text = PAGE.read_text()
    for name in PARTS:
        if (RESULTS / f"{name}.csv").exists():
            block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
            text = block.sub(lambda found, name=name: f"{found[1]}\n{markdown(name)}\n\n{found[2]}", text)
    temporary = PAGE.with_suffix(".tmp")
    temporary.write_text(text)
    os.replace(temporary, PAGE)


if __name__ == "__main__":
    main()

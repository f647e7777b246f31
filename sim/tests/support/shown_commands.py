"""The commands that a page shows in its blocks ```console, and whether what is shown below them is what they print."""

import re

BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*<<'(\w+)'\n(?:.*\n)*?\2|.*)\n", re.M)  # a here-document is part of its command


def shown(text: str) -> list[tuple[str, list[str]]]:
    """Each command of a page, in order, with the lines that are shown below it."""
    found = []
    for block in BLOCK.findall(text):
        commands = list(COMMAND.finditer(block))
        assert commands and commands[0].start() == 0, block
        ends = [command.start() for command in commands[1:]] + [len(block)]
        found += [(each[1], block[each.end() : end].splitlines()) for each, end in zip(commands, ends, strict=False)]
    return found


def follows(lines: list[str], printed: list[str]) -> str | None:
    """The first shown line that is not in what was printed, in their order; `...` stands for any lines, or within a line for any text."""
    at, gap = 0, True
    for line in lines:
        if line.strip() == "...":
            gap = True
            continue
        form = re.compile(re.escape(line.rstrip()).replace(r"\.\.\.", ".*"))
        places = range(at, len(printed)) if gap else range(at, at + 1)
        at = next((i + 1 for i in places if i < len(printed) and form.fullmatch(printed[i].rstrip())), None)
        if at is None:
            return line
        gap = False
    return None

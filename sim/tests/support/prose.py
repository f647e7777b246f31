"""A page's prose: its text without code, and its sentences."""

import re


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def sentences(text):
    """Sentences of paragraphs and list items, without code, tables, images and targets of links."""
    text = re.sub(r"^\|.*$|^#+ .*$|^!\[.*$", "", prose(text), flags=re.M)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    for part in re.split(r"\n\s*\n|^\* ", text, flags=re.M):
        yield from (words for each in re.split(r"(?<=[.:])\s", " ".join(part.split())) if (words := each.split()))

"""Scala sources as the compiler's scanner tells them apart: without comments, with blank space reduced to what can matter.

Keys of elaborations are made of this text, so a comment elaborates nothing again. Between two tokens the scanner of Scala 2.13 knows
a line end and a blank line (tokens NEWLINE and NEWLINES; a comment's own line ends count); whether there is space at all is kept too.
Text inside literals stays, but for the code in `${}` of an interpolated string. What does not scan, or holds XML, is left as it is.
"""

import re
from functools import lru_cache

# What needs a closer look: blank space but a single space, comments, literals, braces, and what the scanner takes for XML.
STOP = re.compile(r"""(?! [^\x00-\x20/])[\x00-\x20]|//|/\*|["'`{}]|(?<=[ \t\n{(>])<(?=[^\W\d]|[!?])""")
SPACE = re.compile(r"(?:[\x00-\x20]+|//[^\n]*)*")
BLANK_LINE = re.compile(r"[\n\f][\x00-\x20]*?[\n\f]")
CHARACTER = re.compile(r"'(?:\\u+[0-9a-fA-F]{4}|\\.|[^\\\n])'")
PLAIN_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
TRIPLE_STRING = re.compile(r'"""(?:.|\n)*?"""+')
BACKQUOTED = re.compile(r"`[^`\n]+`")
COMMENT_EDGE = re.compile(r"/\*|\*/")
INTERPOLATOR = re.compile(r"(?:^|[^\w$])([^\W\d][\w$]*|\$[\w$]*)(?:(?<=_)[!#%&*+\-/:<=>?@\\^|~]+)?$")
KEYWORDS = set(
    "abstract case catch class def do else extends false final finally for forSome if implicit import lazy match new null object "
    "override package private protected return sealed super this throw trait try true type val var while with yield".split()
)


class Unknown(Exception):
    """Text that this scanner does not know."""


class Scanner:
    def __init__(self, text: str):
        self.text, self.at = text.replace("\r\n", "\n"), 0

    def take(self, pattern: re.Pattern) -> str:
        """What fits the pattern here."""
        found = pattern.match(self.text, self.at)
        if not found:
            raise Unknown(f"no {pattern.pattern} at {self.at}")
        self.at = found.end()
        return found[0]

    def comment(self):
        """Skips a comment in stars; comments nest."""
        depth = 0
        while True:
            edge = COMMENT_EDGE.search(self.text, self.at)
            if not edge:
                raise Unknown("a comment without an end")
            self.at = edge.end()
            depth += 1 if edge[0] == "/*" else -1
            if not depth:
                return

    def behind_space(self, at: int) -> int:
        found = SPACE.match(self.text, at)
        return found.end() if found else at

    def gap(self) -> str:
        """Skips blank space and comments; returns what they are to the scanner."""
        begin = self.at
        self.at = self.behind_space(begin)
        while self.text.startswith("/*", self.at):
            self.comment()
            self.at = self.behind_space(self.at)
        skipped = self.text[begin : self.at]
        if BLANK_LINE.search(skipped):
            return "\n\n"
        return "\n" if "\n" in skipped or "\f" in skipped else " "

    def interpolated(self) -> bool:
        """Whether the quote here belongs to an identifier before it."""
        found = INTERPOLATOR.search(self.text, max(0, self.at - 200), self.at)
        return found is not None and found[1] not in KEYWORDS

    def interpolation(self) -> str:
        """An interpolated string, with the code in it stripped."""
        quotes = '"""' if self.text.startswith('"""', self.at) else '"'
        self.at += len(quotes)
        out, begin = [quotes], self.at

        def flush():
            out.append(self.text[begin : self.at])

        while self.at < len(self.text):
            rest = self.text[self.at : self.at + 3]
            if rest.startswith(quotes):
                rest = self.text[self.at :]
                self.at += len(rest) - len(rest.lstrip('"')) if quotes == '"""' else 1
                flush()
                return "".join(out)
            if rest.startswith("${"):
                self.at += 2
                flush()
                out.append(self.code(inside=True))
                begin = self.at
            elif rest[:2] in ("$$", '$"') or (quotes == '"' and rest[:2] in ('\\"', "\\\\")):
                self.at += 2
            elif rest[0] == "\n" and quotes == '"':
                break
            else:
                self.at += 1
        raise Unknown("an interpolated string without an end")

    def quoted(self) -> str:
        if self.interpolated():
            return self.interpolation()
        return self.take(TRIPLE_STRING if self.text.startswith('"""', self.at) else PLAIN_STRING)

    def code(self, inside: bool = False) -> str:
        """Code to the end of the text, or, `inside` a string, to the brace that closes it."""
        out, depth = [], int(inside)
        while True:
            stop = STOP.search(self.text, self.at)
            end = stop.start() if stop else len(self.text)
            out.append(self.text[self.at : end])
            self.at = end
            if not stop:
                if inside:
                    raise Unknown("code in a string without an end")
                return "".join(out)
            if stop[0] <= " " or stop[0] in ("//", "/*"):
                out.append(self.gap())
            elif stop[0] == '"':
                out.append(self.quoted())
            elif stop[0] == "'":
                literal = CHARACTER.match(self.text, self.at)
                out.append(literal[0] if literal else "'")
                self.at = literal.end() if literal else self.at + 1
            elif stop[0] == "`":
                out.append(self.take(BACKQUOTED))
            elif stop[0] == "<":
                raise Unknown("XML")
            else:
                out.append(stop[0])
                self.at += 1
                depth += 1 if stop[0] == "{" else -1
                if inside and not depth:
                    return "".join(out)


@lru_cache(maxsize=1024)
def stripped(text: str) -> str:
    """The text without comments; a text that is not understood, as it is."""
    try:
        return Scanner(text).code().strip("\x00\t\n\f\r ")
    except Unknown:
        return text

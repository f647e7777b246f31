"""Reads settings out of a Tcl script without running it: as much of Tcl as a Corundum board's `config.tcl` works with.

Understood are `set`, `dict set`, `dict get`, `expr`, `format`, `if` and `source`. What any other command returns is
`UNKNOWN`, and so is all that is made of it; a branch that hangs on it is gone through with every setting in it unknown.
Needs Python alone.
"""

import ast
import math
import operator
from pathlib import Path

UNKNOWN = object()


def small(operation):
    """Powers and shifts by what numbers of a configuration need; others are a fault of its arithmetic."""

    def made(left, right):
        if abs(right) > 1024:
            raise OverflowError
        return operation(left, right)

    return made


OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: small(operator.pow),
    ast.Mod: operator.mod,
    ast.LShift: small(operator.lshift),
    ast.RShift: small(operator.rshift),
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
FUNCTIONS = {"max": max, "min": min, "int": int, "ceil": math.ceil, "floor": math.floor, "log": math.log, "abs": abs}


class Unreadable(Exception):
    """The text is no Tcl script; the sentence says where."""


class Word:
    """A word of a command: `text` as it stands inside its braces or quotes; if `braced`, nothing in it is replaced."""

    def __init__(self, text: str, braced: bool):
        self.text, self.braced = text, braced


def closing(text: str, at: int, last: str, first: str = "") -> int:
    """The place of the `last` that closes what begins at `at`; `first` opens another, a backslash hides what follows."""
    depth, place = 1, at
    while place < len(text):
        char = text[place]
        if char == "\\":
            place += 1
        elif char == last:
            depth -= 1
            if not depth:
                return place
        elif char == first:
            depth += 1
        elif char == "[" and last == '"':
            place = closing(text, place + 1, "]", "[")
        place += 1
    line = text.count("\n", 0, at) + 1
    raise Unreadable(f"line {line}: {text[at - 1]} is not closed")


def commands(text: str):
    """The commands of a script, each a list of words."""
    at = 0
    words: list = []
    while at < len(text):
        char = text[at]
        if char in "\n;":
            if words:
                yield words
            words, at = [], at + 1
        elif text.startswith("\\\n", at):
            at += 2
        elif char.isspace():
            at += 1
        elif char == "#" and not words:
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif char in '{"':
            end = closing(text, at + 1, "}" if char == "{" else '"', "{" if char == "{" else "")
            words.append(Word(text[at + 1 : end], char == "{"))
            at = end + 1
        else:
            begin = at
            while at < len(text) and text[at] not in " \t\n;":
                if text[at] in "[{":
                    at = closing(text, at + 1, "]" if text[at] == "[" else "}", text[at])
                at += 2 if text[at] == "\\" else 1
            words.append(Word(text[begin:at], False))
    if words:
        yield words


def number(text: str):
    """A number in Tcl's forms, else None."""
    for make in (lambda: int(text, 0), lambda: int(text), lambda: float(text)):
        try:
            return make()
        except ValueError:
            pass
    return None


def arithmetic(text: str):
    """The value of an expression in numbers, else UNKNOWN."""
    head, mark, rest = text.partition("?")
    if mark:
        chosen, otherwise = rest.split(":", 1) if ":" in rest else (rest, "")
        condition = arithmetic(head)
        return UNKNOWN if condition is UNKNOWN else arithmetic(chosen if condition else otherwise)

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.BoolOp):
            each = [bool(value(part)) for part in node.values]
            return int(all(each) if isinstance(node.op, ast.And) else any(each))
        if isinstance(node, ast.UnaryOp):
            return OPERATORS[type(node.op)](value(node.operand))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            over, under = value(node.left), value(node.right)
            return over // under if isinstance(over, int) and isinstance(under, int) else over / under
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return int(OPERATORS[type(node.ops[0])](value(node.left), value(node.comparators[0])))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return FUNCTIONS[node.func.id](*map(value, node.args))
        raise KeyError

    text = text.replace("&&", " and ").replace("||", " or ").replace("!=", "≠").replace("!", " not ").replace("≠", "!=")
    try:
        return value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, KeyError, TypeError, ValueError, ArithmeticError):
        return UNKNOWN


class Script:
    """A script gone through. `params`: the dictionary of that name at the end; `seen`: (command, `params` as they were
    then), in order, for the commands named in `watched`."""

    def __init__(self, path: Path, watched: tuple = ()):
        self.variables: dict = {}
        self.params: dict = {}
        self.seen: list = []
        self.watched = watched
        self.run(path.read_text(errors="replace"), path.parent, True, 0)

    def run(self, text: str, folder: Path, sure: bool, depth: int):
        result = ""
        for words in commands(text):
            result = self.command(words, folder, sure, depth)
        return result

    def command(self, words: list, folder: Path, sure: bool, depth: int):
        name, count = words[0].text, len(words)
        plain = " ".join(word.text for word in words[:3])
        if any(plain.startswith(each) for each in self.watched):
            self.seen.append((" ".join(word.text for word in words[:5]), dict(self.params)))
        if name == "set" and count == 3:
            self.variables[words[1].text] = self.value(words[2], folder) if sure else UNKNOWN
            return self.variables[words[1].text]
        if plain.startswith("dict set params") and count == 5:
            self.params[words[3].text] = self.value(words[4], folder) if sure else UNKNOWN
            return UNKNOWN
        if plain == "dict get $params" and count == 4:
            return self.params.get(words[3].text, UNKNOWN)
        if name == "expr":
            pieces = [self.replaced(word.text, folder) for word in words[1:]]
            made = UNKNOWN if UNKNOWN in pieces else arithmetic(" ".join(pieces))
            return made if made is UNKNOWN else str(made)
        if name == "format" and count > 1:
            pieces = [self.value(word, folder) for word in words[1:]]
            if UNKNOWN in pieces:
                return UNKNOWN
            values = tuple(each if number(each) is None else number(each) for each in pieces[1:])
            try:
                return pieces[0] % values
            except (TypeError, ValueError):
                return UNKNOWN
        if name == "if":
            return self.choose(words[1:], folder, sure, depth)
        if name == "source" and count >= 2:
            given = self.value(words[-1], folder)
            path = folder / given if given is not UNKNOWN else folder
            if not path.is_file() or depth > 20:
                raise Unreadable(f"source {words[-1].text}: there is no such file as seen from {folder}")
            # Tcl opens names as seen from where it was started, which is the configuration's own folder, at any depth.
            return self.run(path.read_text(errors="replace"), folder, sure, depth + 1)
        return UNKNOWN

    def choose(self, words: list, folder: Path, sure: bool, depth: int):
        """`if` with its `elseif` and `else`."""
        rest = [word for word in words if word.text != "then" or word.braced]
        while rest:
            if rest[0].text in ("else", "elseif") and not rest[0].braced:
                last = rest[0].text == "else"
                rest = rest[1:]
                if last and rest:
                    return self.run(rest[0].text, folder, sure, depth)
            if len(rest) < 2:
                break
            text = self.replaced(rest[0].text, folder)
            held = UNKNOWN if text is UNKNOWN else arithmetic(text)
            if held is UNKNOWN:
                self.run(rest[1].text, folder, False, depth)
                sure = False
            elif held:
                return self.run(rest[1].text, folder, sure, depth)
            rest = rest[2:]
        return ""

    def value(self, word: Word, folder: Path):
        return word.text if word.braced else self.replaced(word.text, folder)

    def replaced(self, text: str, folder: Path):
        """`text` with variables and commands replaced by their values, or UNKNOWN."""
        made, at = "", 0
        while at < len(text):
            char = text[at]
            if char == "[":
                end = closing(text, at + 1, "]", "[")
                found = self.run(text[at + 1 : end], folder, True, 0)
                at = end + 1
            elif char == "$":
                end = at + 1
                if text[end : end + 1] == "{":
                    end = closing(text, end + 1, "}") + 1
                    name = text[at + 2 : end - 1]
                else:
                    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
                        end += 1
                    name = text[at + 1 : end]
                found, at = self.variables.get(name, UNKNOWN), end
            else:
                found, at = char, at + 1
            if found is UNKNOWN:
                return UNKNOWN
            made += found
        return made

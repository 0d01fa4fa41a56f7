# SPDX-License-Identifier: MIT
"""Small changes of C source, each a plausible mistake. Works on tokens of function bodies,
which in this tree are between a "{" and a "}" in the first column. Each change has a name."""

import re

TOKEN = re.compile(r"""
    (?P<space>\s+|\\\n)
  | (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<directive>(?<=\n)[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<number>(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)[uUlLfF]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark>->|\+\+|--|<<=|>>=|<=|>=|==|!=|&&|\|\||<<|>>|[-+*/%&|^]=|[^\s])
""", re.X | re.S)

BODY = re.compile(r"(?<=\n)\{\n.*?\n\}", re.S)
INTEGER = re.compile(r"(\d+)([uUlL]*)$")
COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "<<": ">>", ">>": "<<", "%": "*",
              "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|="}
LOGIC = {"&&": "||", "||": "&&"}
WEAKER = {"memory_order_acquire": "memory_order_relaxed", "memory_order_release": "memory_order_relaxed",
          "memory_order_acq_rel": "memory_order_relaxed", "memory_order_seq_cst": "memory_order_relaxed",
          "__ATOMIC_ACQUIRE": "__ATOMIC_RELAXED", "__ATOMIC_RELEASE": "__ATOMIC_RELAXED",
          "__ATOMIC_ACQ_REL": "__ATOMIC_RELAXED", "__ATOMIC_SEQ_CST": "__ATOMIC_RELAXED",
          "smp_load_acquire": "READ_ONCE", "smp_store_release": "WRITE_ONCE"}
KEYWORDS = set("if else for while do switch case default return goto break continue sizeof "
               "struct union enum static const volatile unsigned signed int long short char "
               "void float double bool typedef extern inline register auto".split())
# Tokens after the current one.
AHEAD = 3
# The lesser or the greater of two: equal ones are the same.
EXTREME = re.compile(r"(?<![\w.>\[\])-])(?=([\w.>\[\]-]+) [<>]=? ([\w.>\[\]-]+) \? "
                     r"(?:\1 : \2|\2 : \1)(?![\w.>(\[-]))")
# Changes nothing, or nothing on existing machines.
IDLE = ("va_end",)
ASSIGN = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"}


class Token:
    """A token of C and where it begins and ends."""

    def __init__(self, kind, text, begin):
        self.kind, self.text, self.begin, self.end = kind, text, begin, begin + len(text)


class Mutant:
    """One change: the text from begin to end becomes new."""

    def __init__(self, what, begin, end, new):
        self.what, self.begin, self.end, self.new = what, begin, end, new

    def apply_to(self, source):
        return source[:self.begin] + self.new + source[self.end:]

    def changed_lines(self, source):
        """Number of the first changed line; the lines before and after the change."""
        begin = source.rfind("\n", 0, self.begin) + 1
        end = source.find("\n", self.end)
        after = source[begin:self.begin] + self.new + source[self.end:end]
        return source.count("\n", 0, begin) + 1, text_plain(source[begin:end]), text_plain(after)


def text_plain(text):
    return " ".join(text.split())


def tokens_read(source, begin, end):
    found, at = [], begin
    while at < end:
        match = TOKEN.match(source, at, end)
        kind = match.lastgroup
        if kind not in ("space", "comment", "directive"):
            found.append(Token(kind, match.group(), at))
        at = match.end()
    # Lookahead always finds a token.
    return found + [Token("end", "", end)] * AHEAD


def bracket_close(toks, at):
    """Index of the bracket that closes the one at @at."""
    depth = 0
    for i in range(at, len(toks)):
        if toks[i].text in "([{" and toks[i].kind == "mark":
            depth += 1
        elif toks[i].text in ")]}" and toks[i].kind == "mark":
            depth -= 1
            if not depth:
                return i
    return None


def bracket_open(toks, at):
    """Index of the bracket that opens the one at @at."""
    depth = 0
    for i in range(at, 0, -1):
        depth += (toks[i].text == ")") - (toks[i].text == "(")
        if not depth:
            return i
    return 0


def statement_begins(toks, i):
    """Whether a statement begins at i."""
    before = toks[i - 1].text
    if before == ")":
        return toks[bracket_open(toks, i - 1) - 1].text in ("if", "for", "while")
    return before in (";", "{", "}", "else", ":")


def operator_binary(toks, i):
    """Whether the operator at i has an operand before it."""
    before = toks[i - 1]
    return before.kind in ("number", "text") or before.text in (")", "]") or (
        before.kind == "word" and before.text not in KEYWORDS)


def star_declares(toks, i):
    """Whether a "*" at i is part of a declaration or a cast and does not multiply."""
    return toks[i].text == "*" and (toks[i + 1].text in ("*", ")", "const") or toks[i - 1].text in "*;{" or
                                    toks[i - 2].text in ("struct", "const", "enum", "union", "{", ";"))


def more_is_the_same(toks, i):
    """Whether the number at i may be larger without effect: an allocation of one that becomes
    two, a negative length that means up to the end."""
    if toks[i - 1].text == "(" and toks[i - 2].text == "calloc":
        return True
    return (toks[i].text == "1" and toks[i - 1].text == "-" and toks[i - 2].text == "," and
            any(tok.text == "sqlite3_bind_text" for tok in toks[max(i - 24, 0):i]) and
            toks[i + 2].text.startswith("SQLITE_"))


def of_token(toks, i):
    """Changes of one token."""
    tok = toks[i]
    if tok.kind == "number" and INTEGER.match(tok.text):
        digits, suffix = INTEGER.match(tok.text).groups()
        # An octal number is a set of bits; any neighbour is another set.
        value = int(digits, 8 if digits[0] == "0" else 10)
        if not more_is_the_same(toks, i):
            yield "constant", f"{value + 1}{suffix}"
        if value:
            yield "constant", f"{value - 1}{suffix}"
    elif tok.kind == "word" and tok.text in WEAKER:
        yield "ordering", WEAKER[tok.text]
    elif tok.kind == "word" and tok.text in ("break", "continue"):
        yield "jump", "continue" if tok.text == "break" else "break"
    elif tok.kind == "word" and tok.text in ("true", "false"):
        yield "constant", "false" if tok.text == "true" else "true"
    elif tok.kind == "mark":
        if tok.text in COMPARE:
            yield "comparison", COMPARE[tok.text]
        elif tok.text in LOGIC:
            yield "logic", LOGIC[tok.text]
        elif tok.text in ARITHMETIC and operator_binary(toks, i) and not star_declares(toks, i):
            yield "arithmetic", ARITHMETIC[tok.text]


def change_idle(toks, i, same):
    """Whether a change of the token at i has no effect: an element inside sizeof, "<" or "<="
    in a minimum."""
    tok = toks[i]
    if tok.text in COMPARE and any(begin <= tok.begin < end for begin, end in same):
        return True
    return (tok.kind == "number" and toks[i - 1].text == "[" and toks[i - 3].text == "(" and
            toks[i - 4].text == "sizeof")


def condition_mutants(source, toks, i):
    """Of "if (...)" and "while (...)" at i."""
    end = bracket_close(toks, i + 1)
    if end is None or end + 1 >= len(toks):
        return
    begin, stop = toks[i + 1].end, toks[end].begin
    inside = source[begin:stop]
    yield Mutant("negated condition", begin, stop, f"!({inside})")
    if toks[i].text == "if" and toks[end + 1].text in ("return", "goto"):
        yield Mutant("dropped error path", begin, stop, f"({inside}) && 0")


def statement_end(toks, i):
    """Index of the ";" of the call or assignment that begins at i, or None."""
    first = toks[i]
    if first.text in IDLE:
        return None
    if first.text in KEYWORDS or first.kind not in ("word", "mark"):
        return None
    if not statement_begins(toks, i):
        return None
    if first.kind == "mark" and first.text not in ("*", "++", "--", "("):
        return None
    if first.text in ("(", "*") and toks[i - 1].text not in (";", "{", "}"):
        return None
    # Two words in a row declare, as do a word and a "*" at the start of a line.
    if first.kind == "word" and (toks[i + 1].kind == "word" or toks[i + 1].text in ("*", ":")):
        return None
    depth, does = 0, False
    for at in range(i, len(toks)):
        text = toks[at].text if toks[at].kind == "mark" else ""
        if text in ("(", "["):
            does |= text == "(" and not depth and at > i
            depth += 1
        elif text in (")", "]"):
            depth -= 1
        elif text in ("{", "}") or depth < 0:
            return None
        elif text in ASSIGN and not depth:
            does = True
        elif text == ";" and not depth:
            return at if does else None
    return None


def statement_mutants(source, toks, i):
    """The statement at i removed, or swapped with the next one."""
    end = statement_end(toks, i)
    if end is None:
        return
    begin, stop = toks[i].begin, toks[end].end
    yield Mutant("removed statement", begin, stop, ";")
    behind = statement_end(toks, end + 1) if end + 1 < len(toks) else None
    if behind is None:
        return
    first, second = source[begin:stop], source[toks[end + 1].begin:toks[behind].end]
    if first != second and re.search(r"atomic|ATOMIC|_ONCE|smp_|barrier", first + second):
        between = source[stop:toks[end + 1].begin]
        yield Mutant("swapped order", begin, toks[behind].end, second + between + first)


def return_mutants(source, toks, i):
    """An error that is not returned."""
    if toks[i + 1].text == "-" and toks[i + 2].kind == "word" and toks[i + 3].text == ";":
        yield Mutant("dropped error", toks[i + 1].begin, toks[i + 2].end, "0")
    elif toks[i + 1].text in ("ret", "err", "error") and toks[i + 2].text == ";":
        yield Mutant("dropped error", toks[i + 1].begin, toks[i + 1].end, "0")


def mutants_find(source):
    """All changes of a file, in order."""
    found = []
    for body in BODY.finditer(source):
        toks = tokens_read(source, body.start(), body.end())
        same = [(m.end(1), m.start(2)) for m in EXTREME.finditer(source, body.start(), body.end())]
        for i in range(1, len(toks) - AHEAD):
            tok = toks[i]
            if not change_idle(toks, i, same):
                found += [Mutant(what, tok.begin, tok.end, new) for what, new in of_token(toks, i)]
            if tok.text in ("if", "while") and toks[i + 1].text == "(":
                found += condition_mutants(source, toks, i)
            elif tok.text == "return":
                found += return_mutants(source, toks, i)
            found += statement_mutants(source, toks, i)
    return found

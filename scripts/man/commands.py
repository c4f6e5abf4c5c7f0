# SPDX-License-Identifier: Apache-2.0
"""Pages of man1, from what the program says of its commands and options:
`weft --help` and `weft COMMAND --help` are printed from the tables of
src/front/cli/main.c.  Examples are answers of docs/how-to.md."""
import re
import subprocess

from roff import bold, code, heading, inline, italic, item, roff, see_also

# Variable, commands that read it (none: all), meaning.
ENVIRONMENT = [
    ("NO_COLOR", (), "No bold and no colours on a terminal, when set and not "
     "empty."),
    ("TERM", (), "The value `dumb` gives no progress line, and pictures in "
     "plain characters."),
    ("TMPDIR", ("tour", "exec", "disk", "bench"), "Folder of temporary files; "
     "default: /tmp."),
    ("PATH", ("exec",), "Folders in which PROGRAM, mpirun and mpiexec are "
     "found."),
    ("PATH", ("disk",), "Folders in which nbdkit and COMMAND are found."),
    ("uri", ("disk",), "Set for COMMAND: the address of the disk."),
    ("WEFT_SOCKET, WEFT_RANK, WEFT_NODE, WEFT_RANKS", ("exec",), "Set for the "
     "processes of the run: the place where they join, and their numbers."),
    ("WEFT_TIME_LIBS", ("exec",), "Text in the names of libraries whose "
     "clocks show simulated time, as those of PROGRAM do."),
    ("WEFT_NO_CMA", ("exec",), "When set, the simulator never reads the "
     "memory of a process; a thread of the process copies."),
    ("FI_WEFT_LAYER", ("exec",), "The value `1` serves ofi_rxm and ofi_rxd, "
     "too."),
]
FILES = [
    ("report.html", ("report",), "The page; `--out` gives another name."),
    ("weft.pcapng", ("run", "exec"), "Packets of `--capture`; "
     "`--capture-file` gives another name."),
]
OPTION = re.compile(r"  (--?\S+)(?: ([A-Z]\S*))? +(\S.*)")


def ask(weft, *args):
    return subprocess.run([weft, *args], check=True, capture_output=True,
                          text=True).stdout


def names(weft):
    """Names of commands, in the order of the table."""
    return re.findall(r"^  (\w+) ", ask(weft, "--help"), re.M)


class Command:
    """The parts of `weft NAME --help`."""

    def __init__(self, weft, name):
        usage, doc, *rest = ask(weft, name, "--help").splitlines()
        self.name, self.doc = name, doc.rstrip(".")
        self.usage = usage.removeprefix("usage: weft " + name).strip()
        rows = [OPTION.fullmatch(s) for s in rest]
        self.options = [m.groups() for m in rows if m]
        more = " ".join(s for s, m in zip(rest, rows) if s and not m)
        self.more, _, status = more.partition("Exit status: ")
        self.status = status


def sentence(text):
    """A line of a table as a sentence; `nic: ...` names a value."""
    text = text.rstrip(".") + "."
    return text if re.match(r"\w+:", text) else text[0].upper() + text[1:]


def option(name, value, doc):
    head = bold(name) + (" " + italic(value) if value else "")
    return item(head, [inline(sentence(doc))])


def statuses(text):
    """`0 done, 1 a check failed, ...` as a list."""
    out = []
    for s in text.strip().rstrip(".").split(", "):
        number, doc = re.fullmatch(r"(\d+(?: \+ N)?) (.*)", s).groups()
        out += item(bold(number), [inline(sentence(doc))])
    return out


def of(table, name):
    """Entries of a table that concern a command (None: those of all)."""
    return [s for head, commands, doc in table
            if (name in commands if name else not commands)
            for s in item(bold(head), [inline(doc)])]


def usage(text):
    """Words in capitals are what the user replaces."""
    return re.sub(r"[A-Z]{2,}", lambda m: italic(m[0]), roff(text))


# ---- examples ----

def examples(page, known):
    """{command: [(task, lines)]} of the answers: commands of weft, without
    those that compile or name files of the source."""
    found = {name: [] for name in known}
    with open(page) as f:
        text = f.read()
    for m in re.finditer(r"^\*\*(.*?)\?\*\*.*?^```\n(.*?)^```", text,
                         re.M | re.S):
        steps = [s.replace("build/weft", "weft") for s in
                 re.findall(r"^\$ ((?:.*\\\n)*.*)\n", m[2], re.M)]
        last = re.match(r"weft (\w+)", steps[-1])
        steps = [s for s in steps if s.startswith("weft ")]
        if last and "examples/" not in "".join(steps):
            found[last[1]].append((m[1], [s for c in steps
                                          for s in fold(c)]))
    return found


def fold(command, width=64):
    """A command in lines of this width, cut between words."""
    words = re.findall(r"(?:(?<= )(?:--set|--sample|--show) )?"
                       r"(?:'[^']*'|\"[^\"]*\"|[^\s\\])+",
                       command.replace("\\\n", " "))
    lines = [words[0]]
    for w in words[1:]:
        if len(lines[-1]) + len(w) + 3 > width:
            lines[-1] += " \\"
            lines.append("    " + w)
        else:
            lines[-1] += " " + w
    return lines


# ---- pages ----

def command_page(c, shown, top, general):
    out = heading("weft-" + c.name, "weft-" + c.name, "1", c.doc, *top)
    out += [".SH SYNOPSIS", bold("weft " + c.name) + " " + usage(c.usage),
            ".SH DESCRIPTION",
            inline(sentence(c.doc))]
    if c.more.strip():
        out += [".PP", inline(c.more)]
    out += [".SH OPTIONS"]
    for o in c.options:
        out += option(*o)
    out += [".SH EXIT STATUS", *statuses(c.status or general)]
    for title, table in ("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES):
        entries = of(table, c.name)
        if entries:
            out += [".SH " + title, *entries]
    if shown:
        out += [".SH EXAMPLES"]
        for i, (task, lines) in enumerate(shown):
            out += ([".PP"] if i else []) + [inline(task[0].upper() + task[1:] + ":"),
                    *code(lines)]
    return out


RELATED = {
    "run": ["check", "explain", "report", "list"],
    "check": ["run", "describe"], "list": ["describe", "run"],
    "describe": ["list"], "explain": ["run"], "report": ["run", "reproduce"],
    "reproduce": ["run", "report"], "exec": ["run", "report", "list"],
    "disk": ["exec", "run", "report"],
    "import": ["run", "check"],
    "tour": ["run"], "bench": ["run"], "completion": [],
}
FORMATS = {"run": ["experiment", "results"], "check": ["experiment"],
           "exec": ["experiment", "results"],
           "disk": ["experiment", "results"], "report": ["results"],
           "import": ["experiment"], "explain": ["results"], "reproduce": ["results"],
           "describe": ["experiment"]}
HEADERS = {"exec": ["ep", "host"], "run": ["component"],
           "describe": ["component"]}


def pages(weft, how_to, top):
    """{name: lines} of man1."""
    head, what, *rest = ask(weft, "--help").splitlines()
    general = next(s for s in rest if "Exit status: " in s)
    general = general.split("Exit status: ")[1]
    commands = [Command(weft, n) for n in names(weft)]
    shown = examples(how_to, [c.name for c in commands])
    out = {}
    for c in commands:
        see = [("weft", "1")] + [("weft-" + n, "1") for n in RELATED.get(c.name, [])]
        see += [("weft-" + n, "3") for n in HEADERS.get(c.name, [])]
        see += [("weft-" + n, "5") for n in FORMATS.get(c.name, [])]
        out["weft-" + c.name] = command_page(c, shown[c.name], top, general) \
            + see_also(see)
    page = heading("weft", "weft", "1", "interconnects in software: NICs, "
                   "links and switches, cycle by cycle", *top)
    page += [".SH SYNOPSIS", bold("weft") + " "
             + usage(head.removeprefix("usage: weft ")), ".br",
             bold("weft") + " " + italic("COMMAND") + bold(" --help"), ".br",
             bold("weft --version"), ".SH DESCRIPTION", inline(what), ".PP",
             inline("`weft` alone names three commands to begin with; "
                    "`weft tour` shows them at work."), ".SH COMMANDS"]
    for c in commands:
        page += item(f"\\fBweft\\-{c.name}\\fR(1)",
                     [inline(sentence(c.doc))])
    page += [".SH EXIT STATUS", *statuses(general),
             ".SH ENVIRONMENT", *of(ENVIRONMENT, None)]
    out["weft"] = page + see_also(
        [("weft-" + c.name, "1") for c in commands]
        + [("weft-" + n, "3") for n in ("component", "ep", "host")]
        + [("weft-" + n, "5") for n in ("experiment", "results")])
    return out

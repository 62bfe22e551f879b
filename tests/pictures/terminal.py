"""A session of the interactive shell in a terminal of its own, drawn as SVG.

The program runs in a pseudo-terminal. Each line is typed when the prompt is there, so the picture
shows what a user sees, with its colours.
"""

import fcntl
import os
import pty
import select
import struct
import termios
import time
from html import escape

import pyte

COLUMNS = 100
MAX_LINES = 60
PROMPT = "tracesql>"
MAX_WAIT_S = 60

CHARACTER_PX = 8.0
LINE_PX = 18
PADDING_PX = 16
BAR_PX = 30
BACKGROUND = "#11151d"
FOREGROUND = "#e6eaf2"
# The colours of a terminal, chosen for a contrast of at least 4.5 on the background.
COLOURS = {
    "black": "#8d95a5",
    "red": "#ff7b83",
    "green": "#62c990",
    "brown": "#f0c674",
    "yellow": "#f0c674",
    "blue": "#82a8ff",
    "magenta": "#d3a4f5",
    "cyan": "#5ccfe6",
    "white": "#e6eaf2",
    "brightblack": "#a2acbf",
    "brightred": "#ff9aa0",
    "brightgreen": "#8be0b0",
    "brightbrown": "#ffd98a",
    "brightyellow": "#ffd98a",
    "brightblue": "#a9c4ff",
    "brightmagenta": "#e4c6ff",
    "brightcyan": "#8fe3f2",
    "brightwhite": "#ffffff",
}


class Terminal:
    """A program in a pseudo-terminal, with the screen that it has drawn."""

    def __init__(self, command, cwd, environment):
        self.screen = pyte.Screen(COLUMNS, MAX_LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", MAX_LINES, COLUMNS, 0, 0))

    def read(self, seconds):
        """Draw what the program writes within this time. Return False when it has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.stream.feed(data)
        return bool(data)

    def wait_for_prompt(self):
        """Wait until the last line is an empty prompt and nothing more is written."""
        end = time.monotonic() + MAX_WAIT_S
        while time.monotonic() < end:
            if not self.read(0.3):
                raise SystemExit("pictures: the shell ended early:\n" + "\n".join(self.lines()))
            lines = self.lines()
            is_quiet = not select.select([self.fd], [], [], 0.3)[0]
            if lines and lines[-1].strip() == PROMPT and is_quiet:
                return
        raise SystemExit("pictures: the shell shows no prompt:\n" + "\n".join(self.lines()))

    def type(self, line):
        os.write(self.fd, line.encode() + b"\r")
        self.read(0.5)
        self.wait_for_prompt()

    def lines(self):
        """The lines of the screen up to the last that is not empty."""
        lines = [line.rstrip() for line in self.screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def close(self):
        os.write(self.fd, b"\x04")
        while self.read(2):
            pass
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def session(program, trace, statements, environment):
    """Type statements in the shell on a trace. Return the screen and its number of lines."""
    shell = Terminal([str(program), trace.name], trace.parent, environment)
    shell.wait_for_prompt()
    for statement in statements:
        shell.type(statement)
    screen, lines = shell.screen, len(shell.lines()) - 1
    shell.close()
    return screen, lines


def colour_of(cell):
    """The colour of a character on the screen."""
    name = cell.fg
    if name in COLOURS:
        return COLOURS["bright" + name if cell.bold and "bright" + name in COLOURS else name]
    return FOREGROUND if name == "default" else f"#{name}"


def runs(row, columns):
    """The stretches of a row with one style: first column, text, colour, whether it is bold."""
    found = []
    for column in range(columns):
        cell = row[column]
        style = (colour_of(cell), cell.bold)
        if found and found[-1][2:] == style:
            found[-1] = (found[-1][0], found[-1][1] + cell.data, *style)
        else:
            found.append((column, cell.data, *style))
    return [(column, text.rstrip(), *style) for column, text, *style in found if text.strip()]


def svg(screen, lines, title):
    """Draw the first lines of a screen as a window with a title."""
    width = round(COLUMNS * CHARACTER_PX + 2 * PADDING_PX)
    height = BAR_PX + (lines + 1) * LINE_PX + 2 * PADDING_PX
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        "<style>text{font:13.3px 'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace;"
        "white-space:pre}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>',
        f'<path d="M0 {BAR_PX}V8a8 8 0 0 1 8-8H{width - 8}a8 8 0 0 1 8 8V{BAR_PX}Z" '
        'fill="#2c3443"/>',
        f'<text x="{width / 2:g}" y="20" text-anchor="middle" fill="{FOREGROUND}">'
        f"{escape(title)}</text>",
    ]
    typed = [(0, "$ ", COLOURS["brightblack"], False), (2, title, FOREGROUND, True)]
    rows = [typed] + [runs(screen.buffer[line], COLUMNS) for line in range(lines)]
    for number, row in enumerate(rows):
        y = BAR_PX + PADDING_PX + (number + 1) * LINE_PX - 5
        for column, text, colour, is_bold in row:
            x = PADDING_PX + column * CHARACTER_PX
            weight = ' font-weight="bold"' if is_bold else ""
            # The width is given, so that columns line up in every font.
            out.append(
                f'<text x="{x:g}" y="{y}" textLength="{len(text) * CHARACTER_PX:g}" '
                f'fill="{colour}"{weight}>{escape(text)}</text>'
            )
    out.append("</svg>\n")
    return "\n".join(out)

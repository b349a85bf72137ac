"""What READMEs and docstrings name is there: paths, links, modules, commands and their options."""

import ast
import re
from pathlib import Path

import pytest
import typer

from dga.commands import app
from dga.io.shipped import ROOT

FOLDERS = ("app", "dga", "tests", "assets")
PAGES = sorted([*ROOT.glob("*.md"), *(p for f in FOLDERS for p in (ROOT / f).rglob("README.md"))])
SOURCES = sorted(p for f in FOLDERS for p in (ROOT / f).rglob("*.py"))
PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)}|\.ci|\.github)/[\w./*-]*)`")
BESIDE = re.compile(r"((?:`[\w.]+`(?:, | and ))*`[\w.]+`) (?:in|of) `([\w/]+\.\w+)`")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _missing(text: str) -> list[str]:
    """Paths in backticks that are not there; ``NAME`` stands for any."""
    named = {path.rstrip("/").replace("NAME", "*") for path in PATH.findall(text)}
    return sorted(path for path in named if not any(ROOT.glob(path)))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_named_paths_and_symbols_are_there(page):
    text = page.read_text("utf-8")
    assert _missing(text) == []
    for symbols, path in BESIDE.findall(text):
        words = set(re.findall(r"\w+", (ROOT / path).read_text("utf-8")))
        assert set(re.findall(r"\w+", symbols)) <= words, path


def test_paths_in_docstrings_are_there():
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for path in SOURCES:
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        said = "\n".join(ast.get_docstring(n) or "" for n in nodes if isinstance(n, kinds))
        assert _missing(said) == [], _name(path)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if re.match(r"https?:|mailto:", link):
            continue
        place, _, anchor = link.partition("#")
        target = page.parent / place if place else page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}
            assert anchor in slugs, link


def _said() -> list[tuple[str, list[str]]]:
    """Each page's lines and pieces of code, where a shell's variable stands for its value."""
    commands_by_page = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for name, value in re.findall(r'^([A-Z]+)="(.*)"$', text, re.MULTILINE):
            text = text.replace(f"${name}", value)
        blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
        pieces = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        commands_by_page.append((_name(page), [*"".join(blocks).splitlines(), *pieces]))
    return commands_by_page


def test_commands_and_their_options_are_there():
    group = typer.main.get_command(app)
    options = {
        name: {word for p in command.params for word in (*p.opts, *p.secondary_opts)}
        for name, command in group.commands.items()
    }
    seen = set()
    for page, lines in _said():
        for line in lines:
            for name, rest in re.findall(r"(?:-m dga|^dga) ([a-z][\w-]*)(.*)", line.split("#")[0]):
                assert name in options, f"{page}: {line}"
                named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", rest))
                assert named <= options[name] | {"--help"}, f"{page}: {line}"
                seen.add(name)
    assert seen == set(options)


def test_modules_are_there():
    for page, lines in _said():
        for name in re.findall(r"-m ((?:app|dga|tests)[\w.]*)", "\n".join(lines)):
            path = ROOT / name.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), (page, name)

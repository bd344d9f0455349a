#!/usr/bin/env python3
"""api.py FOLDER: pages of the C library, one a header of library/penstock, in reStructuredText: each declaration with the comment
before it; and the page of the Python package, which Sphinx fills. `make docs` runs it."""
import re
import sys
from pathlib import Path

HEADERS = Path(__file__).resolve().parent.parent / "library" / "penstock"
PYTHON = """The Python package
==================

.. automodule:: penstock
   :members:
   :imported-members:
   :special-members: __getitem__
   :member-order: bysource
"""
ORDER = ("status", "file", "hmatrix", "sum", "integrals")
# What a header is made of, but for what the preprocessor takes: comments, types, functions.
ITEM = re.compile(r"/\*(?P<comment>.*?)\*/|(?P<type>(?:typedef )?(?:struct|enum)\b[^;{]*(?:\{.*?\}[^;]*)?;)"
                  r"|PENSTOCK_API (?P<function>[^;]*);", re.S)


def text(comment):
    """A comment as paragraphs of reStructuredText, indented ones as they stand."""
    lines = [re.sub(r"^ ?\* ?", "", line).rstrip() for line in comment.strip(" \n").split("\n")]
    out = []
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        if paragraph.startswith("    "):
            out.append("::\n\n" + paragraph)
            continue
        parts = re.split(r"`([^`]*)`", paragraph.strip())
        parts[::2] = [re.sub(r"([*|\\_])", r"\\\1", part) for part in parts[::2]]
        parts[1::2] = [f"``{part}``" for part in parts[1::2]]
        out.append(re.sub(r"specs/([a-z\\_]+)\.md", lambda m: f":doc:`/specs/{m[1]}`".replace("\\", ""), "".join(parts)))
    return "\n\n".join(out)


def indented(content, by="   "):
    return "\n".join(by + line if line else "" for line in content.split("\n"))


def type_directive(source, comment):
    """A structure, an enumeration or an opaque type, with its source."""
    name = re.search(r"(\w+)\s*;$", source)
    if not name:  # an enumeration without a name: its constants
        body = source
        head = "\n".join(f".. c:macro:: {constant}" for constant in re.findall(r"(\w+) =", source))
    else:
        body, head = (source if "{" in source else ""), f".. c:type:: {name.group(1)}"
    content = [comment] if comment else []
    if body:
        content.append(".. code-block:: c\n\n" + indented(body))
    return head + "\n\n" + indented("\n\n".join(content)) if content else head


def function_directive(declarations, comment):
    signatures = [re.sub(r"\s+", " ", declaration) for declaration in declarations]
    head = ".. c:function:: " + ("\n" + " " * 16).join(signatures)
    return head + ("\n\n" + indented(comment) if comment else "")


def items(source):
    """(kind, text, gap) in order; gap: an empty line lies before it. A comment behind a declaration belongs to that."""
    end = 0
    for match in ITEM.finditer(source):
        between = source[end:match.start()]
        if match.lastgroup == "comment" and end and "\n" not in between:
            kind = "note"
        else:
            kind = match.lastgroup
        yield kind, match.group(match.lastgroup), between.count("\n") > 1
        end = match.end()


def page(header):
    source = header.read_text()
    source = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", source, flags=re.S)
    source = re.sub(r"^#.*\n", "", source, flags=re.M)
    found = list(items(source))
    title = f"penstock/{header.name}"
    about = text(found[0][1])
    out, comment, functions = [title + "\n" + "=" * len(title), about], "", []

    def put_functions():
        nonlocal comment
        if functions:
            out.append(function_directive(functions, comment))
            functions.clear()
            comment = ""

    for kind, content, gap in found[1:]:
        if kind == "comment" or (kind == "type" and functions) or (gap and functions):
            put_functions()
        heading = re.fullmatch(r" ?---- (.*?) ----", content.strip()) if kind == "comment" else None
        if heading:
            out.append(heading.group(1).capitalize() + "\n" + "-" * len(heading.group(1)))
        elif kind == "comment":
            comment = text(content)
        elif kind == "note":
            comment = (comment + "\n\n" if comment else "") + text(content)
        elif kind == "type":
            out.append(type_directive(content, comment))
            comment = ""
        else:
            functions.append(content)
    put_functions()
    return "\n\n".join(out) + "\n"


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "python.rst").write_text(PYTHON)
    for name in ORDER:
        (folder / f"{name}.rst").write_text(page(HEADERS / f"{name}.h"))


if __name__ == "__main__":
    main(sys.argv[1])

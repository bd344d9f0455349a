# Sphinx with MyST: `make docs` gathers the pages of the tree and builds the site (Debian: python3-sphinx, python3-myst-parser).
from importlib.util import find_spec
from pathlib import Path

from sphinx.ext import mathjax

project = "Penstock"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
autodoc_mock_imports = [name for name in ("numpy", "scipy") if find_spec(name) is None]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["cases/**", "docs/releases/**"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1240px"}
html_show_copyright = False
suppress_warnings = ["myst.header"]

# Equations are set by KaTeX, whose files go into the site: it needs no network then. Without them pages ask for MathJax, by network.
katex = Path("/usr/share/javascript/katex")  # Debian: libjs-katex
SET_EQUATIONS = r"""
const kinds = [{left: "\\[", right: "\\]", display: true}, {left: "\\(", right: "\\)", display: false}];
addEventListener("DOMContentLoaded", () => document.querySelectorAll(".math").forEach(
    equation => renderMathInElement(equation, {delimiters: kinds})));
"""


def setup(app):
    app.add_html_math_renderer("katex", (mathjax.html_visit_math, None), (mathjax.html_visit_displaymath, None))
    if katex.is_dir():
        app.add_js_file(None, body=SET_EQUATIONS)


if katex.is_dir():
    html_math_renderer = "katex"
    html_static_path = [str(katex)]
    html_css_files = ["katex.min.css"]
    html_js_files = ["katex.min.js", "contrib/auto-render.js"]

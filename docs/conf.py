# Sphinx with MyST: `make docs` gathers the pages of the tree and builds the site (Debian: python3-sphinx, python3-myst-parser).
from importlib.util import find_spec

project = "Penstock"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
autodoc_mock_imports = [name for name in ("numpy", "scipy") if find_spec(name) is None]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["cases/**", "docs/releases/**"]
html_theme = "alabaster"
html_show_copyright = False
suppress_warnings = ["myst.header"]

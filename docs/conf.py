# Sphinx with MyST: `make docs` gathers the pages of the tree and builds the site (Debian: python3-sphinx, python3-myst-parser).
project = "Penstock"
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["cases/**"]
html_theme = "alabaster"
html_show_copyright = False
suppress_warnings = ["myst.header"]

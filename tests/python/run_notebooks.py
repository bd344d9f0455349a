"""Runs notebooks in an empty folder each, as tests do: run.py NOTEBOOK... (needs nbclient and ipykernel)."""
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

for path in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(nbformat.read(path, as_version=4), timeout=300, kernel_name="python3",
                       resources={"metadata": {"path": folder}}).execute()
    print(f"{path}: ran")

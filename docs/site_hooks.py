"""What the site needs beyond Markdown: equations as MathML, notebooks as pages, links out of the folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

try:
    from latex2mathml.converter import convert
except ImportError:  # the page then shows the equation as it is written
    convert = None

MATH = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+(?:src|deploy|benchmarks|tests)/?[^)]*)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add a page for every notebook."""
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        text = notebook_page(json.loads(Path(notebook.abs_src_path).read_text()))
        files.append(File.generated(config, str(Path(notebook.src_uri).with_suffix(".md")), content=text))
    return files


def on_page_content(html: str, **_: Any) -> str:
    """Docstrings are written for Sphinx' roles too; here the names alone are enough."""
    return re.sub(r":(?:class|meth|func|data|attr|mod):(?=<code>)", "", html)


def on_page_markdown(markdown: str, config: Any, **_: Any) -> str:
    """Equations become MathML; links to source files lead to the repository, if the site has one."""

    def outside(match: re.Match[str]) -> str:
        if not config.repo_url:
            return match[1]
        return f"[{match[1]}]({config.repo_url.rstrip('/')}/blob/main/{match[2].replace('../', '')})"

    return OUTSIDE.sub(outside, MATH.sub(lambda match: equation(match[1]), markdown))


def equation(latex: str) -> str:
    """One displayed equation; browsers draw MathML without any script."""
    if convert is None:
        return f"```latex\n{latex}```"
    below = re.sub(
        r"\\(sum|max)_", r"\\\1\\limits_", " ".join(latex.split())
    )  # as a displayed equation has it
    return convert(below, display="block")


def notebook_page(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: its text, its code, and what the code printed or drew."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts.append(f"```python\n{source}\n```")
            parts += [shown for output in cell["outputs"] if (shown := output_of(output))]
    return "\n\n".join(parts) + "\n"


def output_of(output: dict[str, Any]) -> str:
    """One output: the drawn form where there is one, else the printed one."""
    data = output.get("data", {})
    if "text/html" in data:
        return f"<div>{''.join(data['text/html'])}</div>"
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""

"""Settings of the documentation site: ``python -m sphinx -W -b html docs build/site``.

The site needs no network, neither to be built nor to be read: no docstring refers to a page of
another project, so that there is no inventory to load, and the theme brings its fonts and scripts.
"""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import is_dataclass
from importlib.metadata import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))
import reference
import sources

import promoarray
from promoarray.core._fast_path import FastOperator

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "promoarray"
author = "the promoarray developers"
version = release = promoarray.__version__
html_title = f"promoarray {version}"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
# What is copied of a session is what was typed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# References in docstrings that lead nowhere are warnings, too.
nitpicky = True
# Links such as record.md#one-heading, as they work where Markdown is shown without Sphinx.
myst_heading_anchors = 3
# Pages show commands and output as they stand: "..." and "--all" are not typography.
smartquotes = False

# The pages of api/ say what is documented; nothing else makes pages.
autosummary_generate = False
numpydoc_show_class_members = False
# The docstrings say what a parameter may be, in words; annotations would say "Any".
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "groupwise"
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
# Edit links, once a release says where the sources are.
SOURCE = dict(url.split(", ", 1) for url in metadata("promoarray").get_all("Project-URL") or ())
if "Source" in SOURCE:
    _owner, _repository = SOURCE["Source"].rstrip("/").split("/")[-2:]
    html_context |= {"github_user": _owner, "github_repo": _repository}
    html_context |= {"github_version": "main", "doc_path": "docs"}
_BESIDE = ["page-toc", *["edit-this-page"] * ("Source" in SOURCE)]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "logo": {"text": "promoarray"},
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": _BESIDE},
    "use_edit_page_button": "Source" in SOURCE,
}
if "Documentation" in SOURCE:  # of a site that is published: these ask the network, too
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
    }
    # A list of the published versions lies beside them.
    _site = SOURCE["Documentation"].rstrip("/")
    html_theme_options["switcher"] = {
        "json_url": f"{_site}/versions.json",
        "version_match": version,
    }
    html_theme_options["check_switcher"] = False
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher", "navbar-icon-links"]
html_sidebars = {"index": [], "start": [], "gallery": []}
html_show_sourcelink = False
html_show_copyright = False


# Where Markdown is read as it is, a page is known by its file; here by its title.
_LINK = re.compile(r"\[(?P<file>[\w-]+\.md)\](?=\((?P=file)[#)])")
# doctest wants an empty line after the last output, which readers need not see.
_LAST_EMPTY_LINE = re.compile(r"^(```python\n.*?)\n+^```$", re.MULTILINE | re.DOTALL)


def _prepare(app: Sphinx, page: str, source: list[str]) -> None:
    if page.startswith("api/"):
        source[0] = reference.expand(source[0])
    else:
        source[0] = _LINK.sub("[]", _LAST_EMPTY_LINE.sub(r"\1\n```", source[0]))


def _short_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: Any
) -> tuple[str, Any] | None:
    """Of a record only the names of its fields: the defaults are objects, which print as such."""
    if what != "class" or not is_dataclass(obj):
        return None
    return f"({', '.join(inspect.signature(obj).parameters)})", returns


def _module_of(app: Sphinx, module: str, name: str) -> str | None:
    return sources.module_of(module, name)


def _source_of(app: Sphinx, module: str) -> tuple[str, sources.Tags] | None:
    own = module in (sources.ELEMENTWISE, sources.METHODS)
    return sources.source_of(module) if own else None


def _as_function(method: Any) -> Any:
    """What autodoc takes for a method: one that has a fast path is an attribute to it."""

    def function() -> None: ...

    function.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    for name in ("__doc__", "__module__", "__name__", "__qualname__"):
        setattr(function, name, getattr(method, name))
    return function


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect what makes the pages of the reference."""
    for name in list(vars(promoarray.PArray)):
        method = getattr(promoarray.PArray, name)  # which makes those that wait to be asked for
        if isinstance(method, FastOperator) and "__text_signature__" in vars(method):
            setattr(promoarray.PArray, name, _as_function(method))
    app.connect("source-read", _prepare)
    app.connect("autodoc-process-signature", _short_signature)
    app.connect("viewcode-follow-imported", _module_of)
    app.connect("viewcode-find-source", _source_of)
    return {"parallel_read_safe": True}

"""Static site: the pages of ``checkers-play`` as a folder of files, without a server.

    python -m training.app.static_site FOLDER

The scripts, styles and templates are those of ``checkers-play``. Only ``static/server.js`` differs:
there it asks the server, here it is ``engine/backend.js``, which answers in the browser. The engine
is plain JavaScript in ``engine/`` and reads the zoo's own weight files.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from agents.agent_spec import WEIGHTS_SUFFIX
from checkers_env.files import write_atomically
from checkers_env.openings import NAMES
from training.app.agent_catalog import JUDGE, JUDGE_NODES, AgentCatalog, CatalogEntry
from training.app.opponents import OPPONENTS, Opponent, choose_opponent, opponent_name
from training.app.templates import MENU, form_values, render_page
from training.runtime.cli import run_command
from training.trainer.cli import EVOLVE

WITHOUT_WEIGHTS = {
    "random": "any legal move",
    "heuristic": "the best capture, then a king, then a step forward; no search",
    "material": "counts men and kings",
}
TRAINED = {
    "c0-1ply": "network of 2001, evolved by searches of one ply",
    "blondie24-1999": "network of 1999, evolved",
    "blondie24": "network of 2001, evolved",
    "c10": "network of 2001, evolved with social learning",
    "learns": "network of 2001, learned by an evolution strategy",
    "learns-squares": "weights of men and kings by square, learned by an evolution strategy",
    "c5-n0.001": "n-tuples, learned by temporal differences",
    "strong": "small network, learned from searches of its own games",
}
PAGES = {
    "Play": "index.html",
    "Puzzles": "puzzles.html",
    "Analyse": "analyse.html",
    "Compare": "compare.html",
    "Evolution": "evolution.html",
    "Rules": "about.html",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
MANIFEST = {
    "name": "Checkers Laboratory",
    "short_name": "Checkers",
    "description": "Play against Blondie24 and its successors; no server, also offline.",
    "start_url": "./index.html",
    "scope": "./",
    "display": "standalone",
    "background_color": "#faf9f6",
    "theme_color": "#faf9f6",
    "icons": [{"src": "static/icon.svg", "sizes": "any", "type": "image/svg+xml"}],
}
SERVICE_WORKER = """\
// Written by training/app/static_site.py. Answers from the cache, and adds other files to it.
const CACHE = "checkers-$VERSION";
const FILES = $FILES;

addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES);
    await skipWaiting();
  })());
});

addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("checkers-") && name !== CACHE) await caches.delete(name);
    }
    await clients.claim();
  })());
});

const answer = async (request) => {
  const cache = await caches.open(CACHE);
  const stored = await cache.match(request, { ignoreSearch: true });
  if (stored && request.cache !== "reload") return stored; // else it was damaged
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
};

addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const isOwn = method === "GET" && url.startsWith(registration.scope);
  if (isOwn) event.respondWith(answer(event.request));
});
"""


class SiteCatalog(AgentCatalog):
    """Agents of the static site."""

    def names(self) -> list[str]:
        """Return the names to choose from."""
        return [*WITHOUT_WEIGHTS, *TRAINED]

    def entry(self, name: str) -> CatalogEntry:
        """Return the entry of an agent."""
        return super().entry(name)._replace(about=(WITHOUT_WEIGHTS | TRAINED)[name])


def weight_file(name: str) -> Path:
    """Return the weight file of a player of the zoo."""
    return Path(str(files("agents") / "zoo" / f"{name}{WEIGHTS_SUFFIX}"))


def build(folder: Path) -> list[Path]:
    """Write the site, and return its files relative to the folder."""
    catalog = SiteCatalog()
    contents = dict(_scripts(catalog)) | dict(_pages(catalog))
    contents["manifest.webmanifest"] = json.dumps(MANIFEST, indent=2)
    for name, content in contents.items():
        _write(folder / name, content)
    for name in TRAINED:
        target = folder / "weights" / f"{name}{WEIGHTS_SUFFIX}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(weight_file(name), target)
    weights = [f"weights/{name}{WEIGHTS_SUFFIX}" for name in TRAINED]
    _write(folder / "sw.js", _service_worker(folder, [*contents, *weights]))
    return [*map(Path, contents), *map(Path, weights), Path("sw.js")]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())


def _scripts(catalog: SiteCatalog) -> Iterable[tuple[str, str]]:
    """Yield scripts, styles and pictures by name."""
    app = files("training.app")
    for item in (app / "static").iterdir():
        if item.is_file() and item.name != "server.js":
            yield f"static/{item.name}", _relative(item.read_text("utf-8"))
    for item in (app / "engine").iterdir():
        if item.is_file():
            yield f"static/engine/{item.name}", item.read_text("utf-8")
    yield "static/server.js", 'export { request } from "./engine/backend.js";\n'
    yield "static/engine/catalog.js", _catalog_script(catalog)


def _catalog_script(catalog: SiteCatalog) -> str:
    """Return a module of agents and opponents."""
    constants: dict[str, Any] = {
        "AGENTS": [it._asdict() for it in catalog.entries()],
        "OPPONENTS": {one.id: list(_choices(one)) for one in OPPONENTS},
        "CHECKSUMS": {name: zlib.adler32(weight_file(name).read_bytes()) for name in TRAINED},
        "JUDGE": {"agent": JUDGE, "nodes": JUDGE_NODES},
    }
    lines = [f"export const {name} = {json.dumps(value)};" for name, value in constants.items()]
    return "\n".join(["// Written by training/app/static_site.py.", *lines, ""])


def _choices(opponent: Opponent) -> Iterable[dict[str, Any]]:
    """Yield the agent, the names and the limits of an opponent, of each of its levels."""
    for level in range(1, len(opponent.levels) + 1) if opponent.levels else (None,):
        choice = choose_opponent(opponent.id, level)
        limits = {name: value for name, value in choice.limits._asdict().items() if value}
        yield choice._asdict() | {"name": opponent_name(opponent.id, level), "limits": limits}


def _pages(catalog: SiteCatalog) -> Iterable[tuple[str, str]]:
    """Yield the pages by name."""
    values = form_values(catalog, None) | {"command": EVOLVE, "names": NAMES}
    for menu_item, name in PAGES.items():
        template = "play.html.jinja" if menu_item == "Play" else f"{Path(name).stem}.html.jinja"
        body = bytes(render_page(template, menu_item, **values).body).decode()
        yield name, _add_head(_relative(body))


def _relative(text: str) -> str:
    """Replace the server's addresses in a page or a script by ones that hold in any folder.

    What a script imports is relative to the script, and all else is relative to the page.
    """
    text = re.sub(r"""(\b(?:from|import) ["'])/static/""", r"\1./", text)
    text = re.sub(r"""(["'`])/static/""", r"\1static/", text)
    text = re.sub(r"""(href="|["'`](?=/\?))/(?=["?#])""", r"\1./", text)
    for menu_item, address in MENU.items():
        if address != "/":
            name = PAGES.get(menu_item, "")
            text = re.sub(rf"""(["'`]){address}(?=["'`?#])""", rf"\1{name}", text)
    return text


def _add_head(page: str) -> str:
    """Add the content policy and the manifest to a page."""
    charset = '<meta charset="utf-8">\n'
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
    manifest = '<link rel="manifest" href="manifest.webmanifest">\n'
    theme = f'<meta name="theme-color" content="{MANIFEST["theme_color"]}">\n'
    return page.replace(charset, charset + policy + manifest + theme, 1)


def _service_worker(folder: Path, names: Sequence[str]) -> str:
    """Return the script that keeps the files for offline use."""
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(name.encode() + (folder / name).read_bytes())
    script = SERVICE_WORKER.replace("$VERSION", digest.hexdigest()[:12])
    return script.replace("$FILES", json.dumps(["./", *names]))


@dataclass(frozen=True)
class SiteConfig:
    """Options of the command line."""

    folder: Annotated[Path, tyro.conf.Positional]
    """Folder to write the site to."""


def run(arguments: Sequence[str], console: Console) -> None:
    """Read the command line and write the site."""
    config = tyro.cli(SiteConfig, args=arguments, description=__doc__)
    if config.folder.is_file():
        raise ValueError(f"the site is a folder, and {str(config.folder)!r} is a file")
    names = build(config.folder)
    size = sum((config.folder / name).stat().st_size for name in names)
    console.print(f"{len(names)} files, {size / 1e6:.1f} MB in {config.folder}", markup=False)


if __name__ == "__main__":
    raise SystemExit(run_command(run))

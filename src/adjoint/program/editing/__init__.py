"""Programs in an editor: findings, meanings of words, completions, and a server that tells them.

| file | contents |
|---|---|
| `client_positions` | places as editors count them: lines and columns of UTF-16 |
| `language_help` | what an editor asks, as plain functions |
| `serving` | the language server, by pygls (extra `[lsp]`) |
"""

from .language_help import Completion as Completion
from .language_help import completions as completions
from .language_help import findings as findings
from .language_help import hover as hover
from .serving import language_server as language_server

__all__ = ["Completion", "completions", "findings", "hover", "language_server"]


def __dir__() -> list[str]:
    return __all__

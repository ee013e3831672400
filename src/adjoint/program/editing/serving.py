"""The language server: editors show errors, meanings of words and completions while a program is written."""

from __future__ import annotations

from typing import Any

from ...errors import AdjointError, ArgumentError
from ...extras import package
from ..instructions.diagnostics import Diagnostic
from ..instructions.sources import Span
from ..languages.front_ends import FRONT_ENDS, language_of, parse, to_text
from .client_positions import ClientPositions
from .language_help import completions, findings, hover

__all__ = ["language_server"]

_KINDS = {"keyword": "Keyword", "function": "Function", "unit": "Unit", "variable": "Variable"}
_SEVERITIES = {"error": "Error", "warning": "Warning", "note": "Information"}
_MOST = 200  # findings that are shown in one file


def language_server(version: str = "") -> Any:
    """A language server for AL, VAL, AML, AUTOPASS and RAPT, by pygls: `language_server().start_io()` serves an editor.

    It reports all findings of `check` as the text changes, explains the word under the pointer, completes words, and
    formats whole files. The language is the editor's name of it, or is told by the suffix of the file. It opens no
    files and runs no program. It needs the extra `adjoint[lsp]`; `adjoint program --lsp` starts it.
    """
    types = package("lsprotocol.types", "lsp", "language_server")
    servers = package("pygls.lsp.server", "lsp", "language_server")
    # Whole texts are sent at each change: then there is no second opinion about where lines end.
    made = servers.LanguageServer("adjoint", version or "0", text_document_sync_kind=types.TextDocumentSyncKind.Full)

    def changed(parameters: Any) -> None:
        document = _Document(made, parameters, types)
        found = findings(document.text, document.language, name=document.name) if document.language else ()
        shown = [_diagnostic(d, document, types) for d in found[:_MOST]]
        made.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=document.uri, diagnostics=shown, version=document.version)
        )

    def closed(parameters: Any) -> None:
        gone = types.PublishDiagnosticsParams(uri=parameters.text_document.uri, diagnostics=[])
        made.text_document_publish_diagnostics(gone)

    def hovered(parameters: Any) -> Any:
        document = _Document(made, parameters, types)
        found = hover(document.text, document.language, document.offset(parameters)) if document.language else None
        if found is None:
            return None
        text = types.MarkupContent(kind=types.MarkupKind.PlainText, value=found[0])
        return types.Hover(contents=text, range=document.range(found[1]))

    def completed(parameters: Any) -> Any:
        document = _Document(made, parameters, types)
        found = completions(document.text, document.language, document.offset(parameters)) if document.language else ()
        kinds = types.CompletionItemKind
        items = [types.CompletionItem(c.text, kind=kinds[_KINDS[c.kind]], documentation=c.meaning) for c in found]
        return types.CompletionList(is_incomplete=False, items=items)

    def formatted(parameters: Any) -> Any:
        document = _Document(made, parameters, types)
        if not document.language:
            return None
        try:
            text = to_text(parse(document.text, document.language))
        except AdjointError:
            return None  # what is wrong is shown already
        if text == document.text:
            return []
        return [types.TextEdit(range=document.range(Span(0, len(document.text))), new_text=text)]

    made.feature(types.TEXT_DOCUMENT_DID_OPEN)(changed)
    made.feature(types.TEXT_DOCUMENT_DID_CHANGE)(changed)
    made.feature(types.TEXT_DOCUMENT_DID_CLOSE)(closed)
    made.feature(types.TEXT_DOCUMENT_HOVER)(hovered)
    made.feature(types.TEXT_DOCUMENT_COMPLETION)(completed)
    made.feature(types.TEXT_DOCUMENT_FORMATTING)(formatted)
    return made


class _Document:
    """The text that a request is about, its language ("" if it is unknown), and places in it as the editor counts."""

    def __init__(self, server: Any, parameters: Any, types: Any):
        # A document that is not open would be read from the disk by the workspace: the server opens no files.
        uri = parameters.text_document.uri
        document = server.workspace.text_documents.get(uri)
        self.text: str = "" if document is None else document.source
        self.uri, self.version = uri, None if document is None else document.version
        self.name = uri.rpartition("/")[2]
        self.language = "" if document is None else _language(uri, document.language_id or "")
        self._places = ClientPositions(self.text, str(getattr(server.workspace.position_encoding, "value", "utf-16")))
        self._types = types

    def offset(self, parameters: Any) -> int:
        """The character that a request points at."""
        return self._places.offset(parameters.position.line, parameters.position.character)

    def range(self, span: Span) -> Any:
        """A span as the editor counts; an empty one is one character long, so that it can be seen."""
        start = max(span.start, 0)
        ends = [self._places.position(offset) for offset in (start, max(span.end, start + 1))]
        return self._types.Range(*[self._types.Position(line, column) for line, column in ends])


def _language(uri: str, said: str) -> str:
    """The language of a document: what the editor says, or that of its suffix; "" if both are unknown."""
    if said.lower() in FRONT_ENDS:
        return said.lower()
    try:
        return language_of(uri)
    except ArgumentError:
        return ""


def _diagnostic(diagnostic: Diagnostic, document: _Document, types: Any) -> Any:
    message = f"{diagnostic.message}\nhint: {diagnostic.hint}" if diagnostic.hint else diagnostic.message
    return types.Diagnostic(
        range=document.range(diagnostic.span),
        message=message,
        severity=types.DiagnosticSeverity[_SEVERITIES[diagnostic.severity]],
        code=diagnostic.code or None,
        source="adjoint",
    )

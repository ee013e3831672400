"""The language server: editors show errors, meanings of words and completions while a program is written."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError
from ...extras import package
from ..instructions import Diagnostic, ProgramError, Source, Span
from ..languages.front_ends import language_of, parse, to_text
from .language_help import completions, findings, hover

__all__ = ["language_server"]

_KINDS = {"keyword": "Keyword", "function": "Function", "unit": "Unit", "variable": "Variable"}
_SEVERITIES = {"error": "Error", "warning": "Warning", "note": "Information"}


def language_server(version: str = "") -> Any:
    """A language server for AL, VAL, AML, AUTOPASS and RAPT, by pygls: `language_server().start_io()` serves an editor.

    It reports all findings of `check` as the text changes, explains the word under the pointer, completes words, and
    formats whole files. The language is told by the suffix of the file, or by the editor's name of it. It opens no
    files and runs no program. It needs the extra `adjoint[lsp]`; `adjoint program --lsp` starts it.
    """
    types = package("lsprotocol.types", "lsp", "language_server")
    made = package("pygls.lsp.server", "lsp", "language_server").LanguageServer("adjoint", version or "0")

    def changed(server: Any, parameters: Any) -> None:
        document = server.workspace.get_text_document(parameters.text_document.uri)
        source = Source(document.source, document.uri.rpartition("/")[2])
        language = _language(document)
        found = findings(source.text, language, name=source.name) if language else ()
        shown = [_diagnostic(d, document, source, types) for d in found]
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=document.uri, diagnostics=shown, version=document.version)
        )

    def hovered(server: Any, parameters: Any) -> Any:
        document = server.workspace.get_text_document(parameters.text_document.uri)
        language = _language(document)
        found = hover(document.source, language, document.offset_at_position(parameters.position)) if language else None
        if found is None:
            return None
        text = types.MarkupContent(kind=types.MarkupKind.Markdown, value=found[0])
        return types.Hover(contents=text, range=_range(found[1], document, Source(document.source), types))

    def completed(server: Any, parameters: Any) -> Any:
        document = server.workspace.get_text_document(parameters.text_document.uri)
        language = _language(document)
        offset = document.offset_at_position(parameters.position)
        found = completions(document.source, language, offset) if language else ()
        kinds = types.CompletionItemKind
        items = [types.CompletionItem(c.text, kind=kinds[_KINDS[c.kind]], documentation=c.meaning) for c in found]
        return types.CompletionList(is_incomplete=False, items=items)

    def formatted(server: Any, parameters: Any) -> Any:
        document = server.workspace.get_text_document(parameters.text_document.uri)
        language = _language(document)
        try:
            text = to_text(parse(document.source, language)) if language else document.source
        except ProgramError:
            return None  # what is wrong is shown already
        whole = _range(Span(0, len(document.source)), document, Source(document.source), types)
        return [types.TextEdit(range=whole, new_text=text)]

    made.feature(types.TEXT_DOCUMENT_DID_OPEN)(changed)
    made.feature(types.TEXT_DOCUMENT_DID_CHANGE)(changed)
    made.feature(types.TEXT_DOCUMENT_HOVER)(hovered)
    made.feature(types.TEXT_DOCUMENT_COMPLETION)(completed)
    made.feature(types.TEXT_DOCUMENT_FORMATTING)(formatted)
    return made


def _language(document: Any) -> str:
    """The language of a document: that of its suffix, or what the editor says; "" if both are unknown."""
    for name in (document.uri, f"x.{document.language_id or ''}"):
        try:
            return language_of(name)
        except ArgumentError:
            continue
    return ""


def _diagnostic(diagnostic: Diagnostic, document: Any, source: Source, types: Any) -> Any:
    message = f"{diagnostic.message}\n{diagnostic.hint}" if diagnostic.hint else diagnostic.message
    return types.Diagnostic(
        range=_range(diagnostic.span, document, source, types),
        message=message,
        severity=types.DiagnosticSeverity[_SEVERITIES[diagnostic.severity]],
        code=diagnostic.code or None,
        source="adjoint",
    )


def _range(span: Span, document: Any, source: Source, types: Any) -> Any:
    """A span as editors count, in the units of characters that the client asked for."""
    lines = document.lines
    ends = []
    for offset in (max(span.start, 0), max(span.end, span.start + 1, 1)):
        line, column = source.position(offset)
        place = types.Position(line=line - 1, character=column - 1)
        ends.append(document.position_codec.position_to_client_units(lines, place))
    return types.Range(start=ends[0], end=ends[1])

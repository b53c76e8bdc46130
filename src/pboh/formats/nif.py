"""A linked document as NIF 2.0 in Turtle, as GERBIL and other linked-data tools read it."""

from __future__ import annotations

from pboh.document import Document, Mention
from pboh.formats.identifiers import nil, resource
from pboh.formats.turtle import quoted
from pboh.formats.types import BY_NAME

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
HEAD = f"""@prefix nif: <{NIF}> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
DOCUMENT = "urn:pboh:document"


def to_nif(document: Document, uri: str = DOCUMENT) -> str:
    """The document and its phrases; offsets count code points, an unlinked mention gets a NIL address."""
    text = document.text.encode("utf-8", "replace").decode()  # a lone surrogate has no place in a Turtle file
    whole = f"{uri}#char=0,{len(text)}"
    phrases = (
        phrase_turtle(f"{uri}#char={m.start},{m.end}", m.start, m.end, whole, text[m.start : m.end], m)
        for m in document
    )
    return "".join([HEAD, context_turtle(whole, len(text), text), *phrases])


def context_turtle(uri: str, length: int, text: str) -> str:
    """A text as a context of ``length`` units."""
    return (
        f"\n<{uri}> a nif:Context, nif:String, nif:RFC5147String ;\n"
        f'    nif:beginIndex "0"^^xsd:nonNegativeInteger ;\n'
        f'    nif:endIndex "{length}"^^xsd:nonNegativeInteger ;\n'
        f"    nif:isString {quoted(text)} .\n"
    )


def phrase_turtle(uri: str, start: int, end: int, context: str, surface: str, mention: Mention) -> str:
    """A mention as a phrase with its meaning and how sure it is."""
    meaning = resource(mention.entity) if mention.entity else nil(surface)
    kind = mention.entity.type if mention.entity else None
    of_class = f"    itsrdf:taClassRef <{BY_NAME[kind].uri}> ;\n" if kind and kind != "unknown" else ""
    return (
        f"\n<{uri}> a nif:Phrase, nif:String, nif:RFC5147String ;\n"
        f"    nif:anchorOf {quoted(surface)} ;\n"
        f'    nif:beginIndex "{start}"^^xsd:nonNegativeInteger ;\n'
        f'    nif:endIndex "{end}"^^xsd:nonNegativeInteger ;\n'
        f"    nif:referenceContext <{context}> ;\n"
        f"    itsrdf:taIdentRef <{meaning}> ;\n{of_class}"
        f'    itsrdf:taConfidence "{mention.probability:.6f}"^^xsd:double .\n'
    )

"""A linked document as NIF 2.0 in Turtle, as GERBIL and other linked-data tools read it."""

from __future__ import annotations

from pboh.document import Document
from pboh.service.identifiers import dbpedia, nil

_HEAD = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
_QUOTED = str.maketrans(
    {chr(c): f"\\u{c:04X}" for c in (*range(32), 127)} | {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
)
DOCUMENT = "urn:pboh:document"


def to_nif(document: Document, uri: str = DOCUMENT) -> str:
    """The document and its phrases; offsets count code points, an unlinked mention gets a NIL address."""
    parts = [
        _HEAD,
        f"\n<{uri}#char=0,{len(document.text)}> a nif:Context, nif:String, nif:RFC5147String ;\n"
        f'    nif:beginIndex "0"^^xsd:nonNegativeInteger ;\n'
        f'    nif:endIndex "{len(document.text)}"^^xsd:nonNegativeInteger ;\n'
        f"    nif:isString {_string(document.text)} .\n",
    ]
    for mention in document:
        meaning = dbpedia(mention.entity.title) if mention.entity else nil(mention.text)
        parts.append(
            f"\n<{uri}#char={mention.start},{mention.end}> a nif:Phrase, nif:String, nif:RFC5147String ;\n"
            f"    nif:anchorOf {_string(mention.text)} ;\n"
            f'    nif:beginIndex "{mention.start}"^^xsd:nonNegativeInteger ;\n'
            f'    nif:endIndex "{mention.end}"^^xsd:nonNegativeInteger ;\n'
            f"    nif:referenceContext <{uri}#char=0,{len(document.text)}> ;\n"
            f"    itsrdf:taIdentRef <{meaning}> ;\n"
            f'    itsrdf:taConfidence "{mention.probability:.4f}"^^xsd:double .\n'
        )
    return "".join(parts)


def _string(text: str) -> str:
    clean = text.encode("utf-8", "replace").decode()  # a lone surrogate has no place in a Turtle file
    return f'"{clean.translate(_QUOTED)}"'

"""Texts in the formats that the description of the service names but cannot describe."""

import json

import schemathesis
from hypothesis import strategies as st

words = st.lists(st.sampled_from(["Jordan", "Bulls", "won", "Müller", "Bayern,"]), min_size=1).map(" ".join)
schemathesis.openapi.format(
    "nif",
    words.map(
        lambda text: (
            "@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
            f'<http://example.org/d#char=0,{len(text)}> a nif:Context ; nif:isString "{text}" .'
        )
    ),
)
schemathesis.openapi.format("spotlight-xml", words.map(lambda text: f'<annotation text="{text}"/>'))
types = st.lists(st.sampled_from(["person", "place", "unknown"]), max_size=3)
schemathesis.openapi.format("types", types.map(",".join))
classes = st.lists(st.sampled_from(["DBpedia:Person", "Schema:Place", "work"]), max_size=3)
schemathesis.openapi.format("spotlight-types", classes.map(",".join))
schemathesis.openapi.format(
    "reconciliation-queries",
    st.dictionaries(st.text(), st.fixed_dictionaries({"query": words}), max_size=5).map(json.dumps),
)

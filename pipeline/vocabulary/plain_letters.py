"""Texts without accents, for comparing words that people spell with and without them."""

import unicodedata

# fractions and powers are no numbers of a name: ¾ is a byte of a Japanese one
SPELT_OUT = str.maketrans(
    dict.fromkeys("¼½¾¹²³", " ") | {"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "œ": "oe", "ł": "l", "\u0131": "i"}
)


def without_accents(text: str) -> str:
    """Return a text without accents: ``Größe`` becomes ``Grosse``."""
    letters = unicodedata.normalize("NFKD", text.translate(SPELT_OUT))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))

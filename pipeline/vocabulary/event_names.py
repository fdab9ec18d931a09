"""Names of foot strikes, foot offs and sides in event labels, from several makers and in several languages.

Names that are not recognised are reported, never guessed.
"""

import re
import unicodedata
from collections.abc import Iterable

STRIKE, OFF = "foot_strike", "foot_off"
# parts of a label, lower case, only letters, without accents
KINDS = {
    STRIKE: (
        "strike|contact|touchdown|landing|footon|heelon"
        "|kontakt|aufsatz|aufsetz|auftritt|hielaanraking"  # German, Dutch
        "|attaque|appui|posedu(pied|talon)"  # French
        "|contatto|appoggio"  # Italian
        "|contacto|contato|apoyo|apoio|choque"  # Spanish, Portuguese
    ),
    OFF: (
        "(foot|toe|lift)off|takeoff"
        "|abheb|ablos|abstoss|loslat"
        "|decoll|leve(r|e)du(pied|talon)"
        "|stacco"
        "|despeg|desprendimento"
    ),
}
SHORT = {STRIKE: ("hs", "ic", "fs", "fc", "td"), OFF: ("to", "fo")}  # HS, LHS, L HS
WITH_SIDE = {f"{side}{word}": kind for kind, word in ((STRIKE, "on"), (OFF, "off")) for side in "lr"}  # of Visual3D
END = re.compile("ende?(of)?|fin|fim")  # the end of a contact is a foot off
# events of the other foot and phases of a stance
OTHERS = re.compile(
    "opposite|opposee|opposto|opuest|contralateral|controlateral|gegenseit|doubl|doppi|dobl|dupl|mid|miappui"
)

SIDES = {
    "left": "left lft lt links linke linkes gauche sinistro sinistra sx izquierdo izquierda izq esquerdo esquerda",
    "right": "right rgt rt rechts rechte rechtes droit droite destro destra dx derecho derecha der direito direita",
}
LETTERS = {"left": "lg", "right": "rd"}  # in a label only the English ones, as first or last word


def kind_in(label: str) -> str:
    """Return ``foot_strike``, ``foot_off``, or empty if a label names none or both."""
    words = words_of(label)
    text, last = "".join(words), words[-1] if words else ""
    if OTHERS.search(text):
        return ""
    if len(words) == 1 and last in WITH_SIDE:
        return WITH_SIDE[last]
    short = last[1:] if len(last) == 3 and last[0] in "lr" else last
    kinds = [kind for kind, parts in KINDS.items() if re.search(parts, text) or short in SHORT[kind]]
    if kinds == [STRIKE] and END.match(text):
        return OFF
    return kinds[0] if len(kinds) == 1 else ""


def side_in(text: str, *, context: bool = False) -> str:
    """Return ``left``, ``right``, or empty if a label or context names none or both."""
    words = words_of(text)
    short = SHORT[STRIKE] + SHORT[OFF]
    ends = {
        word[0] for word in (*words[:1], *words[-1:])
        if len(word) == 1 or word[1:] in short or (len(words) == 1 and word in WITH_SIDE)
    }  # fmt: skip
    sides = [side for side, names in SIDES.items() if set(words) & set(names.split())]
    sides = sides or [side for side, letters in LETTERS.items() if ends & set(letters if context else letters[0])]
    return sides[0] if len(sides) == 1 else ""


def not_understood(events: Iterable[tuple[str, str]]) -> list[str]:
    """Return the labels of events that are not used: without a kind (``Trigger``), or without a side.

    Args:
        events: label, and the side from its context or an empty text.
    """
    used = {label: bool(kind_in(label) and (side or side_in(label))) for label, side in events}
    return [label for label, is_used in used.items() if not is_used]


def words_of(text: str) -> list[str]:
    """Return the lower-case words of a label, without accents and French articles."""
    apart = re.sub(r"(?<=[a-zß])(?=[A-Z])", " ", text).replace("\u2019", "'")
    plain = unicodedata.normalize("NFKD", apart.casefold()).encode("ascii", "ignore").decode()
    return re.findall("[a-z]+", re.sub(r"\b[ld]'", " ", plain))

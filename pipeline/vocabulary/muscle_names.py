"""Muscles and sides in the labels of analog channels, in full or as abbreviations, from several makers.

A channel that is taken for a muscle but is none misleads, one that is missed can be named in ``clean.emg_channels``:
every part of a label must be known, and the side must be in it. ``GM`` (gastrocnemius medialis or gluteus medius) and
``biceps`` alone are not recognised.

Source of names: Hermens HJ et al. (1999) European Recommendations for Surface ElectroMyoGraphy (SENIAM).
"""

import re
from collections.abc import Iterable, Sequence

from .event_names import SIDES, words_of

# parts of names, lower case without accents, longest first
PARTS = {
    "rectus": "rectus|retto|recto|reto|rect|rec",
    "vastus": "vastus|vasto|vaste|vast|vas",
    "quadriceps": "quadriceps|cuadriceps|quadri|quads|quad",
    "biceps": "biceps|bicipite|bicep|bic",
    "semitendinosus": "semitendinosus|semitendinoso|semitend|semiten|semit",
    "semimembranosus": "semimembranosus|semimembranoso|semimemb|semimem|semim",
    "hamstrings": "hamstrings|hamstring|hamst|hams|ham|ischiojambiers|isquiotibiales|isquiotibiais|ischiocrurali",
    "tibialis": "tibialis|tibiale|tibial|tib|jambier",
    "gastrocnemius": "gastrocnemius|gastrocnemien|gastrocnemio|gastroc|gastrocn|gastro|gastr|gast|gas|gemelo|gemello",
    "soleus": "soleus|soleaire|soleo|sol",
    "peroneus": "peroneus|peronaeus|peroneal|peroneo|fibularis|peron|per",
    "gluteus": "gluteus|gluteo|glutaeus|gluteal|glute|glut|fessier",
    "adductor": "adductors|adductor|adducteurs|adducteur|aductores|aductor|adduttore|adutor|add",
    "sartorius": "sartorius|sartorio|sart",
    "gracilis": "gracilis|gracile|grac",
    "iliopsoas": "iliopsoas|ileopsoas|psoas",
    "tensor": "tensor|tensore|tenseur",
    "fasciae latae": "fasciaelatae|fascialatae|fascialata",
    "extensor": "extensor|ext",
    "flexor": "flexor|flex",
    "digitorum": "digitorum|dig",
    "hallucis": "hallucis|hall|hal",
    "femoris": "femoris|femorale|femoral|fem",
    "medial": "medialis|mediale|medial|medius|medio|med|moyen|interno|interne",
    "lateral": "lateralis|laterale|lateral|lat|externo|externe",
    "oblique": "obliquus|oblique|obl",
    "intermedius": "intermedius|intermedio|intermed",
    "anterior": "anterior|anteriore|anterieur|ant",
    "posterior": "posterior|posteriore|posterieur|post",
    "long": "longus|longum|long|lungo|largo|longo",
    "brevis": "brevis|breve|brev",
    "maximus": "maximus|maximo|massimo|mayor|max|grande|grand",
    "minimus": "minimus|minimo|min",
    "magnus": "magnus|magno|magn",
}
# muscles from the hip to the foot, each with the parts that name it (in any order), then its abbreviations
MUSCLES = {
    "gluteus_maximus": ("gluteus maximus", "gmax glmax gluma"),
    "gluteus_medius": ("gluteus medial", "gmed glmed glume"),
    "gluteus_minimus": ("gluteus minimus", "gmin"),
    "gluteus": ("gluteus", ""),
    "tensor_fasciae_latae": ("tensor, tensor fasciae latae", "tfl"),
    "iliopsoas": ("iliopsoas", ""),
    "sartorius": ("sartorius", ""),
    "gracilis": ("gracilis", ""),
    "adductor_longus": ("adductor long", "addl"),
    "adductor_magnus": ("adductor magnus", "addm"),
    "adductor_brevis": ("adductor brevis", ""),
    "adductors": ("adductor", ""),
    "rectus_femoris": ("rectus, rectus femoris", "rf"),
    "vastus_medialis": ("vastus medial, vastus medial oblique", "vm vmo"),
    "vastus_intermedius": ("vastus intermedius", ""),
    "vastus_lateralis": ("vastus lateral, vastus lateral oblique", "vl vlo"),
    "vastus": ("vastus", ""),
    "quadriceps": ("quadriceps, quadriceps femoris", ""),
    "biceps_femoris": ("biceps femoris, biceps femoris long", "bf bflh bfl"),
    "lateral_hamstrings": ("hamstrings lateral", "lh"),
    "semitendinosus": ("semitendinosus", "st"),
    "semimembranosus": ("semimembranosus", "sm"),
    "medial_hamstrings": ("hamstrings medial", "mh"),
    "hamstrings": ("hamstrings", ""),
    "gastrocnemius_medialis": ("gastrocnemius medial", "mg gasm gcm gmh"),
    "gastrocnemius_lateralis": ("gastrocnemius lateral", "lg gl gasl gcl glh"),
    "gastrocnemius": ("gastrocnemius", ""),
    "soleus": ("soleus", ""),
    "peroneus_longus": ("peroneus long", "pl fl perl"),
    "peroneus_brevis": ("peroneus brevis", "perb"),
    "peroneus": ("peroneus", "pe"),
    "tibialis_anterior": ("tibialis anterior, tibialis", "ta"),
    "tibialis_posterior": ("tibialis posterior", ""),
    "extensor_digitorum_longus": ("extensor digitorum, extensor digitorum long", "edl"),
    "extensor_hallucis_longus": ("extensor hallucis, extensor hallucis long", "ehl"),
    "flexor_digitorum_longus": ("flexor digitorum, flexor digitorum long", "fdl"),
    "flexor_hallucis_longus": ("flexor hallucis, flexor hallucis long", "fhl"),
}  # fmt: skip
# words that do not name the muscle
OTHER_WORDS = (
    "emg", "semg", "raw", "voltage", "volt", "volts", "v", "mv", "u", "uv", "microvolt", "microvolts", "millivolt",
    "millivolts", "electric", "potential", "analog", "channel", "chan", "ch", "sensor", "muscle", "musculus",
    "musculo", "m", "im", "delsys", "trigno", "avanti", "noraxon", "ultium", "cometa", "zerowire", "aurion", "myon",
    "wave", "plus", "bts", "side", "de", "do", "di",
)  # fmt: skip
LETTERS = {"left": ("lt", "lft", "l"), "right": ("rt", "rgt", "r")}  # before or behind a name without a gap
WORDS = {
    side: frozenset((*names.split(), LETTERS[side][-1], {"left": "li", "right": "re"}[side]))
    for side, names in SIDES.items()
}
_BY_WORD = {word: part for part, words in PARTS.items() for word in words.split("|")}
_PART = re.compile("|".join(sorted(_BY_WORD, key=len, reverse=True)))
_BY_PARTS = {
    frozenset(re.findall("fasciae latae|[a-z]+", parts)): muscle
    for muscle, (names, _) in MUSCLES.items()
    for parts in names.split(", ")
}
_BY_ABBREVIATION = {short: muscle for muscle, (_, shorts) in MUSCLES.items() for short in shorts.split()}


def muscles_in(labels: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return side and muscle of each label of a file that names both.

    An abbreviation counts only if the file has channels of two muscles or more: ``RST`` alone may be a reset.
    """
    texts = {label: [word for word in words_of(label) if word not in OTHER_WORDS] for label in labels}
    muscles = {label: one for label, words in texts.items() if (one := _side_and_muscle(words, texts.values()))}
    several = len({(side, muscle) for side, muscle, _ in muscles.values()}) > 1
    return {label: (side, muscle) for label, (side, muscle, short) in muscles.items() if several or not short}


def in_order(muscles: Iterable[str]) -> list[str]:
    """Return muscles once each, from the hip to the foot, then those that are not in :data:`MUSCLES`."""
    order = [*MUSCLES]
    once = list(dict.fromkeys(muscles))
    return sorted(once, key=lambda name: order.index(name) if name in order else len(order))


def _side_and_muscle(words: Sequence[str], every: Iterable[Sequence[str]]) -> tuple[str, str, bool] | None:
    """Return side and muscle of a label's words, and whether it is abbreviated; ``every`` is of all labels."""
    sides = [side for side, names in WORDS.items() if names & {*words}]
    if len(sides) == 1:
        muscle = _muscle("".join(word for word in words if word not in WORDS[sides[0]]))
        return (sides[0], *muscle) if muscle else None
    text = "".join(words)
    if sides or (text.startswith("l") and f"m{text[1:]}" in ("".join(other) for other in every)):
        return None  # L is lateral beside the same with M
    rests = [(side, text.removeprefix(letters)) for side, starts in LETTERS.items() for letters in starts]
    rests += [(side, text.removesuffix(letters)) for side, ends in LETTERS.items() for letters in ends]
    meanings = {(side, *muscle) for side, rest in rests if rest != text and (muscle := _muscle(rest))}
    return meanings.pop() if len(meanings) == 1 else None


def _muscle(text: str) -> tuple[str, bool] | None:
    """Return the muscle that a text without the side names, and whether by an abbreviation."""
    if text in _BY_ABBREVIATION:
        return _BY_ABBREVIATION[text], True
    words = _PART.findall(text)
    muscle = _BY_PARTS.get(frozenset(_BY_WORD[word] for word in words)) if "".join(words) == text else None
    return (muscle, False) if muscle else None

"""What to do about what ``gaitlab verify`` finds, and the table of it."""

from collections.abc import Sequence
from pathlib import Path

from ...errors import Problem, UserError, as_argument
from ...extra import every_extra
from ...results.whole_files import REMEDY
from ...tables.terminal_table import align
from ...workflow import checksums
from ...workflow.command_files import once_for_all, words_of
from ...workflow.preparation import refuse_lost_records

WRITTEN = [each for extra in every_extra().values() for each in extra.files]  # by commands of extras
REMEDIES = {  # what to do, by code
    "recording_missing": "restore it, or run again",
    "recording_changed": "restore it, or run again",
    "result_missing": "run again",
    "result_changed": "run again",
    "table_changed": "run again; the changed table is kept",
    "result_damaged": REMEDY,
    "result_without_record": "run again",
    "result_of_earlier_input": REMEDY,
    "result_outdated": "run again",
    "comparison_outdated": "run again",
    "pdf_outdated": "print or write it again",
    "c3d_copy_outdated": "write the copies again",
    "export_outdated": "export it again",
    "review_outdated": "review again and write the new review_sha256, or change the status",
    "command_file_changed": "write it again; keep a copy if you edited it",
    **{each.code: each.remedy for each in WRITTEN},
}
OF_COMMANDS = {  # the code of a file of earlier results, by the command that wrote it
    "compare": "comparison_outdated",
    "report": "pdf_outdated",
    "write-c3d": "c3d_copy_outdated",
    "export": "export_outdated",
}
REMOVED = [code for code, remedy in REMEDIES.items() if remedy == REMEDY]
HEADER = ("file", "what is wrong", "what to do")


def fault_of(where: str, what: str, code: str) -> Problem:
    """Return a fault with its remedy."""
    return Problem(where, what, REMEDIES[code], code)


def run_command(folder: Path) -> str:
    """Return the command that makes the results again, of all if the records of a run are lost."""
    try:
        refuse_lost_records(folder)
        forced = ""
    except UserError:
        forced = " --forceall"
    return f"gaitlab run {as_argument(folder)}{forced}"


def several(first: str, count: int) -> str:
    """Return the first of some names, and how many more there are."""
    return first if count == 1 else f"{first} and {count - 1} more"


def as_text(faults: Sequence[Problem], summary: str, folder: Path, *, width: int) -> str:
    """Return the table of problems and the commands that solve them.

    An equal problem of an output in many sessions, or of C3D copies, is one row; so is a change of a setting or
    library, whatever outputs it makes outdated.
    """
    if not faults:
        return f"{summary}\nNone has changed; settings and code are those of the results."
    codes, study = {fault.code for fault in faults}, as_argument(folder)
    rows: dict[tuple[str, str, object], list[str]] = {}
    for fault in faults:
        file = Path(fault.where)
        same = {"c3d_copy_outdated": file.parent, "result_outdated": ""}.get(fault.code, file.name)
        rows.setdefault((fault.what, fault.remedy, same), []).append(fault.where)
    together = [(several(files[0], len(files)), what, remedy) for (what, remedy, _), files in rows.items()]
    commands = [f"rm {as_argument(folder / fault.where)}" for fault in faults if fault.code in REMOVED]
    runs = ("recording", "result", "table", "comparison")
    commands += [run_command(folder)] * any(code.startswith(runs) for code in codes)
    again = {"command_file_changed", *OF_COMMANDS.values()} - {"comparison_outdated"}  # no run writes these files
    names = [fault.where.removeprefix("derived/") for fault in faults if fault.code in again]
    records = (checksums.recorded(folder / "derived", name) for name in names)
    written = once_for_all(record.command for record in records if record)
    commands += dict.fromkeys(words_of(folder, command) for command in written)
    commands += [each.command.format(study=study) for each in WRITTEN if each.code in codes]
    solution = "\n".join(["To solve this:", *(f"  {command}" for command in commands)])
    return "\n\n".join([align([HEADER, *together], width=width), solution, summary])

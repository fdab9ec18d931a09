"""Names of the steps that every study has."""

from pipeline.step import every_step

_OF_EVERY_STUDY = [step for step in every_step().values() if not step.only_if]
SESSION_STEPS = tuple(step.name for step in _OF_EVERY_STUDY if step.scope == "session")
# by name of the output: the step that writes it
SESSION_OUTPUTS = {name: step.name for step in _OF_EVERY_STUDY if step.scope == "session" for name in step.outputs}
STEPS = tuple(step.name for step in _OF_EVERY_STUDY if not step.section)  # page and page_files belong to report

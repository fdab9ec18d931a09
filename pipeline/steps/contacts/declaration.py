"""The step ``contacts``."""

from ...step import EVERYTHING, Output, Step

CONTACTS = Step(
    name="contacts",
    function="pipeline.steps.contacts.step:contacts",
    settings="pipeline.steps.contacts.settings:Settings",
    inputs={"clean": EVERYTHING},
    takes=("corrections",),
    cells="pipeline.steps.contacts.cells:cells",
    outputs={
        "contacts": Output(
            files=("{session}/contacts.nc",),
            title="Ground contacts, ground wrench per side and gait events of a session",
            variables="pipeline.variables.session_variables:CONTACTS",
        )
    },
)

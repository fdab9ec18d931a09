"""The extra ``teaching``: modules to import in lessons, without a command or step."""

from ...extra import Extra

EXTRA = Extra("teaching")

"""The extra ``viewer``: the command ``gaitlab view``."""

from ...extra import Extra

EXTRA = Extra("viewer", commands="pipeline.extras.viewer.command_table:COMMANDS")

"""Canonical names: a list of names in, groups of those that mean the same out, each merge with its reason."""

from __future__ import annotations

from pboh.canonical.grouping import THRESHOLD, canonical
from pboh.canonical.groups import Group, Groups, Member

__all__ = ["THRESHOLD", "Group", "Groups", "Member", "canonical"]

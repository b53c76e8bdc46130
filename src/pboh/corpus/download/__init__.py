"""Fetching a dump from a Wikimedia mirror, with resume and verified checksums."""

from pboh.corpus.download.folder import download, dump_files, id_table
from pboh.corpus.download.http import Manners

__all__ = ["Manners", "download", "dump_files", "id_table"]

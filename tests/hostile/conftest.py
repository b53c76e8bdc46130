"""The fixtures of a served model."""

from applications import address, client, limits

__all__ = ["address", "client", "limits"]

"""What a client is told when a request cannot be answered: a status and one sentence."""

from __future__ import annotations

from pboh.errors import InputError, PbohError


class ServiceError(PbohError):
    """A request that cannot be answered; ``status`` is its HTTP status."""

    status = 400


class TooLargeError(ServiceError):
    """More bytes, mentions or documents than the server's limits allow."""

    status = 413


class NotFoundError(ServiceError):
    """What was asked for does not exist."""

    status = 404


class NotAcceptableError(ServiceError):
    """The client takes none of the formats there are."""

    status = 406


class WrongTypeError(ServiceError):
    """The request is not in a format this address understands."""

    status = 415


class UnprocessableError(ServiceError):
    """The request can be read but makes no sense."""

    status = 422


class UnavailableError(ServiceError):
    """The server cannot answer now, but may in a moment."""

    status = 503


def status_of(error: PbohError) -> int:
    """The HTTP status that tells a client whose fault an error is."""
    if isinstance(error, ServiceError):
        return error.status
    return 422 if isinstance(error, InputError) else 500

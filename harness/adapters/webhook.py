"""Post the report of a night as JSON to an address of the user, for example of a chat."""

from __future__ import annotations

import requests

from harness.domain.errors import InfrastructureError

TIMEOUT_SECONDS = (10.0, 30.0)


def post(address: str, text: str) -> int:
    """Post JSON text; returns the status. The address may hold a secret and is never shown.

    Raises:
        InfrastructureError: nobody answered, or the answer was a refusal.
    """
    headers = {"Content-Type": "application/json"}
    try:
        answer = requests.post(address, data=text.encode(), headers=headers, timeout=TIMEOUT_SECONDS)
    except requests.RequestException as error:
        raise InfrastructureError(
            f"the webhook does not answer: {type(error).__name__}", where="--webhook", hint="check its address"
        ) from None
    if not answer.ok:
        raise InfrastructureError(
            f"the webhook refused: HTTP {answer.status_code}", where="--webhook", hint="check its address"
        )
    return answer.status_code

"""Addresses of proxies in the environment, which may contain a password."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies

from everycell.base.errors import DataError

#: Schemes of proxies that the network libraries know.
_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")


def check_proxies() -> None:
    """Refuse a malformed address of a proxy, which network libraries quote or fail on in any way.

    The message has the name of the variable only, since the address may contain a password.
    """
    proxies = getproxies()
    for kind in ("http", "https", "all"):
        if kind in proxies and not _is_valid(proxies[kind]):
            raise DataError(
                column=f"the environment variable {kind}_proxy",
                fault="is not a valid address (not shown, since it may contain a password)",
                expected="an address such as http://proxy.example.org:8080",
                fix="correct or unset it",
            )


def _is_valid(address: str) -> bool:
    try:
        # Without a scheme, libraries add one.
        parts = urlsplit(address if "://" in address else f"http://{address}")
        # Reading an invalid port raises an error.
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    host = parts.hostname or ""
    is_plain = parts.path in ("", "/") and not (parts.query or parts.fragment)
    is_name = host.isascii() and host.isprintable() and " " not in host and "%" not in host
    # `urlsplit` drops line breaks and tabs.
    is_printed = address.isascii() and address.isprintable() and " " not in address
    return (
        parts.scheme in _SCHEMES and bool(host) and is_plain and has_port and is_name and is_printed
    )

"""Certificates that tests show and believe; `make.sh` has made them."""

from pathlib import Path

HERE = Path(__file__).parent


def pem(name):
    return HERE / f"{name}.pem"


def key(name):
    return HERE / f"{name}.key"


def shows(name, ca=None):
    """Options of a server, ours or MariaDB's, or of one of MariaDB's clients, with that certificate."""
    options = [f"--ssl-cert={pem(name)}", f"--ssl-key={key(name)}"]
    return [*options, f"--ssl-ca={pem(ca)}"] if ca else options

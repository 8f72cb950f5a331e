"""Certificates for the tests, made by `make.sh`."""

from pathlib import Path

HERE = Path(__file__).parent


def pem(name):
    return HERE / f"{name}.pem"


def key(name):
    return HERE / f"{name}.key"


def shows(name, ca=None):
    """Returns the options with this certificate for a server, ours or MariaDB's, or for one of MariaDB's clients."""
    options = [f"--ssl-cert={pem(name)}", f"--ssl-key={key(name)}"]
    return [*options, f"--ssl-ca={pem(ca)}"] if ca else options

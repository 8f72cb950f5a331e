"""Chains of servers, each the replica of the one before. The fixture `chain` starts them."""

import pytest
from support.replication import wait_for_replica


def chains(kinds_by_name, names=()):
    """Runs a test with a `chain` fixture of each of these kinds, or of those in `names`."""
    names = names or list(kinds_by_name)
    return pytest.mark.parametrize("chain", [kinds_by_name[name] for name in names], ids=names, indirect=True)


def wait_for_all(chain):
    """Waits until all servers of a chain have everything."""
    for primary, replica in zip(chain, chain[1:]):
        wait_for_replica(replica, primary)

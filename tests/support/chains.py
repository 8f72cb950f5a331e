"""Chains of servers, of which each is the replica of the one before: the fixture `chain` starts them."""

import pytest
from support.replication import wait_for_replica


def chains(kinds_by_name, names=()):
    """Runs a test with the fixture `chain` of each of these, or of those that are named."""
    names = names or list(kinds_by_name)
    return pytest.mark.parametrize("chain", [kinds_by_name[name] for name in names], ids=names, indirect=True)


def wait_for_all(chain):
    """Waits until everything has come down a chain."""
    for primary, replica in zip(chain, chain[1:]):
        wait_for_replica(replica, primary)

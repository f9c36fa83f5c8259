"""Values of formats that patterns alone cannot describe, for schemathesis."""

from datetime import datetime, timezone

import schemathesis
from hypothesis import strategies as st

NAMES = st.from_regex(r"[A-Z][A-Za-z0-9_$]{0,8}", fullmatch=True)
MODULES = st.from_regex(r"[a-z][a-z_]{6,12}", fullmatch=True)
ADDRESSES = st.from_regex(r"0x[0-9a-f]{1,64}", fullmatch=True)
PRIMITIVES = st.sampled_from(["bool", "u8", "u64", "u128", "u256", "address", "signer"])


def structs(arguments):
    lists = st.lists(arguments, max_size=3).map(lambda types: f"<{', '.join(types)}>" if types else "")
    parts = st.tuples(ADDRESSES, MODULES, NAMES, lists)
    return parts.map(lambda part: f"{part[0]}::{part[1]}::{part[2]}{part[3]}")


TYPES = st.recursive(
    PRIMITIVES,
    lambda inner: st.one_of(inner.map(lambda one: f"vector<{one}>"), structs(inner)),
    max_leaves=4,
)
STRUCTS = structs(TYPES)
# Modules of the framework: names of a state key that listings give as a cursor.
CURSORS = MODULES.map(
    lambda name: (b"\x00" + b"\x00" * 31 + b"\x01" + bytes([34 + len(name)]) + b"\x00" + b"\x00" * 31 + b"\x01")
    .hex() + bytes([len(name)]).hex() + name.encode().hex()
)

schemathesis.openapi.format("move-struct-tag", STRUCTS)
schemathesis.openapi.format("move-asset-type", st.one_of(ADDRESSES, STRUCTS))
schemathesis.openapi.format("state-key", CURSORS)


TIMES = st.datetimes(
    min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(timezone.utc)
).map(lambda time: "@" + time.isoformat().replace("+00:00", "Z"))
VERSIONS = st.integers(min_value=0, max_value=2**64 - 1).map(str)

schemathesis.openapi.format("version-or-time", st.one_of(VERSIONS, TIMES))

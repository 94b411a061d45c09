"""Settings, rebuild, verify, doctor, tidy, backup."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInput, NotAllowed, Unavailable
from muniment.gate.unit import Unit
from muniment.jobs import outbox, schedules
from muniment.records.record import Kind, Status
from muniment.records.table import Filter
from muniment.scope import Channel, Principal
from muniment.store.verify import Verification
from muniment.store.verify import verify as verify_chains
from muniment.verbs import forgetting
from muniment.verbs.parts import FRESH_MAX, Parts, rebuild
from muniment.verbs.paths import path_of

Progress = Callable[[int, int], None]  # (done, total)
HELD_COUNTED_MAX = 10_000

SWITCHES = {"pause", "pause_writes", "pause_recall", "disable_kinds"}


def settings(
    parts: Parts, principal: Principal, changes: Mapping[str, Any], *, tenant_wide: bool
) -> dict[str, Any]:
    """Read or change the switches of the user (or, for an admin, of the tenant)."""
    checked = _checked(changes)
    owner = "" if tenant_wide else principal.subject
    if owner is None:
        raise InvalidInput("settings.no_user", "settings: the principal names no user")
    if not changes:
        return parts.read(principal, lambda unit: _shown(*unit.ledger.settings(owner)))
    if principal.channel is Channel.AGENT:
        raise NotAllowed("settings.channel", "the agent channel cannot change settings")
    if tenant_wide and principal.channel is not Channel.ADMIN:
        raise NotAllowed("settings.admin_only", "only an admin changes the tenant's settings")

    def work(unit: Unit) -> dict[str, Any]:
        data, version = unit.ledger.settings(owner)
        data = {**data, **checked}
        unit.ledger.save_settings(owner, data, version, parts.now())
        parts.audit(unit, principal, "settings", owner=owner, changed=sorted(checked))
        return _shown(data, version + 1)

    return parts.write(principal, work, adds=0)


def _shown(data: Mapping[str, Any], version: int) -> dict[str, Any]:
    return {
        "pause_writes": bool(data.get("pause_writes")),
        "pause_recall": bool(data.get("pause_recall")),
        "disable_kinds": list(data.get("disable_kinds", ())),
        "version": version,
    }


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(changes) - SWITCHES)
    if unknown:
        raise InvalidInput("settings.unknown", f"settings: {unknown[0]} is not a switch")
    out: dict[str, Any] = {}
    for name, value in changes.items():
        if name == "disable_kinds":
            out[name] = _kinds(value)
            continue
        if not isinstance(value, bool):
            raise InvalidInput("settings.invalid", f"{name}: true or false")
        names = ("pause_writes", "pause_recall") if name == "pause" else (name,)
        out |= dict.fromkeys(names, value)
    return out


def _kinds(value: object) -> list[str]:
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise InvalidInput("settings.invalid", "disable_kinds: a list of kinds")
    try:
        return sorted(Kind(k).value for k in value)
    except ValueError:
        raise InvalidInput("kind.invalid", f"disable_kinds: use {', '.join(Kind)}") from None


def rebuild_index(parts: Parts, principal: Principal, progress: Progress | None = None) -> int:
    """Forget the tenant's index and fill it again from the truth; how many things it holds.

    Interrupted, it can simply be run again; meanwhile recall reads what waits from the truth.
    """

    parts.write(principal, lambda unit: parts.audit(unit, principal, "rebuild_index"), adds=0)
    total = rebuild(parts, principal.tenant)
    steps = total * (2 if parts.embedder else 1)  # words, then vectors

    def tell(done: int, most: int) -> None:
        if progress is not None:
            progress(min(done, most), steps)

    done = 0
    while batch := outbox.drain_batch(
        parts.store, parts.index, principal.tenant, parts.policy.catalogue
    ):
        done += batch
        tell(done, total)
    _embed(parts, principal.tenant, lambda made: tell(total + made, steps))
    return total


def verify(parts: Parts, principal: Principal) -> Verification:
    """Walk every chain of the tenant; the report names the first bad row."""

    def work(unit: Any) -> Verification:
        return verify_chains(unit.conn, principal.tenant, parts.store.key)

    parts.lane.flush()
    return parts.store.read(principal.tenant, work)


def doctor(parts: Parts, principal: Principal) -> dict[str, Any]:
    """One screen: store, schema, role, key, counts, index lag, what is pending."""
    parts.lane.flush()
    store = parts.store

    def work(unit: Any) -> dict[str, Any]:
        waiting = unit.candidates.waiting(
            owner=None, scope_keys=None, now=parts.now(), limit=HELD_COUNTED_MAX
        )
        due = unit.records.find(Filter(statuses=[Status.ACTIVE], expiring_before=parts.now()))
        return {
            **unit.census(),
            "held": len(waiting),
            "expired_not_tidied": len(due),
            "index_lag": len(unit.ledger.waiting(FRESH_MAX + 1)),
            "erasures_pending": len(unit.erasures.unfinished()),
        }

    counts = store.read(principal.tenant, work)
    found, role = store.identity()
    return {
        "store": store.backend.dialect,
        "tenant": principal.tenant,
        "schema": found,
        "role": role,
        "read_only": store.read_only_reason,
        "key": store.key.id if store.key else None,
        "audit_lane": parts.lane.failed or "ok",
        "open_to_others": store.backend.exposed(),
        "index_known": parts.index.known(principal.tenant),
        **_embedding(parts, principal.tenant),
        "policy": parts.policy.version,
        **counts,
    }


def _embedding(parts: Parts, tenant: str) -> dict[str, Any]:
    """Whose vectors there are, and whether any are missing."""
    own = parts.embedder
    return {
        "embedder": own.name if own else None,
        "embedder_down": own.down if own else False,
        "vectors_of": sorted(parts.index.embedders(tenant)),
        "vectors_missing": _vectors_missing(parts, tenant),
    }


def _vectors_missing(parts: Parts, tenant: str) -> bool:
    own = parts.embedder
    return bool(own and parts.index.unembedded(tenant, own.name, 1))


def tidy(parts: Parts, principal: Principal) -> dict[str, int]:
    """What jobs do: lapse, expire, promote what was scheduled, finish erasures, index.

    Readers never depend on it: they compare the times themselves.
    """

    def work(unit: Unit) -> dict[str, int]:
        done = schedules.tidy(unit, parts.now())
        if any(done.values()):
            parts.audit(unit, principal, "tidy", **done)
        return done

    done = parts.write(principal, work)
    done["erasures_finished"], _ = forgetting.finish(parts, principal.tenant, parts.now())
    parts.catch_up(principal.tenant)
    done["embedded"] = _embed(parts, principal.tenant)
    done["vectors_missing"] = int(_vectors_missing(parts, principal.tenant))
    return done


def _embed(parts: Parts, tenant: str, made: Callable[[int], None] = lambda _: None) -> int:
    """Vectors for everything, as far as the embedder goes: its failure leaves the words as they
    are, and what has no vector is counted as missing."""
    total = 0
    with suppress(Unavailable):
        while done := parts.embed_some(tenant):
            total += done
            made(total)
    return total


def scrub(parts: Parts, principal: Principal) -> dict[str, Any]:
    """Rewrite what may still hold erased words (PostgreSQL: under lock); what is left, in words."""
    if principal.channel in (Channel.AGENT, Channel.IMPORT, Channel.JOB):
        raise NotAllowed("scrub.channel", "this channel cannot scrub the store")
    finished, left = forgetting.finish(parts, principal.tenant, parts.now(), thorough=True)
    return {"erasures_finished": finished, "left": left}


def backup(parts: Parts, principal: Principal, target: str | Path) -> Path:
    """A consistent copy of an embedded store while it is in use; the key file is not in it."""
    path = path_of(target)
    alone = parts.store.tenants() <= {principal.tenant}
    if principal.channel is not Channel.ADMIN and (
        not alone or principal.channel not in (Channel.USER, Channel.RUNTIME)
    ):
        raise NotAllowed("backup.admin_only", "a backup holds every tenant: only an admin makes it")
    parts.write(principal, lambda unit: parts.audit(unit, principal, "backup"), adds=0)
    if path.exists():
        raise InvalidInput("backup.exists", f"{path} exists; name a new file")
    if not path.parent.is_dir():
        raise InvalidInput("backup.no_directory", f"{path.parent} is not a directory")
    draft = path.with_name(path.name + ".part")
    draft.unlink(missing_ok=True)  # of an earlier try
    try:
        parts.store.copy_to(draft)
        draft.replace(path)
    except OSError as error:
        raise Unavailable("backup.failed", f"could not write {path}: {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return path

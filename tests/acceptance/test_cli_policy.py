"""muniment policy: check, show, explain."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.conftest import RunCli


def test_check_says_what_to_mend(cli: RunCli, tmp_path: Path) -> None:
    """0 and the version, or 2 and the key at fault; without a file, the one that is set."""
    path = tmp_path / "policy.yaml"
    path.write_text("name: ours\nsafety: {kinds: [fact]}\n")
    done = cli("policy", "check", str(path), "--json")
    assert (done.code, done.data["ok"], done.data["name"]) == (0, True, "ours")
    assert cli("policy", "check", MUNIMENT_POLICY=str(path)).out.startswith("ours is right")
    path.write_text("safety: {third_parties: keep}\n")
    bad = cli("policy", "check", str(path))
    assert (bad.code, "policy.loosens" in bad.err) == (2, True)
    assert cli("policy", "check", str(tmp_path / "none.yaml")).code == 6


def test_show_lists_what_is_in_force(cli: RunCli) -> None:
    """In words and as data; without any, the built-in one."""
    shown = cli("policy", "show", "support", "--json").data
    assert shown["safety"]["third_parties"] == "refuse"
    assert shown["safety"]["held_lapse_after"] == "3d"
    assert "safety.third_parties" in cli("policy", "show", "support").out
    assert cli("policy", "show", "--json").data["version"] == "builtin-1"


def test_explain_compares_with_no_policy_and_writes_nothing(cli: RunCli, tmp_path: Path) -> None:
    """The decisions of both with their reasons, in either language."""
    said = "记住：我对咖啡因过敏。"
    told = cli("policy", "explain", said, "--policy", "coding", "--json").data
    assert [d["action"] for d in told["with"]] == ["refuse"]
    assert [d["action"] for d in told["without"]] == ["activate"]
    shown = cli("policy", "explain", said, "--policy", "coding", "--language", "zh")
    assert "策略限制这一类数据" in shown.out
    assert list(tmp_path.glob("*.db*")) == []

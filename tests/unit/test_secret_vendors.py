"""Shapes of vendors beyond the first ones, words of wallets, numbers read out, one layer of base64.

No literal here looks like a live key: each is put together from parts when the tests run.
"""

from __future__ import annotations

import base64
import random
import string

import pytest
from mnemonic import Mnemonic

from muniment.secrets import Finding, Grade, scan

BASE62 = string.ascii_letters + string.digits
URL64 = BASE62 + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
UUID = "8-4-4-4-12"


def rand(alphabet: str, size: int) -> str:
    """Letters drawn at random, all three classes among them where the alphabet has them."""
    source = random.Random(size)
    body = [source.choice(alphabet) for _ in range(size - 3)]
    for test in (str.isdigit, str.isupper, str.islower):
        body.append(source.choice([c for c in alphabet if test(c)] or list(alphabet)))
    return "".join(body)


def uuid() -> str:
    return "-".join(rand(HEX, int(size)) for size in UUID.split("-"))


# kind, the secret, the same without what makes it one
SHAPES: tuple[tuple[str, str, str], ...] = (
    ("azure_secret", rand(BASE62, 3) + "8Q~" + rand(BASE62, 34), rand(BASE62, 3) + "8Q~"),
    ("google_oauth", "1/" + "/0" + rand(URL64, 60), "1//0"),
    ("volcengine_key", "AK" + "LT" + rand(BASE62, 44), "AKLT-office"),
    ("vault_token", "hv" + "s." + rand(BASE62, 24), "hvs.read"),
    ("terraform_token", rand(BASE62, 14) + ".atlas" + "v1." + rand(URL64, 67), "x.atlasv1.y"),
    ("doppler_token", "dp" + ".pt." + rand(BASE62, 43), "dp.pt.x"),
    ("pulumi_token", "pul" + "-" + rand(HEX, 40), "pul-stack"),
    ("databricks_token", "da" + "pi" + rand(HEX, 32), "dapi-docs"),
    ("planetscale_token", "pscale" + "_pw_" + rand(BASE62, 43), "pscale_pw_"),
    ("supabase_key", "sbp" + "_" + rand(HEX, 40), "sbp_x"),
    ("groq_key", "gsk" + "_" + rand(BASE62, 52), "gsk_model"),
    ("xai_key", "xai" + "-" + rand(BASE62, 80), "xai-grok"),
    ("perplexity_key", "pplx" + "-" + rand(BASE62, 48), "pplx-7b-online"),
    ("replicate_token", "r8" + "_" + rand(BASE62, 37), "r8_x"),
    ("nvidia_key", "nv" + "api-" + rand(URL64, 64), "nvapi-docs"),
    ("langsmith_key", "lsv2" + "_pt_" + rand(HEX, 32) + "_" + rand(HEX, 10), "lsv2_pt_"),
    ("zhipu_key", rand(HEX, 32) + "." + rand(BASE62, 16), rand(HEX, 32) + ".js"),
    ("rubygems_key", "rubygems" + "_" + rand(HEX, 48), "rubygems_hooks"),
    ("docker_token", "dckr" + "_pat_" + rand(URL64, 27), "dckr_pat_"),
    ("sonar_token", "sq" + "p_" + rand(HEX, 40), "sqp_x"),
    (
        "discord_token",
        "M" + rand(BASE62, 23) + "." + rand(BASE62, 6) + "." + rand(URL64, 38),
        "Main.module.name",
    ),
    (
        "dingtalk_webhook",
        "https://oapi.dingtalk" + ".com/robot/send?access_token=" + rand(HEX, 64),
        "https://oapi.dingtalk" + ".com/robot/send",
    ),
    (
        "feishu_webhook",
        "https://open.feishu" + ".cn/open-apis/bot/v2/hook/" + uuid(),
        "https://open.feishu" + ".cn/open-apis/bot/v2/hook/",
    ),
    (
        "wecom_webhook",
        "https://qyapi.weixin" + ".qq.com/cgi-bin/webhook/send?key=" + uuid(),
        "https://qyapi.weixin" + ".qq.com/cgi-bin/webhook/send",
    ),
    ("mailgun_key", "key" + "-" + rand(HEX, 32), "key-value"),
    ("mailchimp_key", rand(HEX, 32) + "-us" + "12", rand(HEX, 32) + "-user"),
    ("brevo_key", "xkeysib" + "-" + rand(HEX, 64) + "-" + rand(BASE62, 16), "xkeysib-x"),
    ("shopify_token", "shp" + "at_" + rand(HEX, 32), "shpat_x"),
    ("square_token", "sq0" + "atp-" + rand(URL64, 22), "sq0atp-x"),
    ("grafana_token", "gl" + "sa_" + rand(BASE62, 32) + "_" + rand(HEX, 8), "glsa_x"),
    ("sentry_token", "sntry" + "u_" + rand(HEX, 64), "sntryu_x"),
    ("newrelic_key", "NR" + "AK-" + rand(UPPER, 27), "NRAK-docs"),
    ("notion_key", "ntn" + "_" + rand(BASE62, 46), "ntn_x"),
    ("linear_key", "lin" + "_api_" + rand(BASE62, 40), "lin_api_docs"),
    ("figma_token", "fig" + "d_" + rand(URL64, 40), "figd_x"),
    ("airtable_token", "pat" + rand(BASE62, 14) + "." + rand(HEX, 64), "patch.notes"),
    ("atlassian_token", "ATAT" + "T3" + rand(URL64, 180), "ATATT3"),
    ("postman_key", "PM" + "AK-" + rand(HEX, 24) + "-" + rand(HEX, 34), "PMAK-x"),
    ("age_key", "AGE-SECRET" + "-KEY-1" + "QPZRY9X8" * 7 + "QP", "AGE-SECRET-KEY-1"),
    ("iban", "DE89370400440532013000", "DE88370400440532013000"),
    ("iban", "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"),
    ("payment_card", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2"),
    ("cn_resident_id", "1 1 0 1 0 5 1 9 4 9 1 2 3 1 0 0 2 X", "1 1 0 1 0 5 1 9 4 9 1 2 3 1"),
    (
        "cn_resident_id",
        "一一零一零五一九四九一二三一零零二X",
        "一一零一零五一九四九一二三一零零二三",
    ),
)
SENTENCES = ("{}", "Here it is: {} and no more", "给你{}，收好", "| x | {} |")


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize(("kind", "secret", "_twin"), SHAPES)
def test_a_shape_is_found_whatever_stands_beside_it(
    kind: str, secret: str, _twin: str, sentence: str
) -> None:
    text = sentence.format(secret)
    start = text.index(secret)
    assert scan(text) == (Finding(kind, Grade.BLOCK, start, start + len(secret)),)


@pytest.mark.parametrize(("_kind", "_secret", "twin"), SHAPES)
def test_a_look_alike_is_left_alone(_kind: str, _secret: str, twin: str) -> None:
    assert [f for f in scan(twin) if f.grade is Grade.BLOCK] == []


@pytest.mark.parametrize("language", ["english", "chinese_simplified"])
@pytest.mark.parametrize("count", [12, 15, 24])
def test_recovery_words_are_found_in_any_layout(language: str, count: int) -> None:
    words = Mnemonic(language).to_mnemonic(bytes(range(count * 4 // 3))).split()
    for text in (" ".join(words), "\n".join(words), "助记词: " + ", ".join(words)):
        assert [f.kind for f in scan(text)] == ["recovery_words"]


def test_numbered_recovery_words_are_one_finding() -> None:
    words = Mnemonic("english").to_mnemonic(bytes(range(16))).split()
    text = " ".join(f"{n}. {word}" for n, word in enumerate(words, 1))
    assert [f.kind for f in scan(text)] == ["recovery_words"]


@pytest.mark.parametrize(
    "text",
    [
        "about above able absent accident access account achieve acid across act",  # eleven
        "We should have about the same number of words as this list, in the usual order of talk.",
        "人 不 在 有 我 他 这 个 上 们 来",
    ],
)
def test_talk_with_words_of_the_list_passes(text: str) -> None:
    assert scan(text) == ()


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_one_layer_of_base64_hides_nothing(encode: object) -> None:
    hidden = encode(b"password: Tr0ub4dor&3 for staging").decode()  # type: ignore[operator]
    plain = encode(b"the build takes about nine minutes").decode()  # type: ignore[operator]
    text = f"decode {hidden} please"
    assert [text[f.start : f.end] for f in scan(text)] == [hidden]
    assert scan(f"decode {plain} please") == ()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("phone", "我的手机号是一三八零零一三八零零零"),
        ("phone", "打 1 3 8 0 0 1 3 8 0 0 0 找我"),
        ("code", "验证码是四八二九一三"),
    ],
)
def test_numbers_read_out_are_numbers(kind: str, text: str) -> None:
    assert [f.kind for f in scan(text)] == [kind]


@pytest.mark.parametrize(
    "text",
    ["密码一律用长的", "二零二六年一月改密码", "密码是三位数", "一共十二个项目，三百六十五天"],
)
def test_numerals_in_talk_pass(text: str) -> None:
    assert scan(text) == ()

"""The screen for secrets: what it finds, what it leaves alone, and how fast.

No literal here looks like a live key: each is put together from parts when the tests run.
"""

from __future__ import annotations

import base64
import hashlib
import random
import statistics
import string
import time
from collections.abc import Callable

import pytest

from muniment.secrets import Finding, Grade, TooLarge, redact, redact_json, scan, scan_json

BASE62 = string.ascii_letters + string.digits
URL64 = BASE62 + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


def rand(alphabet: str, size: int, seed: int = 1) -> str:
    """A body with at least one lower, upper and digit where the alphabet has them."""
    source = random.Random(seed * 1000 + size)
    body = "".join(source.choice(alphabet) for _ in range(size - 3))
    ends = [[c for c in alphabet if t(c)] for t in (str.isdigit, str.isupper, str.islower)]
    return body + "".join(source.choice(end or list(alphabet)) for end in ends)


def digest(secret: str) -> str:
    return hashlib.blake2b(secret.encode(), key=b"k", digest_size=4).hexdigest()


def luhn_complete(stem: str) -> str:
    total = sum(
        sum(divmod(int(c) * (2 if i % 2 == 0 else 1), 10)) for i, c in enumerate(reversed(stem))
    )
    return stem + str(-total % 10)


def resident_id(region: str, born: str, order: str) -> str:
    stem = region + born + order
    weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
    return stem + "10X98765432"[sum(int(c) * w for c, w in zip(stem, weights, strict=True)) % 11]


def b64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def jwt() -> str:
    return ".".join((b64url('{"alg":"HS256"}'), b64url('{"sub":"u-17"}'), rand(URL64, 43)))


def pem() -> str:
    body = "\n".join(rand(BASE62 + "+/", 64, seed) for seed in range(6))
    return "-----BEGIN RSA " + f"PRIVATE KEY-----\n{body}\n-----END RSA " + "PRIVATE KEY-----"


def hook(host: str, path: str) -> str:
    return f"https://{host}/{path}"


# kind, the secret, a look-alike
SHAPES: list[tuple[str, str, str]] = [
    ("aws_access_key", "AK" + "IA" + rand(UPPER, 16), "AK" + "IA" + rand(UPPER, 12)),
    ("aws_access_key", "AS" + "IA" + rand(UPPER, 16), "AK" + "IAIOSFODNN7EXAMPLE"),
    *(
        ("github_token", f"gh{c}" + "_" + rand(BASE62, 36), f"gh{c}" + "_" + "x" * 36)
        for c in "pousr"
    ),
    (
        "github_token",
        "github" + "_pat_" + rand(BASE62, 22) + "_" + rand(BASE62, 59),
        "github_pat_x",
    ),
    ("gitlab_token", "gl" + "pat-" + rand(URL64, 20), "glpat-short"),
    ("anthropic_key", "sk-" + "ant-api03-" + rand(URL64, 95), "sk-ant-..."),
    ("openai_key", "sk-" + rand(BASE62, 48), "sk-fading-circle-animation-for-2-rows"),
    ("openai_key", "sk-" + "proj-" + rand(URL64, 120), "sk-proj-xxxxxxxxxxxxxxxxxxxxxxxx"),
    ("openai_key", "sk-" + rand(HEX, 32), "task-" + rand(HEX, 32)),
    ("google_api_key", "AI" + "za" + rand(URL64, 35), "AIza" + rand(URL64, 12)),
    ("google_oauth", "GOC" + "SPX-" + rand(URL64, 28), "GOCSPX-short"),
    *(
        (
            "slack_token",
            f"xox{c}" + "-" + f"{rand(string.digits, 12)}-{rand(BASE62, 24)}",
            f"xox{c}-1",
        )
        for c in "baprs"
    ),
    (
        "slack_webhook",
        hook(
            "hooks.slack" + ".com",
            f"services/T{rand(UPPER, 9)}/B{rand(UPPER, 9)}/{rand(BASE62, 24)}",
        ),
        hook("hooks.slack" + ".com", "services/"),
    ),
    (
        "discord_webhook",
        hook("discord" + ".com", f"api/webhooks/{rand(string.digits, 18)}/{rand(URL64, 68)}"),
        hook("discord" + ".com", "api/webhooks/"),
    ),
    ("stripe_key", "sk" + "_live_" + rand(BASE62, 24), "pk" + "_live_" + rand(BASE62, 24)),
    ("stripe_key", "rk" + "_live_" + rand(BASE62, 24), "rk_live_"),
    ("npm_token", "npm" + "_" + rand(BASE62, 36), "npm_config_registry"),
    ("pypi_token", "pypi-" + "AgEIcHlwaS5vcmc" + rand(URL64, 60), "pypi-publish-action-v1"),
    ("huggingface_token", "hf" + "_" + rand(BASE62, 34), "hf_hub_download"),
    ("telegram_token", rand(string.digits, 9) + ":AA" + rand(URL64, 33), "12345678:90"),
    ("sendgrid_key", "SG" + f".{rand(URL64, 22)}.{rand(URL64, 43)}", "SG.module.name"),
    ("twilio_key", "SK" + rand(HEX, 32), "SK" + rand(HEX, 20)),
    ("digitalocean_token", "dop" + "_v1_" + rand(HEX, 64), "dop_v1_" + rand(HEX, 20)),
    ("aliyun_key", "LT" + "AI" + rand(BASE62, 20), "LTAI-office"),
    ("tencent_key", "AK" + "ID" + rand(BASE62, 32), "AKID"),
    ("jwt", jwt(), "eyJhbGci.notajwt"),
    ("private_key", pem(), "-----BEGIN " + "PUBLIC KEY-----"),
    ("payment_card", luhn_complete("411111111111111"), "4111111111111112"),
    ("payment_card", luhn_complete("55554444333322" + "1"), luhn_complete("1234567890123" + "45")),
    ("payment_card", luhn_complete("37828224631000"), "378282246310001"),
    ("payment_card", luhn_complete("622202020011223344"), "6222020200112233441"),
    ("payment_card", "4111 1111 1111 " + luhn_complete("411111111111111")[-4:], "4111 1111 1111"),
    ("payment_card", "5555-4444-3333-" + luhn_complete("555544443333222")[-4:], "5555-4444-3333"),
    ("cn_resident_id", resident_id("110101", "19900307", "771"), "110101199003077719"[:17] + "Z"),
    (
        "cn_resident_id",
        resident_id("440524", "19800101", "001"),
        resident_id("440524", "19801301", "001"),
    ),
    (
        "cn_resident_id",
        resident_id("650102", "20010229"[:6] + "28", "12" + "3"),
        resident_id("990102", "20010228", "123"),
    ),
]
SENTENCES = (
    "{}",
    "use {} for the deploy, please",
    "记住{}，别外传",
    "新的是「{}」。下周再换",
    '{{"note": "{}"}}',
    "值：{}；",
)

# kind, text with the secret between ⟦⟧ (the marks are taken out)
CONTEXT: list[tuple[str, str]] = [
    ("password", "password: ⟦hunter2⟧"),
    ("password", "my password is ⟦hunter2⟧."),
    ("password", "password for the staging router is ⟦hunter2⟧"),
    ("password", "please change the password to ⟦Winter2024!⟧"),
    ("password", "the wifi password is now ⟦blue-42-sky⟧, tell nobody"),
    ("password", "my password is ⟦swordfish⟧."),
    ("password", "DB_PASSWORD='⟦s3cr3t!x⟧'"),
    ("password", 'config = {"password": "⟦hunter2⟧", "user": "bob"}'),
    ("password", 'dumped {\\"password\\": \\"⟦hunter2⟧\\"}'),
    ("password", 'password: "⟦correct horse battery staple⟧"'),
    ("password", "https://x.test/login?password=⟦hunter2⟧&user=bob"),
    ("password", "Server=db;Password=⟦abc123⟧;Database=x"),
    ("password", "passwd = ⟦Tr0ub4dor⟧"),
    ("password", "密码是 ⟦abc12345⟧"),
    ("password", "密码是⟦abc12345⟧，别外传"),
    ("password", "数据库密码（生产）：⟦Abc@2024⟧"),
    ("password", "密码我改成了 ⟦qwer1234⟧"),
    ("password", "密碼是 ⟦abc12345⟧"),
    ("password", "口令：⟦qwe123⟧"),
    ("password", "口令：⟦swordfish⟧"),
    ("password", "账号 admin 密码 ⟦admin888⟧"),
    ("password", "wifi 密码⟦12345678⟧"),
    ("password", "⟦abc12345⟧是我的密码"),
    ("key", "api_key=⟦9fK2mQ81aZ⟧"),
    ("key", "token = ⟦8f7a6b5c4d3e⟧"),
    ("key", 'client_secret: "⟦abcdEFGH1234⟧"'),
    ("key", "密钥：⟦3f9a8b7c⟧"),
    ("key", "访问令牌是⟦ab12cd34ef56⟧。"),
    ("code", "my PIN is ⟦4821⟧"),
    ("code", "PIN: ⟦4821⟧"),
    ("code", "验证码 ⟦482913⟧"),
    ("code", "【某银行】验证码：⟦482913⟧，5分钟内有效"),
    ("code", "⟦482913⟧是您的验证码"),
    ("code", "⟦482913⟧ is your verification code"),
    ("code", "Your verification code is ⟦482913⟧."),
    ("connection_password", "postgres://app:⟦s3cret⟧@db.internal:5432/x"),
    ("connection_password", "连接串redis://:⟦p4ss⟧@10.0.0.1，记一下"),
    ("connection_password", "mysql://root:⟦p@ss⟧@db/x"),
    ("cookie", "Cookie: ⟦theme=dark; session=abc123def456⟧"),
    ("cookie", "Set-Cookie: ⟦sid=8sdf7sdf87; Path=/; HttpOnly⟧\nDate: today"),
    ("bearer_token", "Authorization: Bearer ⟦abc123def456ghi789⟧"),
    ("basic_auth", "Authorization: Basic ⟦" + base64.b64encode(b"bob:hunter2").decode() + "⟧"),
    ("login_password", "curl -u bob:⟦hunter2⟧ http://x.test"),
    ("aws_secret_key", "aws_secret_access_key = ⟦" + rand(BASE62 + "+/", 40) + "⟧"),
]

HARMLESS = """
the password policy
密码需要重置
密码错误，请重试
忘记密码怎么办
密码是必须的
密码: 必填
密码至少8位
密码长度是12345678位
密码策略是每90天更换
密码过期时间：20240101
密码是string类型
密码学是一门课
密码输错了3次
令牌是JWT格式
密钥长度是256位
密钥轮换周期是90天
密钥是sk-proj-…，别外传
验证码60秒后重试
验证码有效期是1800秒
password: required
password: <YOUR_KEY>
password: str
password: SecretStr
password = getpass()
password = os.environ["DB_PASSWORD"]
let password = user.password
password: min 8 characters
password is required
password=******
Password: Please enter 8 chars
password hashing uses argon2id
PWD=/home/user1
api_key=xxxxxxxx
api_key: your_api_key_here
api_key=OPENAI_API_KEY
token=${TOKEN}
token: $GITHUB_TOKEN
token = {{ secrets.token }}
token = tokenizer.next_token()
token = access_token_v2
token = "identifier"
token limit is 128000
tokens used: 12345
max_tokens: 4096
the token is base64 encoded
secretName: db-credentials-v2
secret=my-app-secret
the secret to success is 2x work
bearer of bad news
basic training at noon
GPIO pin: 13
the pin is 12mm wide
spin: 12345
postgres://app:${DB_PASSWORD}@db/x
postgres://app@db:5432/x
http://localhost:8080/a@b
docker run -u 1000:1000 x
Cookie: theme=dark
git@github.com:foo/bar.git
import x from '@scope/pkg@1.2.3'
550e8400-e29b-41d4-a716-446655440000
commit 3f2a9c8d7e6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f
version 1.2.3-beta4
订单号 20240115123456789
1700000000000
2024-01-15 10:20:30.123456
pi 3.14159265358979323846
""".strip().splitlines()


def marked(text: str) -> tuple[str, int, int]:
    start = text.index("⟦")
    bare = text.replace("⟦", "")
    end = bare.index("⟧")
    return bare.replace("⟧", ""), start, end


def blocks(text: str) -> list[Finding]:
    return [one for one in scan(text) if one.grade is Grade.BLOCK]


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize(("kind", "secret", "_twin"), SHAPES)
def test_a_shape_is_found_exactly_whatever_stands_beside_it(
    sentence: str, kind: str, secret: str, _twin: str
) -> None:
    text = sentence.format(secret)
    start = text.index(secret)
    assert blocks(text) == [Finding(kind, Grade.BLOCK, start, start + len(secret))]


@pytest.mark.parametrize(("_kind", "_secret", "twin"), SHAPES)
def test_a_look_alike_of_a_shape_is_left_alone(_kind: str, _secret: str, twin: str) -> None:
    for sentence in SENTENCES:
        assert blocks(sentence.format(twin)) == []


@pytest.mark.parametrize(("kind", "text"), CONTEXT)
def test_a_name_beside_it_gives_a_secret_away(kind: str, text: str) -> None:
    bare, start, end = marked(text)
    assert scan(bare) == (Finding(kind, Grade.BLOCK, start, end),)


@pytest.mark.parametrize("text", HARMLESS)
def test_talk_about_secrets_and_numbers_that_are_none_pass(text: str) -> None:
    assert scan(text) == ()


def test_an_integrity_hash_is_no_key() -> None:
    value = base64.b64encode(hashlib.sha512(b"x").digest()).decode()
    assert scan(f'"integrity": "sha512-{value}"') == ()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "write to ⟦bob.lee@example.org⟧ please"),
        ("email", "邮箱⟦bob@example.org⟧，周五联系"),
        ("phone", "电话⟦13800138000⟧。"),
        ("phone", "call ⟦+86 138-0013-8000⟧"),
        ("phone", "call ⟦+1 415 555 0132⟧ now"),
        ("postal_code", "邮编：⟦100080⟧"),
        ("passport", "护照号是⟦E12345678⟧"),
        ("cn_resident_id_15", "身份证号：⟦110101900307771⟧"),
        ("possible_password", "the password is ⟦sunflower⟧."),
    ],
)
def test_what_is_personal_or_unsure_is_held_and_stays(kind: str, text: str) -> None:
    bare, start, end = marked(text)
    found = Finding(kind, Grade.HOLD, start, end)
    assert scan(bare) == (found,)
    assert redact(bare, digest) == (bare, (found,))


@pytest.mark.parametrize(
    "disguise",
    [
        lambda s: "".join(chr(ord(c) + 0xFEE0) for c in s),
        lambda s: "\u200b".join(s),
        lambda s: "\u2060\u202e".join(s),
        lambda s: s.replace("-", "\u2011"),
        lambda s: s[:4] + "\x00" + s[4:],
        lambda s: s[:6] + "\ufe0f\u00ad" + s[6:],
    ],
)
def test_disguised_keys_are_covered_in_the_original(disguise: Callable[[str], str]) -> None:
    key = "sk-" + "proj-" + rand(BASE62, 40)
    text = f"甲{disguise(key)}，乙"
    assert scan(text) == (Finding("openai_key", Grade.BLOCK, 1, len(text) - 2),)
    assert redact(text, digest)[0] == f"甲[secret:openai_key:{digest(key)}]，乙"


@pytest.mark.parametrize(("_kind", "text"), CONTEXT)
def test_redacting_keeps_the_rest_and_is_stable(_kind: str, text: str) -> None:
    bare, start, end = marked(f"<think>é\u0301 前文</think>\r\n{text}")
    clean, findings = redact(bare, digest)
    assert clean.startswith(bare[:start] + "[secret:") and clean.endswith("]" + bare[end:])
    assert bare[start:end] not in clean or len(bare[start:end]) < 5
    assert len(findings) == 1
    assert redact(clean, digest) == (clean, ())


def test_the_placeholder_names_kind_and_digest() -> None:
    assert redact("密码是 abc12345", lambda _: "3fa2c1d0")[0] == "密码是 [secret:password:3fa2c1d0]"


@pytest.mark.parametrize("bad", ["", "abc", "XYZ12345", "a" * 13, "3fa2c1d0]"])
def test_a_digest_that_could_break_the_placeholder_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        redact("password: hunter2", lambda _: bad)


def test_a_made_up_placeholder_hides_nothing() -> None:
    key = "AK" + "IA" + rand(UPPER, 16)
    for fake in (f"[secret:password:{key}]", f"[secret:nosuchkind:1234abcd {key}]"):
        assert key not in redact(fake, digest)[0]


def test_overlapping_findings_become_one_and_nothing_leaks() -> None:
    key = "gh" + "p_" + rand(BASE62, 36)
    clean, findings = redact(f"token={key}!tail9 done", digest)
    assert len(findings) == 1
    assert key not in clean and clean.endswith(" done")


def test_a_secret_longer_than_the_window_is_covered_to_its_end() -> None:
    value = rand(BASE62, 900)
    assert redact(f"token={value} end", digest)[0] == f"token=[secret:key:{digest(value)}] end"


def test_metadata_is_screened_in_keys_and_values() -> None:
    key = "gh" + "p_" + rand(BASE62, 36)
    data = {
        "tags": ["ok", f"用{key}部署"],
        key: 1,
        "db_password": "hunter2",
        "userPassword": "hunter3",
        "验证码": 482913,
        "env": [{"name": "API_KEY", "value": "ab12cd34ef"}, {"name": "PORT", "value": "8080"}],
        "max_tokens": 4096,
        "token_type": "bearer",
        "note": {"mail": "bob@example.org", "n": None, "x": 1.5, "t": True},
    }
    clean, findings = redact_json(data, digest)
    where = {(one.path, one.in_key, one.finding.kind) for one in findings}
    assert where == {
        (("tags", 1), False, "github_token"),
        ((key,), True, "github_token"),
        (("db_password",), False, "password"),
        (("userPassword",), False, "password"),
        (("验证码",), False, "code"),
        (("env", 0, "value"), False, "key"),
        (("note", "mail"), False, "email"),
    }
    assert key not in repr(clean) and "hunter" not in repr(clean) and "482913" not in repr(clean)
    assert clean["max_tokens"] == 4096 and clean["note"] == data["note"]
    assert scan_json(data) == findings
    again, left = redact_json(clean, digest)
    assert again == clean and {one.finding.kind for one in left} == {"email"}


def test_json_bounds_fail_closed() -> None:
    deep: object = "x"
    for _ in range(70):
        deep = [deep]
    loop: list[object] = []
    loop.append(loop)
    wide: object = "x"
    for _ in range(30):
        wide = [wide, wide]
    for bad in (deep, loop, wide):
        with pytest.raises(TooLarge):
            scan_json(bad)
    for foreign in (b"x", {1: "x"}, object()):
        with pytest.raises(TypeError):
            scan_json(foreign)


@pytest.mark.parametrize("text", ["", "\ud800", "a\x00b", "\u200b", "é\u0301", "İ" * 9])
def test_odd_text_passes_unchanged(text: str) -> None:
    assert redact(text, digest) == (text, ())


ADVERSARIAL = (
    *(
        "a",
        "1",
        "4111 ",
        "1 ",
        "-eyJ",
        "-eyJaaaaaaaaaa",
        "password:",
        "password ",
        "密码",
        "密码是",
    ),
    *(
        "token=",
        "token=aaaa ",
        "password for a b ",
        "a://a:",
        "a@a.",
        "a.",
        "cookie=",
        "Cookie: a=b;",
    ),
    *(
        "-----BEGIN " + "PRIVATE KEY-----",
        "sk-a",
        "SG.aaaaaaaaaaaaaaaaaaaa.",
        "12345678:",
        "+1 23 ",
    ),
    *(
        'password="a ',
        "密码(a",
        "pin ",
        "验证码123456 ",
        "[secret:",
        "\u200b",
        "㎏",
        "ｐａｓｓｗｏｒｄ：",
    ),
)


def test_adversarial_text_is_bounded() -> None:
    """The target is 50 ms for 64 KB; the assertion is loose, the measurement is printed."""
    worst = (0.0, "")
    for unit in ADVERSARIAL:
        text = (unit * (65_536 // len(unit) + 1))[:65_536]
        begun = time.perf_counter()
        scan(text)
        worst = max(worst, (time.perf_counter() - begun, unit))
    print(f"\nworst of {len(ADVERSARIAL)} texts of 64 KB: {worst[0] * 1e3:.0f} ms {worst[1]!r}")
    assert worst[0] < 2.0


def test_ordinary_text_is_cheap() -> None:
    """The target is a p50 of 100 µs; the assertion is loose, the measurement is printed."""
    texts = (
        "以后回答我都用中文，代码注释也用中文，谢谢。",
        "Please remember that CI runs pytest on every push, and use pnpm instead of npm.",
        "The deploy failed at 10:02 because the health check timed out; rolled back to v1.4.2.",
        "我住在柏林，时区是 UTC+1，周五下午不要安排会议。",
        "My password manager is Bitwarden and tokens expire after an hour.",
    )
    spent = []
    for text in texts * 60:
        begun = time.perf_counter()
        scan(text)
        spent.append(time.perf_counter() - begun)
    p50 = statistics.median(spent) * 1e6
    print(f"\nordinary text: p50 {p50:.0f} µs")
    assert p50 < 2_000

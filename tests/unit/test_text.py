"""Texts compared, searched, counted, checked and shown."""

import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

from muniment.errors import InvalidInput
from muniment.text import (
    blank,
    check_id,
    check_text,
    identifiers,
    invisible,
    language,
    negated,
    normalise,
    query_tokens,
    quote_terms,
    safe_for_terminal,
    strip_invisible,
    token_count,
    tokens,
)

# --- tokens ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("重跑gen-itgc后", ["重", "跑", "重跑", "gen-itgc", "gen", "itgc"]),
        ("推送", ["推", "送", "推送"]),
        ("Running the meetings", ["run", "meet"]),
        ("ZX-4481", ["zx-4481", "zx", "4481"]),
        ("v2.4.1", ["v2.4.1", "2.4.1", "v2", "4", "1"]),
        ("@scope/pkg", ["@scope/pkg", "scope/pkg", "scope", "pkg"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("iPhone15", ["iphone15", "iphon", "15"]),
        ("src/runtime/loop.ts", ["src/runtime/loop.ts", "src", "runtim", "loop.ts", "loop", "ts"]),
        ("don't", ["not"]),
        ("the user’s", ["user"]),
        ("C++", ["c++", "c"]),
        ("café", ["café", "cafe"]),
        ("1,000", ["1,000", "1000", "1", "000"]),
        ("ＡＰＩ", ["api"]),
        ("ｶﾞｲﾄﾞ", ["ガイ", "イド"]),
        ("行く", ["行", "行く"]),
        ("회의를", ["회의를", "회의", "의를"]),
        ("ดีครับ", ["ดีค", "ีคร", "ครั", "รับ"]),
        ("привет мир", ["привет", "мир"]),
        ("नमस्ते", ["नमस्ते"]),
        ("pass\u200bword", ["password"]),
        ("", []),
    ],
)
def test_tokens_of(text: str, expected: list[str]) -> None:
    """Each script is cut in its own way."""
    assert tokens(text) == expected
    assert query_tokens(text) == expected


@pytest.mark.parametrize("text", ["😀", "👍🏽❤️", "1️⃣ℹ️㊗️", "👨‍👩‍👧🇨🇳", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "…!?。"])
def test_emoji_and_punctuation_give_nothing(text: str) -> None:
    """Nothing to search for is an empty list, not a token of leftovers."""
    assert tokens(text) == []


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("重跑gen-itgc后推送", "itgc"),
        ("重跑gen-itgc后推送", "GEN-ITGC"),
        ("她的邮件地址变了", "地址"),
        ("目的是存在的", "存在"),
        ("后端用Go写", "后端"),
        ("用的是在线文档", "是在"),
        ("The Camel in camelCase names", "camelcase"),
        ("iPhone15 ordered", "iphone 15"),
        ("ask the IT department", "IT"),
        ("Ｆｕｌｌ－ｗｉｄｔｈ", "full-width"),
        ("密钥是sk-proj-abc，别外传", "sk-proj-abc"),
    ],
)
def test_a_query_shares_its_telling_token_with_the_text(stored: str, asked: str) -> None:
    """What a person would type is among the indexed tokens."""
    wanted = set(query_tokens(asked))
    assert wanted
    assert wanted <= set(tokens(stored))


def test_a_version_is_found_without_its_v() -> None:
    """2.4.1 asks for the same release as v2.4.1."""
    assert "2.4.1" in tokens("release v2.4.1")
    assert "2.4.1" in query_tokens("2.4.1")


def test_stop_words_alone_still_search() -> None:
    """A question of stop words only is better asked by them than not at all."""
    assert tokens("who am I") == ["who", "am", "i"]
    assert tokens("who is Anna") == ["anna"]
    assert tokens("的") == ["的"]


def test_a_long_question_leaves_function_pairs_out() -> None:
    """They are indexed, but only a short query asks for them."""
    assert "的密" in tokens("我的密码是什么")
    assert "的密" not in query_tokens("我的密码是什么")
    assert "密码" in query_tokens("我的密码是什么")


def test_two_likings_share_but_differ() -> None:
    """我喜欢健身 and 我喜欢普洱茶 do not fall together."""
    assert set(tokens("我喜欢健身")) - set(tokens("我喜欢普洱茶")) == {"健", "身", "健身", "欢健"}


def _unique_words(count: int, join: str) -> str:
    rng = random.Random(7)
    return join.join("".join(rng.choices("abcdefghijklmnop", k=7)) for _ in range(count))


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "推" * 100_000,
        "".join(chr(0x4E00 + i % 20_000) for i in range(100_000)),
        "가" * 100_000,
        "ก" * 100_000,
        "a-" * 150_000,
        "aA" * 150_000,
        '"a' * 150_000,
        _unique_words(37_500, ","),
        _unique_words(37_500, "-"),
        "a" + "\u0300\u0316" * 75_000,
        "\u200b" * 100_000,
    ],
    ids=lambda text: f"{text[:6]!a}x{len(text)}",
)
def test_a_line_of_300_kb_without_spaces_is_bounded(text: str) -> None:
    """Time stays far from quadratic and tokens short; marks once took 10 s in NFKC alone."""
    started = time.process_time()
    found = tokens(text)
    normalise(text)
    assert time.process_time() - started < 3  # about 0.3; the margin is for a busy machine
    assert all(0 < len(token) <= 64 for token in found)


# --- short substrings find their sentence ---------------------------------------------------

JAPANESE = """毎朝六時に起きて川沿いを走っています
母の誕生日には手作りの栗羊羹を贈る予定だ
新しい職場では水曜日だけ在宅勤務が認められた
猫の名前は小麦で毛色は薄い茶色です
会議の資料は金曜の昼までに佐藤さんへ送ってください
京都の宿は鴨川に近い旅館を選んだ
苦手な食べ物はパクチーとレバーです
次回の歯医者の予約は十月九日の午後三時半
パスワードは使い回さないように決めている
眼鏡の度数が合わなくなったので作り直した
データベースの移行は深夜に行う方が安全だ
弟は札幌でパン屋を営んでいる
レポートは箇条書きで短くまとめてほしい
アレルギーがあるので蕎麦は避けている
引っ越し先は駅から徒歩七分の古い団地
週末はいつも図書館でドイツ語を勉強する
サーバーの証明書は来月で期限が切れる
祖父から譲り受けた腕時計を修理に出した
珈琲は浅煎りを砂糖なしで飲む
夏休みに屋久島で縄文杉を見たい""".splitlines()

KOREAN = """매일 아침 강변을 따라 오 킬로미터를 달린다
어머니 생신에는 직접 만든 약과를 선물할 예정이다
새 회사는 수요일에만 재택근무를 허용한다
고양이 이름은 보리이고 털은 옅은 갈색이다
회의 자료는 금요일 정오까지 박 대리에게 보내 주세요
제주도 숙소는 협재 해변 근처로 골랐다
고수와 번데기는 먹지 못한다
다음 치과 예약은 시월 구일 오후 세 시 반이다
비밀번호는 여러 곳에 돌려쓰지 않기로 했다
안경 도수가 맞지 않아서 새로 맞췄다
데이터베이스 이전은 새벽에 하는 편이 안전하다
남동생은 부산에서 빵집을 운영한다
보고서는 짧은 목록으로 정리해 주면 좋겠다
메밀 알레르기가 있어서 냉면을 피한다
이사할 집은 역에서 걸어서 칠 분 거리의 낡은 아파트다
주말마다 도서관에서 독일어를 공부한다
서버 인증서는 다음 달에 만료된다
할아버지께 물려받은 손목시계를 수리점에 맡겼다
커피는 연하게 내려 설탕 없이 마신다
여름휴가에는 울릉도에서 오징어잡이를 보고 싶다""".splitlines()

THAI = """ฉันวิ่งเลียบแม่น้ำทุกเช้าก่อนไปทำงาน
วันเกิดแม่ปีนี้จะทำขนมชั้นไปให้
บริษัทใหม่ให้ทำงานที่บ้านเฉพาะวันพุธ
แมวของเราชื่อข้าวโพดขนสีน้ำตาลอ่อน
เอกสารประชุมต้องส่งให้คุณสมชายก่อนเที่ยงวันศุกร์
ที่พักเชียงใหม่เลือกเรือนไม้ใกล้แม่น้ำปิง
ไม่กินผักชีและเครื่องในสัตว์
นัดหมอฟันครั้งหน้าวันที่เก้าตุลาคมบ่ายสามโมงครึ่ง
รหัสผ่านห้ามใช้ซ้ำกันหลายเว็บไซต์
แว่นตาอันเก่าเบลอแล้วจึงตัดใหม่
การย้ายฐานข้อมูลควรทำตอนดึกจะปลอดภัยกว่า
น้องชายเปิดร้านขนมปังอยู่ที่ภูเก็ต
รายงานขอเป็นหัวข้อสั้นๆอ่านง่าย
แพ้กุ้งกับปูเลยไม่สั่งอาหารทะเล
ห้องเช่าใหม่เดินจากสถานีรถไฟฟ้าเจ็ดนาที
วันหยุดชอบไปห้องสมุดเรียนภาษาเยอรมัน
ใบรับรองเซิร์ฟเวอร์จะหมดอายุเดือนหน้า
นาฬิกาข้อมือของคุณปู่ส่งซ่อมอยู่
กาแฟคั่วอ่อนไม่ใส่น้ำตาลดีที่สุด
ปิดเทอมอยากไปดำน้ำดูปะการังที่เกาะสุรินทร์""".splitlines()

CHINESE = """每天早上六点沿着河边跑五公里
妈妈生日那天准备送自己做的桂花糕
新公司只有星期三可以居家办公
家里的猫叫豆包毛色是浅棕色
周报要在周五中午之前发给老陈
杭州的民宿选在龙井村附近
香菜和猪肝是从来不吃的
下次看牙约在十月九号下午三点半
密码不会在几个网站之间重复使用
眼镜度数不合适于是重新配了一副
数据库迁移放在凌晨做比较稳妥
弟弟在厦门开了一家面包店
报告请用简短的条目来写
对荞麦过敏所以不点冷面
新租的房子离地铁站走路七分钟
周末总是去图书馆学德语
服务器证书下个月就到期了
爷爷留下的手表已经送去修理
咖啡喝浅烘焙而且不加糖
暑假想去阿勒泰看白桦林""".splitlines()

_WORDS = {
    "ja": "私 彼女 部長 友人 電車 天気 料理 音楽 映画 写真 机 庭 海 山 昨日 今朝 明日 ゆっくり "
    "とても 少し 急いで 見ている 話した 買った 歩いて 考える 楽しかった は が を に で と",
    "ko": "나는 그녀는 친구가 날씨가 음악을 영화를 사진을 책상에 정원에서 바다로 어제 오늘 "
    "천천히 아주 조금 서둘러 보았다 말했다 샀다 걸었다 생각한다 즐거웠다",
    "th": "ผม เธอ เพื่อน อากาศ ดนตรี หนัง รูปถ่าย โต๊ะ สวน ทะเล ภูเขา เมื่อวาน วันนี้ พรุ่งนี้ "
    "ช้าๆ มาก นิดหน่อย รีบ ดู พูด ซื้อ เดิน คิด สนุก ลืม และ แต่ กับ ใน ของ",
    "zh": "我 她 同事 朋友 天气 音乐 电影 照片 桌子 花园 大海 高山 昨天 今天 明天 慢慢 非常 一点 "
    "赶紧 看见 说过 买了 走到 觉得 高兴 忘记 的 了 是 在 和 也 就",
}
OWN = {"ja": JAPANESE, "ko": KOREAN, "th": THAI, "zh": CHINESE}


def thousand_sentences() -> list[str]:
    """Return 1,000 different sentences: 20 own ones a language, the rest made of word lists."""
    rng = random.Random(4481)
    found = dict.fromkeys(sentence for own in OWN.values() for sentence in own)
    while len(found) < 1_000:
        kind = rng.choice(list(_WORDS))
        words = rng.choices(_WORDS[kind].split(), k=rng.randint(4, 12))
        found.setdefault((" " if kind == "ko" else "").join(words))
    sentences = list(found)
    rng.shuffle(sentences)
    return sentences


class _Bm25:
    """The plain formula, k1 1.2 and b 0.75, as a reference."""

    def __init__(self, texts: list[str], tokenise: Callable[[str], list[str]]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths = []
        for at, text in enumerate(texts):
            found = tokenise(text)
            self._lengths.append(len(found))
            for token, count in Counter(found).items():
                self._postings[token].append((at, count))
        self._mean = sum(self._lengths) / len(texts)

    def top(self, query: list[str], k: int) -> list[int]:
        scores: Counter[int] = Counter()
        for token in set(query):
            postings = self._postings.get(token, [])
            idf = math.log(1 + (len(self._lengths) - len(postings) + 0.5) / (len(postings) + 0.5))
            for at, count in postings:
                length = 0.25 + 0.75 * self._lengths[at] / self._mean
                scores[at] += idf * count * 2.2 / (count + 1.2 * length)
        return [at for at, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]]


def probes(sentence: str, size: int, texts: list[str]) -> list[str]:
    """Return its substrings that at most three of the texts hold: the others have no answer."""
    cuts = {sentence[at : at + size] for at in range(len(sentence) - size + 1)}
    return sorted(cut for cut in cuts if " " not in cut and sum(cut in text for text in texts) <= 3)


def _misses(
    kind: str, index: Callable[[str], list[str]], ask: Callable[[str], list[str]]
) -> tuple[int, list[str]]:
    texts = thousand_sentences()
    ranking = _Bm25(texts, index)
    asked, missed = 0, []
    for sentence in OWN[kind]:
        pieces = probes(sentence, 3 if kind == "th" else 2, texts)
        assert pieces, sentence
        for probe in pieces:
            asked += 1
            if texts.index(sentence) not in ranking.top(ask(probe), 3):
                missed.append(f"{probe} in {sentence}")
    return asked, missed


@pytest.mark.parametrize("ask", [tokens, query_tokens])
@pytest.mark.parametrize("kind", ["ja", "ko", "th", "zh"])
def test_a_short_substring_finds_its_sentence_among_a_thousand(
    kind: str, ask: Callable[[str], list[str]]
) -> None:
    """Every 2-character substring (Thai: 3) that can be told apart ranks in the top three."""
    asked, missed = _misses(kind, tokens, ask)
    assert asked > 150
    assert missed == []


def test_the_substring_test_can_fail() -> None:
    """Cut at white space, as a plain full-text index would, most substrings are lost."""
    for kind in ("ja", "ko", "th", "zh"):
        asked, missed = _misses(kind, str.split, str.split)
        assert len(missed) > asked / 2


# --- comparing and counting -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" Ｆｕｌｌ\u200b  Straße\x00 ﬁ\n", "full strasse fi"),
        ("re\u0301sume\u0301", "résumé"),
        ("a\u202eb\u2066c", "abc"),
        ("\u3000推　送\u00a0", "推 送"),
        ("", ""),
    ],
)
def test_normalise(text: str, expected: str) -> None:
    """Width, case, composition, invisible characters and spacing do not count."""
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("推送到main", "zh"),
        ("明日は雨", "ja"),
        ("내일 회의 main", "ko"),
        ("내일 會議", "zh"),
        ("สวัสดี", "th"),
        ("push to main", "en"),
        ("", "en"),
        ("Привет", "en"),
    ],
)
def test_language(text: str, expected: str) -> None:
    """One telling character decides."""
    assert language(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), (" ", 1), ("a", 1), ("推送", 2), ("hello world", 4), ("2026-10-01", 6), ("é", 1)],
)
def test_token_count(text: str, expected: int) -> None:
    """The stated rule, to the letter: a budget must not move between releases."""
    assert token_count(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", False),
        ("推送 ❤️👨‍👩‍👧 1️⃣", False),
        ("a\u200bb", True),
        ("\u202etxt.exe", True),
        ("hi\U000e0041\U000e0042", True),
        ("a\u200db", True),
        ("\u3164", True),
    ],
)
def test_invisible(text: str, expected: bool) -> None:
    """Hidden characters are reported, emoji are left in peace."""
    assert invisible(text) is expected
    assert not invisible(strip_invisible(text))


def test_blank() -> None:
    """Nothing drawn is blank; one letter is not."""
    assert blank(" \u200b\u3164\n\x07")
    assert not blank("\u200b.")


def test_safe_for_terminal() -> None:
    """Everything a terminal would act on is written out; tabs, lines and letters stay."""
    hostile = "\x1b[31mred\x1b]0;t\x07\u202eabc\r\nnext\tcol\x9b2J\ud800推送\r"
    assert safe_for_terminal(hostile) == (
        "\\x1b[31mred\\x1b]0;t\\x07\\u202eabc\nnext\tcol\\x9b2J\\ud800推送\\x0d"
    )


# --- checks ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "text.not_string"),
        (b"bytes", "text.not_string"),
        ("a\x00b", "text.nul"),
        ("\ud800", "text.surrogate"),
        ("推送推送", "text.too_long"),
        ("a" * 11, "text.too_long"),
        ("", "text.empty"),
        (" \u200b\n", "text.empty"),
    ],
)
def test_check_text_refuses(value: object, code: str) -> None:
    """Each fault has its own code."""
    with pytest.raises(InvalidInput) as caught:
        check_text(value, name="text", max_bytes=10)
    assert caught.value.code == code


@pytest.mark.parametrize("value", ["推送推", "<think>", " a\r\n", "\x1b[0m", "\u202eab", "ﬁ"])
def test_check_text_keeps_every_byte(value: str) -> None:
    """What is accepted comes back as it came."""
    assert check_text(value, name="text", max_bytes=10) is value


@pytest.mark.parametrize(
    "value",
    [
        *("", "*", " a", "a ", "a\u3000", "a\x00b", "a\nb", "a\u200bb", "a\u202eb", "\ud800"),
        *("a\u00adb", "\u3164", "a\u2028b", "a\U000e0041", "\ufeffa", "a" * 129, None, 7, b"a"),
    ],
)
def test_check_id_refuses(value: object) -> None:
    """What cannot be seen, or means something elsewhere, is no id."""
    with pytest.raises(InvalidInput) as caught:
        check_id(value, name="tenant")
    assert caught.value.code == "id.invalid"


def test_check_id_keeps_ids_apart() -> None:
    """Ids that look alike to a pattern, a path or a fold stay as they are."""
    ids = [
        *(
            "user1",
            "user10",
            "a%",
            "a_",
            "a/b",
            "a:b",
            "a&x=b",
            "a",
            "A",
            "ａ",
            "**",
            "é",
            "e\u0301",
        ),
        *("x') OR 1=1 --", "../etc", "张三", "a b", "a" * 128),
    ]
    assert [check_id(value, name="user") for value in ids] == ids
    assert len(set(ids)) == len(ids)


# --- grounds --------------------------------------------------------------------------------


def test_identifiers_are_verbatim() -> None:
    """Names, paths, numbers and quotations come back as written, plain words do not."""
    text = (
        "用“快进键”和 gen-itgc 重跑 ZX-4481, v2.4.1 at 10:30 on 2026-10-01, 30% $5 1,000 a1,b2 "
        "~/.bashrc ./x/y --flag API camelCase don't \"quoted text\" Anna's book /etc/hosts "
        "__init__ foo@bar.com the plain words."
    )
    assert identifiers(text) == [
        *("快进键", "quoted text", "gen-itgc", "ZX-4481", "v2.4.1", "10:30", "2026-10-01", "30%"),
        *("$5", "1,000", "a1", "b2", "~/.bashrc", "./x/y", "--flag", "API", "camelCase"),
        *("/etc/hosts", "__init__", "foo@bar.com"),
    ]


def test_quote_terms() -> None:
    """Every pair of marks; an apostrophe is none."""
    assert quote_terms("「甲」 “乙” 'c d' `e` it's Anna's ‘f’ \"g\"") == [
        "甲",
        "乙",
        "c d",
        "e",
        "f",
        "g",
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("不要推送", "别推送给别人", "禁止上传", "无需确认", "没有权限", "勿扰", "从不喝酒"),
        *("Never push on Friday", "don't push", "Don’t push", "no coffee", "without sugar"),
        *("stop sending mail", "I cannot come", "未经批准"),
    ],
)
def test_negated(text: str) -> None:
    """One negation turns a statement round."""
    assert negated(text)


@pytest.mark.parametrize(
    "text",
    [
        *("推送", "我不得不去", "特别喜欢", "要不要去", "非常好", "不仅好", "未来计划", "无论如何"),
        *(
            "push",
            "never stop",
            "not without sugar",
            "not only good",
            "port No. 5",
            "a knot",
            "note",
        ),
    ],
)
def test_not_negated(text: str) -> None:
    """Two cancel, and words that only look negative do not count."""
    assert not negated(text)

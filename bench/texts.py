"""Made-up statements and questions in English and Chinese, the same for the same seed.

Words are drawn by Zipf's law (the n-th of a list in proportion to 1/n), so that a few terms are
in very many records, as in real stores: that is what a lexical index finds hard.  Each statement
has a number of its own, so that no two say the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

_EN_TOPICS = """report page|chart widget|search panel|import wizard|upload form|letter archive|
photo gallery|map layer|ticket board|reading list|song library|recipe index|garden plan|
tool shed|paper shelf|travel diary|film club|chess club|model railway|stamp album|
seed catalogue|print queue|sound mixer|light rig|stage plan|costume rack|prop store|
tour calendar|poster wall|flyer stack|lens drawer|tripod bag|cable box|battery tray|
spare part bin|paint cupboard|brush holder|canvas rack|frame store|glue pot|thread box|
button jar|pattern folder|fabric roll|zip drawer|needle case|wool basket|loom corner|kiln room|
clay bin|glaze shelf|wheel bench|cast tray|mould rack|wax block|wick spool|bottle crate|
label sheet|cork bag|press room"""
_EN_SIDES = """colour|sort order|width|height|title|label|position|icon|size|shape|format|
layout|number of columns|owner's mark|margin|background|border|legend|unit|scale|caption|prefix|
suffix|style|count|pattern|material|thickness|depth|finish"""
_EN_VALUES = """light grey|dark blue|by date|by name|two columns|wide|narrow|left aligned|
centred|green|amber|round|square|flat|folded|numbered|plain|striped|double|single|half size|
full size|bold|thin|transparent|matt|glossy|ivory|slate|copper|oak|linen|felt|stacked|tilted|
mirrored|dotted|dashed|hollow|solid"""
_ZH_TOPICS = """报表页面|图表组件|目录面板|导入向导|上传表单|信件归档|照片相册|地图图层|
工单看板|阅读清单|歌曲曲库|菜谱索引|花园规划|工具棚|纸张货架|旅行日记|电影社团|象棋社团|
模型铁路|邮票册|种子目录|打印队列|调音台|灯光架|舞台图|戏服架|道具间|巡演日历|海报墙|传单堆|
镜头抽屉|脚架袋|线缆盒|电池盘|备件箱|颜料柜|画笔筒|画布架|画框库|胶水罐|线轴盒|纽扣罐|版型夹|
布料卷|拉链抽屉|针线包|毛线篮|织机角|窑炉房|陶土箱|釉料架|拉坯台|铸模盘|模具架|蜡块箱|灯芯轴|
酒瓶箱|标签纸|软木袋|压榨房"""
_ZH_SIDES = """颜色|排序|宽度|高度|标题|标签|位置|图标|尺寸|形状|格式|布局|列数|边距|背景|边框|
图例|单位|比例|说明文字|前缀|后缀|样式|数量|花纹|材质|厚度|深度|表面处理|摆放方向"""
_ZH_VALUES = """浅灰色|深蓝色|按日期|按名称|两列|宽幅|窄幅|靠左|居中|绿色|琥珀色|圆形|方形|平铺|
折叠|编号|素色|条纹|双层|单层|半幅|全幅|粗体|细线|透明|哑光|亮光|象牙色|石板色|铜色|橡木|亚麻|
毛毡|堆叠|倾斜|镜像|点线|虚线|空心|实心"""

_EN_FACTS = (
    "Remember that the {side} of the {topic} is {value}, code {code}.",
    "Remember that the {topic} has the {side} {value}, code {code}, as agreed with the workshop.",
    "Remember for this project: the {side} of the {topic} is {value}, code {code}.",
)
_ZH_FACTS = (
    "记住：{topic}的{side}是{value}，编号 {code}。",
    "记住：{topic}采用的{side}是{value}，编号 {code}，已经和工坊核对过。",
    "记住：这个项目里{topic}的{side}是{value}，编号 {code}。",
)
_EN_LIKINGS = ("Remember that I prefer a {value} {topic} with code {code}.",)
_ZH_LIKINGS = ("记住：我喜欢{value}的{topic}，编号 {code}。",)
_EN_QUESTIONS = (
    "What is the {side} of the {topic}?",
    "I am about to change the {topic}; which {side} did we settle on?",
    "Please check the {side} of the {topic} before the next print run and tell me what is missing.",
)
_ZH_QUESTIONS = (
    "{topic}的{side}是什么？",
    "我准备改{topic}，之前定的{side}是哪一种？",
    "下次印刷之前请检查一下{topic}的{side}，告诉我还缺什么。",
)


@dataclass(frozen=True, slots=True)
class Statement:
    """Something to remember, a question in other words that it answers, and what both name."""

    text: str
    question: str
    topic: str


class Writer:
    """Statements by number; one statement in twelve is a liking, the others are facts."""

    def __init__(self, seed: int = 1) -> None:
        self._random = Random(seed)
        self._made = 0

    def statement(self) -> Statement:
        """The next statement, English and Chinese in turn."""
        chinese, liking = self._made % 2 == 1, self._made % 24 >= 22
        code = f"K{self._made:05d}"
        self._made += 1
        words = self._words(chinese)
        facts, likings = (_ZH_FACTS, _ZH_LIKINGS) if chinese else (_EN_FACTS, _EN_LIKINGS)
        frame = self._random.choice(likings if liking else facts)
        asked = self._random.choice(_ZH_QUESTIONS if chinese else _EN_QUESTIONS)
        text = frame.format(**words, code=code)
        return Statement(text, asked.format(**words), words["topic"])

    def statements(self, count: int) -> list[Statement]:
        """The next ``count`` statements."""
        return [self.statement() for _ in range(count)]

    def _words(self, chinese: bool) -> dict[str, str]:
        lists = (
            (_ZH_TOPICS, _ZH_SIDES, _ZH_VALUES) if chinese else (_EN_TOPICS, _EN_SIDES, _EN_VALUES)
        )
        topic, side, value = (self._zipf(_listed(words)) for words in lists)
        return {"topic": topic, "side": side, "value": value}

    def _zipf(self, words: Sequence[str]) -> str:
        weights = [1 / rank for rank in range(1, len(words) + 1)]
        return self._random.choices(words, weights)[0]


def _listed(words: str) -> list[str]:
    return [" ".join(word.split()) for word in words.split("|")]


def joined(statements: Sequence[Statement]) -> str:
    """Several statements as one message."""
    return "\n".join(s.text for s in statements)


def conversation(path: Path, messages: int, *, per_thread: int = 200, seed: int = 1) -> Path:
    """A JSON Lines file of talk: user and assistant in turn, both languages, many threads."""
    with path.open("w", encoding="utf-8") as file:
        for row in _talk(messages, per_thread, seed):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def _talk(messages: int, per_thread: int, seed: int) -> Iterator[dict[str, str]]:
    writer, at = Writer(seed), datetime(2024, 5, 1, 9, tzinfo=UTC)
    for number in range(messages):
        said = writer.statement()
        at += timedelta(seconds=41)
        yield {
            "thread": f"talk-{number // per_thread}",
            "role": "assistant" if number % 2 else "user",
            "text": said.question if number % 2 else said.text,
            "time": at.isoformat(),
        }

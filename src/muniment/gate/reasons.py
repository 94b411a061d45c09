"""Every reason the gate can give: stable codes, and what each means in both languages."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Codes are stable; their texts are in `TEXTS`."""

    EVIDENCE_MISSING = "evidence.missing"
    NOT_GROUNDED = "evidence.not_grounded"
    QUALIFIER_LOST = "evidence.qualifier_lost"
    ORIGIN_INFERRED = "origin.inferred"
    ORIGIN_SYSTEM = "origin.system"
    ORIGIN_UNATTESTED = "origin.unattested"
    ORIGIN_STATED = "origin.stated"
    ORIGIN_CONFIRMED = "origin.confirmed"
    ORIGIN_OBSERVED = "origin.observed"
    ORIGIN_FILE = "origin.file_of_record"
    ORIGIN_POLICY = "origin.policy"
    THIRD_PARTY = "subject.third_party"
    OBSERVED_PERSON = "subject.observed_person"
    SECRET = "secret.refused"
    SENSITIVE = "sensitivity.no_explicit_wish"
    ONE_OFF = "lifetime.one_off"
    VOLATILE = "lifetime.volatile"
    LOOSENS = "impact.loosens"
    REACHES_UP = "trust.reaches_up"
    UNTRUSTED = "trust.untrusted_source"
    STEERING = "steering.later_sessions"
    SWITCHED_OFF = "switch.off"
    KIND_OFF = "switch.kind_off"
    CONFIG = "belongs.config"
    SMALL_TALK = "worth.nothing"
    NOT_A_STATEMENT = "words.not_a_statement"
    HEDGED = "words.hedged"
    ECHO = "words.echo"
    TOMBSTONE = "tombstone"
    TOMBSTONE_CLOSED = "tombstone.said_again"
    HELD_FULL = "held.too_many"
    SAME = "reconcile.same"
    NEWER = "reconcile.newer"
    OLDER = "reconcile.older"
    CORRECTS = "reconcile.corrects"
    EXCEPTION = "reconcile.exception"
    CONFLICT_UNSURE = "conflict.unsure_against_sure"
    CONFLICT_SAME_TIME = "conflict.said_at_the_same_time"
    REVOKED = "revocation.muted"
    NOTHING_TO_REVOKE = "revocation.nothing_found"
    NEEDS_ROLE = "scope.needs_role"
    POLICY_KIND = "policy.kind"
    POLICY_DATA = "policy.data_class"
    POLICY_SENSITIVITY = "policy.sensitivity"
    POLICY_APPROVAL = "policy.approval"
    POLICY_ORIGIN = "policy.origin"
    DROPPED = "worth.dropped"


TEXTS: dict[Reason, tuple[str, str]] = {
    Reason.EVIDENCE_MISSING: ("no evidence event is named", "没有指明证据事件"),
    Reason.NOT_GROUNDED: (
        "a number, name or value does not occur in the evidence",
        "证据里没有出现其中的数字、名称或取值",
    ),
    Reason.QUALIFIER_LOST: (
        "a when, where, except or only of the evidence was dropped",
        "丢掉了原话里的条件（何时、何处、除非、只）",
    ),
    Reason.ORIGIN_INFERRED: (
        "a model inferred it; a person has to confirm",
        "模型推断，需要人确认",
    ),
    Reason.ORIGIN_SYSTEM: ("system text is not evidence about anyone", "系统文本不是任何人的证据"),
    Reason.ORIGIN_UNATTESTED: ("nobody vouches for who said it", "没有人为说话者作证"),
    Reason.ORIGIN_STATED: ("the user said it", "用户亲口说的"),
    Reason.ORIGIN_CONFIRMED: ("the user confirmed it", "用户确认过"),
    Reason.ORIGIN_OBSERVED: ("a tool or file was seen to say so", "来自工具或文件的观察"),
    Reason.ORIGIN_FILE: ("the file that is authoritative for it says so", "对此有权威的文件这样写"),
    Reason.ORIGIN_POLICY: ("an administrator set it", "管理员设定"),
    Reason.THIRD_PARTY: ("it is about someone else", "说的是别人"),
    Reason.OBSERVED_PERSON: (
        "an observation about a person waits for that person",
        "关于人的观察要等本人确认",
    ),
    Reason.SECRET: (
        "a credential or identity number; keep a reference to a secret store instead",
        "含凭据或证件号；请改存密钥库里的引用",
    ),
    Reason.SENSITIVE: (
        "sensitive, and nobody asked for it to be remembered",
        "敏感信息，且没有明确要求记住",
    ),
    Reason.ONE_OFF: (
        "meant for this task only; it stays in the thread",
        "只针对这一次，留在会话里",
    ),
    Reason.VOLATILE: (
        "changes quickly; it expires and says how to look again",
        "变化快，会过期并注明怎样重查",
    ),
    Reason.LOOSENS: (
        "it would loosen a high-impact rule; someone entitled has to approve",
        "会放宽高影响规则，须有权者批准",
    ),
    Reason.REACHES_UP: (
        "an untrusted source cannot speak for a person or set a rule",
        "不可信来源不能替人说话或定规则",
    ),
    Reason.UNTRUSTED: (
        "from an untrusted source; kept apart until confirmed",
        "来源不可信，确认前另存",
    ),
    Reason.STEERING: ("the text tries to govern later sessions", "文本企图控制以后的会话"),
    Reason.SWITCHED_OFF: ("memory is paused", "记忆已暂停"),
    Reason.KIND_OFF: ("this kind of memory is switched off", "这一类记忆已关闭"),
    Reason.CONFIG: (
        "a setting of the agent's own running belongs to its configuration",
        "代理自身的运行参数应放进配置",
    ),
    Reason.SMALL_TALK: ("the next task would not miss it", "下次任务用不到"),
    Reason.NOT_A_STATEMENT: (
        "a question, quotation or hypothetical states nothing",
        "问句、转述或假设不是陈述",
    ),
    Reason.HEDGED: ("said with maybe or probably", "说的是可能、大概"),
    Reason.ECHO: ("our own memory block repeated", "复述了我们给出的记忆块"),
    Reason.TOMBSTONE: (
        "it was deleted or rejected; only a new statement of the user brings it back",
        "已被删除或拒绝；只有用户重新说出才会恢复",
    ),
    Reason.TOMBSTONE_CLOSED: ("deleted before, and now said again", "曾被删除，现在重新说出"),
    Reason.HELD_FULL: ("too much from this source is waiting already", "该来源等待确认的已太多"),
    Reason.SAME: ("already known; the evidence was added", "已经知道，只增加了证据"),
    Reason.NEWER: ("said later than what was known", "比已知的说得更晚"),
    Reason.OLDER: (
        "said earlier than what is known; it enters as history",
        "比已知的说得更早，作为历史写入",
    ),
    Reason.CORRECTS: ("it was never so", "从来不是那样"),
    Reason.EXCEPTION: ("a narrower case beside the general rule", "一般规则之外的特例"),
    Reason.CONFLICT_UNSURE: (
        "an unsure source does not replace a sure one",
        "不确定的来源不替换确定的",
    ),
    Reason.CONFLICT_SAME_TIME: ("two values said at the same time", "同一时刻说了两个值"),
    Reason.REVOKED: ("muted at once; deleting waits for the user", "已立即停用；删除等用户确认"),
    Reason.NOTHING_TO_REVOKE: ("nothing like that is remembered", "没有记着这样的内容"),
    Reason.NEEDS_ROLE: ("writing for others needs a role", "为他人写入需要相应角色"),
    Reason.POLICY_KIND: ("the policy keeps no memory of this kind", "策略不保留这一类记忆"),
    Reason.POLICY_DATA: ("the policy guards this class of data", "策略限制这一类数据"),
    Reason.POLICY_SENSITIVITY: (
        "the policy guards data of this sensitivity",
        "策略限制这一敏感级别的数据",
    ),
    Reason.POLICY_APPROVAL: (
        "the policy has rules on this topic approved by someone entitled",
        "按策略，此类规则须有权者批准",
    ),
    Reason.POLICY_ORIGIN: (
        "the policy has this origin confirmed by a person first",
        "按策略，此来源须先由人确认",
    ),
    Reason.DROPPED: ("the policy says this product has no use for it", "策略认为本产品用不到"),
}


def explain(code: str, language: str = "en") -> str:
    """The reason in words; an unknown code is shown as it is."""
    try:
        en, zh = TEXTS[Reason(code)]
    except ValueError:
        return code
    return zh if language == "zh" else en

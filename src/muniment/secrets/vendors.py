"""Keys and tokens of vendors, by the shapes they publish. To know another one, add a row."""

from __future__ import annotations

import re

from muniment.secrets.checks import vendor, vendor_random
from muniment.secrets.rule import BLOCK, Rule, fixed, row, token

_B64 = r"[A-Za-z0-9_-]"

_B64_KEY = r"[A-Za-z0-9+/]{32,90}={1,2}"


def _after(kind: str, anchors: str, name: str, value: str) -> Rule:
    """A value with no shape of its own, behind the one name it always has."""
    pattern = rf"{name}=[ ]?(?P<v>{value})"
    return row(kind, BLOCK, anchors, pattern, vendor, flags=re.IGNORECASE)


VENDORS: tuple[Rule, ...] = (
    fixed("aws_access_key", "akia|asia|abia|acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    row(
        "aws_secret_key",
        BLOCK,
        "secret",
        r"secret_?(?:access_?)?key[\"' \t]{0,4}[:=>]{1,2}[\"' \t]{0,4}"
        r"(?P<v>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        vendor,
        flags=re.IGNORECASE,
    ),
    token("github_token", "gh", r"gh[pousr]_[A-Za-z0-9]{30,255}+"),
    token("github_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}+"),
    token("gitlab_token", "gl", r"gl(?:pat|dt|rt|ptt|ft|soat|agent|cbt)-[A-Za-z0-9_.-]{19,255}"),
    token("anthropic_key", "sk-ant-", rf"sk-ant-{_B64}{{12,255}}+"),
    token(
        "openai_key", "sk-", rf"sk-(?:proj|svcacct|admin|or|None)-{_B64}{{12,255}}+", vendor_random
    ),
    token("openai_key", "sk-", rf"sk-{_B64}{{20,255}}+", vendor_random),
    fixed("google_api_key", "aiza", rf"AIza{_B64}{{35}}"),
    token("google_oauth", "gocspx-|ya29.", rf"GOCSPX-{_B64}{{24,64}}+|ya29\.{_B64}{{20,255}}+"),
    token("slack_token", "xox|xapp", r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,255}+"),
    token(
        "slack_webhook",
        "hooks.slack.com",
        r"https?://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,200}+",
    ),
    token(
        "discord_webhook",
        "/api/webhooks/",
        rf"https?://(?:\w{{2,10}}\.)?discord(?:app)?\.com/api/webhooks/[0-9]{{10,25}}/{_B64}{{30,128}}+",
    ),
    token(
        "stripe_key",
        "k_live_|k_test_|whsec_",
        r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,255}+",
    ),
    token("npm_token", "npm_", r"npm_[A-Za-z0-9]{30,64}+"),
    token(
        "pypi_token", "pypi-", rf"pypi-(?:AgE{_B64}{{20,255}}+|{_B64}{{60,255}}+)", vendor_random
    ),
    token("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,64}+"),
    fixed("telegram_token", ":", rf"[0-9]{{6,10}}:{_B64}{{34,36}}", vendor_random),
    token("sendgrid_key", "sg.", rf"SG\.{_B64}{{16,64}}\.{_B64}{{16,64}}+"),
    fixed("twilio_key", "sk", r"SK[0-9a-f]{32}"),
    fixed("digitalocean_token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    token("aliyun_key", "ltai", r"LTAI[A-Za-z0-9]{12,30}+", vendor_random),
    token("tencent_key", "akid", r"AKID[A-Za-z0-9]{13,40}+", vendor_random),
    token("jwt", "eyj", rf"eyJ{_B64}{{8,512}}+\.{_B64}{{8,4096}}+\.{_B64}{{8,1024}}+"),
    # Clouds
    _after("azure_key", "accountkey|sharedaccesskey", r"(?:Account|SharedAccess)Key", _B64_KEY),
    _after("azure_sas", "sig=", r"[?&;]sig", r"[A-Za-z0-9%/+]{40,90}(?:%3[Dd]|=)"),
    token("azure_secret", "q~", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    token("aws_access_key", "absk", r"ABSK[A-Za-z0-9+/]{40,255}={0,2}"),
    token("google_oauth", "1//0", rf"1//0{_B64}{{30,255}}+"),
    token("volcengine_key", "aklt", r"AKLT[A-Za-z0-9+/=_-]{20,80}+", vendor_random),
    token("baidu_key", "bce-v3/altak-", r"bce-v3/ALTAK-[A-Za-z0-9]{10,40}/[0-9a-f]{20,64}"),
    token("cloudflare_key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    token("heroku_key", "hrku-", rf"HRKU-{_B64}{{30,80}}+"),
    token("fly_token", "fm2_|fo1_", rf"fm2_[A-Za-z0-9+/]{{60,4000}}={{0,2}}|fo1_{_B64}{{40,80}}+"),
    token("vault_token", "hvs.|hvb.|hvr.", rf"hv[sbr]\.{_B64}{{22,300}}+"),
    token("terraform_token", ".atlasv1.", rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_B64}{{50,90}}+"),
    token("doppler_token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,80}"),
    token("pulumi_token", "pul-", r"pul-[0-9a-f]{40}"),
    token("databricks_token", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    token("planetscale_token", "pscale_", r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.-]{32,80}"),
    token("supabase_key", "sbp_|sb_secret_", rf"sbp_[0-9a-f]{{40}}|sb_secret_{_B64}{{20,80}}+"),
    token("netlify_token", "nfp_", r"nfp_[A-Za-z0-9]{36,48}+"),
    # Models
    token("groq_key", "gsk_", r"gsk_[A-Za-z0-9]{40,64}+"),
    token("xai_key", "xai-", r"xai-[A-Za-z0-9]{60,100}+"),
    token("perplexity_key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}+"),
    token("replicate_token", "r8_", r"r8_[A-Za-z0-9]{36,40}+"),
    token("nvidia_key", "nvapi-", rf"nvapi-{_B64}{{50,100}}+"),
    token("tavily_key", "tvly-", rf"tvly-{_B64}{{20,60}}+", vendor_random),
    token("langsmith_key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    token("pinecone_key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,100}+"),
    token("huggingface_token", "api_org_", r"api_org_[A-Za-z0-9]{30,40}+"),
    fixed("zhipu_key", ".", r"[0-9a-f]{32}\.[A-Za-z0-9]{16}", vendor_random),
    # Packages and builds
    token("rubygems_key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    fixed("crates_token", "cio", r"cio[A-Za-z0-9]{32}", vendor_random),
    fixed("nuget_key", "oy2", r"oy2[a-z0-9]{43}"),
    token("docker_token", "dckr_", rf"dckr_(?:pat|oat)_{_B64}{{24,60}}+"),
    token("sonar_token", "sqp_|squ_|sqa_", r"sq[pua]_[0-9a-f]{40}"),
    token("buildkite_token", "bkua_", r"bkua_[0-9a-f]{40}"),
    token("circleci_token", "ccipat_|ccprj_", r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,30}_[0-9a-f]{40}"),
    token("artifactory_key", "akcp", r"AKCp[A-Za-z0-9]{60,75}+"),
    # Chat and mail
    token(
        "discord_token",
        ".",
        rf"[MNO][A-Za-z0-9_-]{{22,27}}\.{_B64}{{6,7}}\.{_B64}{{27,40}}+",
        vendor_random,
    ),
    token(
        "dingtalk_webhook",
        "access_token=",
        r"https?://oapi\.dingtalk\.com/robot/send\?access_token=[0-9a-f]{64}",
    ),
    fixed("dingtalk_secret", "sec", r"SEC[0-9a-f]{64}"),
    token(
        "feishu_webhook",
        "/open-apis/bot/",
        r"https?://open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v2/)?hook/[0-9a-f-]{32,40}",
    ),
    token(
        "wecom_webhook",
        "/cgi-bin/webhook/send",
        r"https?://qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[0-9a-f-]{32,40}",
    ),
    token(
        "teams_webhook",
        ".webhook.office.com/",
        r"https?://[a-z0-9-]{1,63}\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{40,300}",
    ),
    token("mailgun_key", "key-", r"key-[0-9a-f]{32}"),
    fixed("mailgun_key", "-", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    fixed("mailchimp_key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    token("brevo_key", "xkeysib-|xsmtpsib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    token("resend_key", "re_", r"re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,30}", vendor_random),
    # Shops and money
    token("shopify_token", "shp", r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}"),
    token("square_token", "sq0", rf"sq0(?:atp|csp|idp)-{_B64}{{22,50}}+"),
    token("square_token", "eaaa", rf"EAAA[lE]{_B64}{{55,70}}+", vendor_random),
    token("paypal_token", "access_token$", r"access_token\$\w{4,12}\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    token("amazon_mws_token", "amzn.mws.", r"amzn\.mws\.[0-9a-f-]{36}"),
    # Watching and work
    token("grafana_token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    token("grafana_token", "glc_", r"glc_[A-Za-z0-9+/]{32,400}={0,3}"),
    token("sentry_token", "sntry", r"sntryu_[0-9a-f]{64}|sntrys_[A-Za-z0-9+/=_-]{60,400}"),
    token("newrelic_key", "nrak-|nrii-|nraa-", r"NR(?:AK|II|AA)-[A-Za-z0-9_-]{24,40}"),
    token("dynatrace_token", "dt0", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    token("notion_key", "secret_|ntn_", r"secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,60}+"),
    token("linear_key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}+"),
    token("figma_token", "figd_", rf"figd_{_B64}{{36,60}}+"),
    token("airtable_token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    token("asana_token", "/", r"[0-9]/[0-9]{15,17}(?:/[0-9]{15,17})?:[0-9a-f]{32}"),
    token("atlassian_token", "atatt3|atctt3", r"AT[AC]TT3[A-Za-z0-9_=-]{40,400}"),
    token("bitbucket_token", "atbb", r"ATBB[A-Za-z0-9_=.-]{24,60}", vendor_random),
    token("postman_key", "pmak-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    token("dropbox_token", "sl.", rf"sl\.(?:u\.)?{_B64}{{100,1400}}+"),
    token("onepassword_token", "ops_eyj", rf"ops_eyJ{_B64}{{100,2000}}+"),
    fixed(
        "onepassword_key",
        "a3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    token("facebook_token", "eaa", r"EAA[A-Za-z0-9]{80,400}+", vendor_random),
    # Keys of tools
    fixed("age_key", "age-secret-key-", r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
    fixed("wallet_key", "prv", r"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{107,108}"),
    _after(
        "wireguard_key", "privatekey", r"PrivateKey[ ]?", r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]="
    ),
)

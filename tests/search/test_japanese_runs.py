"""A run of Japanese characters is found in each page that has it, and in no other."""

import random
import re
import unicodedata

import pytest

from ubp.search.terms import Term

PAGES = {
    "auth.md": """# 認証の仕組み

アクセストークンの有効期限が切れると、認証サーバーは
401を返す。再発行する。
""",
    "split.md": "# 分割\n\n有効\n期限という語は、行をまたぐ。期限、切れ。\n",
    "half.md": "# ﾄｰｸﾝ\n\nﾊﾝｶｸのｶﾅ。ＯＡｕｔｈの設定を見直す。\n",
    "marks.md": "# か\u3099きく\n\nか\u3099くしゅうと学習、ウェブサイト、々々。\n",
    "mixed.md": "# Setup\n\nOAuthの設定をconfig.jsonで行い、トークン(token)を期限切れにする。\n",
    "names.md": """---
aliases: [記録, 音声]
tags: [表示, 計画]
---
# 手引き

## 設定のバックアップ

毎日行う。

### 復元

一日に一回行う。
""",
    "code.md": """# 例

```js
// 認証サーバーに接続する
const 変数 = 1;
```

| 表 | 有効期限 |
|---|---|
| a | b |
""",
}
ACROSS = ("プ復", "録音", "示計", "ップ復元", "クアップ復元", "設定のバックアップ復元")
LENGTHS = (1, 2, 3, 6, 12)


def characters(text):
    """The letters and digits of a page in a row, widths apart; none between names."""
    if text.startswith("---"):
        return "|".join(map(characters, re.split(r"\n+|[\[\],#]", text.replace("---", ""))))
    normalized = unicodedata.normalize("NFKC", text)
    return "".join(filter(str.isalnum, normalized)).lower()


@pytest.fixture
def full_text(make_repository, opened):
    return opened(make_repository(PAGES)).session.view().full_text()


@pytest.mark.parametrize("length", LENGTHS)
def test_run_finds_the_pages_that_brute_force_finds(full_text, length):
    texts = {path: characters(text) for path, text in PAGES.items()}
    runs = {
        text[start : start + length]
        for text in texts.values()
        for start in range(len(text) - length + 1)
        if not any(c.isascii() for c in text[start : start + length])
    }
    chance = random.Random(length)
    absent = {run[-length:] for run in ACROSS if len(run) >= length}
    absent |= {
        "".join(chance.sample("認証期限設定ーのトん々", length)) for _ in range(30) if length < 10
    }
    assert len(runs) > 10
    for run in runs | absent:
        expected = {path for path, text in texts.items() if run in text}
        assert full_text.holding(Term(run).phrase) == expected, run

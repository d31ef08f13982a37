"""Strings that tokenizers trip over."""

from __future__ import annotations

STRINGS = (
    "",
    " ",
    "\n",
    "\x00",
    "a\x00b\x00\x00c",
    "".join(map(chr, range(0x20))),
    "".join(map(chr, range(0x7F, 0xA1))),
    "one\x1cleft\x1dright\x1eup\x1fdown",
    # special tokens are ordinary text
    "<|endoftext|>",
    "<|fim_prefix|>x<|fim_suffix|>y<|endofprompt|>",
    "<|im_start|>user\n<|endoftext|><|im_end|>",
    # surrogates: lone ones, a pair in two halves, halves the wrong way round
    "\ud800",
    "a\udfffb",
    "\ud83d\ude00",
    "\ude00\ud83d",
    "line\n\ud800 next\n\udc00",
    "\ufeff\ufeffbyte order marks",
    # scripts
    "नमस्ते दुनिया, यह हिन्दी है।",
    "สวัสดีชาวโลก ภาษาไทยไม่มีช่องว่าง",
    "你好，世界。这是一个测试。\n第二行",
    "日本語のテキストとカタカナ。",
    "안녕하세요 세계",
    "مرحبا بالعالم",
    "Tiếng Việt ấ ỗ ệ",
    "বাংলা",
    "ÀÉÎõü ŠŽ ǅ ǈ ǋ ª º ʰ ſ 'ſ don'ſ",
    "e\u0301 \u0301\u0301 a\u0301'S \n\u0301x",
    "𝐛𝐨𝐥𝐝 𐌰𐌱 \U000e0041",
    "１２３４ ②③ ½ Ⅷ ٣٤٥",
    # emoji
    "😀😀😀",
    "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🇩🇪🇫🇷 ❤️ 1️⃣",
    # contractions
    "don't DON'T I'Ll we'VE 'tis 's 'S '",
    # white space and line ends
    "a  b   c    d\te\t\tf",
    "a\r\nb\rc\n\rd\n\n\r\n  e  \n   \n\tf   ",
    "a\u00a0b\u2003c\u2028d\u2029e\u0085f\x0bg\x0ch\u3000i\u200bj",
    "   \n   \n   x",
    "\t\t\n\t\ty\n   ",
    # slashes behind signs and line ends
    "!\n/usr/bin\n//\n---\n/\n# a\n /b\n*/\n/*",
    ")\r\n//x\n\n//y ,/ ,\n,/\n",
    "https://example.org/a/b?c=d&e=%20#f",
    # numbers
    "1 12 123 1234 12345678901 3.14159 1,000,000",
    # code and tables
    "```python\ndef f(x: int) -> int:\n    return x ** 2\n```\n",
    "| a | b |\n|---|:--|\n| 1 | `x` |\n",
    "AbCdEf XMLHttpRequest camelCaseWord SCREAMING_SNAKE",
    # long runs
    "a" * 5000,
    "A" * 5000,
    " " * 5000,
    " " * 5000 + "x",
    "\n" * 5000,
    "\r\n" * 2500,
    "\t" * 5000,
    "-" * 5000,
    "/" * 5000,
    "1" * 5000,
    "中" * 3000,
    "😀" * 2000,
    "\u0301" * 3000,
    "\x00" * 3000,
    "'" * 3000,
    "ab" * 3000,
    ("A" * 399 + "a") * 20,
    (" " * 99 + "!") * 50,
    ("x" * 399 + " ") * 5,
)

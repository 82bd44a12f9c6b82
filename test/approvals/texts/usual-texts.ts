/** Texts as people and their agents write them every day: nothing in them is meant to hide. */

const NAMES = [
  "Ada Lovelace",
  "José Álvarez",
  "Zoë Müller-Lüdenscheid",
  "李小龍",
  "Дарья",
  "محمد",
  "שרה",
  "Nguyễn Thị",
  "O’Brien",
];
const DOMAINS = ["example.org", "mail.example.co.uk", "münchen.example", "xn--mnchen-3ya.example", "例え.example"];

export const ADDRESSES: readonly string[] = [
  ...NAMES.flatMap((name, index) => [
    `${name} <p${index}@${DOMAINS[index % DOMAINS.length]}>`,
    `"${name}" <p${index}+tag@${DOMAINS[(index + 1) % DOMAINS.length]}>`,
  ]),
  ...DOMAINS.flatMap((domain) => [`ada@${domain}`, `ada.lovelace+bills@${domain}`, `"a b"@${domain}`]),
  ...[
    "10 Downing Street, London SW1A 2AA",
    "Königstraße 5\n70173 Stuttgart",
    "〒100-0001 東京都千代田区千代田1-1",
    "+44 20 7946 0958",
  ],
  ...[
    "DE89 3704 0044 0532 0130 00",
    "4111 1111 1111 1111",
    "078-05-1120",
    "192.168.0.1",
    "fe80::1%eth0",
    "00:1A:2B:3C:4D:5E",
  ],
];

export const MAILS: readonly string[] = NAMES.flatMap((name, index) => [
  `Hello ${name},\n\nthe ${index + 2}nd invoice is attached.\n\nBest,\nAda`,
  `Hi ${name.split(" ")[0]}! Lunch on 2026-12-0${index + 1} at 12:30? Or 1 o'clock - "whatever works".`,
  `> ${name} wrote:\n>> Is it 100% sure?\n> Yes.\n\nFine & good; see #${index} (page 1/2).\n-- \nAda`,
]);

export const LINKS: readonly string[] = [
  ...[
    "https://example.org",
    "http://127.0.0.1:8790/login?next=%2Finbox",
    "https://例え.example/パス?q=テスト#断片",
    "www.example.org",
  ],
  ...[
    "https://drive.example.org/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit?usp=sharing",
    "ftp://ex.org/a%20b",
  ],
  ...[
    "https://example.org/reset?token=9f8e7d6c5b4a&user=ada",
    "https://s3.example/x?X-Amz-Signature=abcdef0123456789&X-Amz-Expires=60",
  ],
  ...[
    "mailto:ada@example.org?subject=Hi%20there",
    "tel:+442079460958",
    "geo:48.2,16.3",
    "urn:isbn:0451450523",
    "file:///tmp/a b.txt",
  ],
  ...[
    "https://example.org/a_(b)",
    "https://en.wikipedia.org/wiki/C%2B%2B",
    "example.org/path",
    "data:text/plain,hello",
  ],
];

/** What people call a password, and how they hand one on. */
export const PASSWORDS: readonly string[] = [
  ...[
    "The wifi password is: correct horse battery staple",
    "Passwort: Sommer2026!",
    "pw: hunter2",
    "PIN 1234, code 987654",
  ],
  ...[
    "Your code is 493 201. Do not share it.",
    "password = P@ssw0rd; user = ada",
    "DB_PASSWORD=hunter2hunter2",
    "otp: 123456",
  ],
  ...[
    "API key for the printer: 3f2a-77b1-90cc",
    "My token is not here, ask Bob.",
    "secret: the cake is for Ada",
    "Authorization is needed",
  ],
  ...[
    "Key: C major. Tempo: 120.",
    "The bearer of this letter is my cousin.",
    "Basic training starts at 9.",
    'token: "one ring"',
  ],
];

export const CODE: readonly string[] = [
  ...[
    "const a = `x\u0024{b}`;",
    "if (a < b && c > d) { return a || b; }",
    "SELECT * FROM t WHERE a = 'x' -- all",
    'rm -rf "$HOME/tmp"',
  ],
  ...[
    "#!/bin/sh\nset -e\necho \"$1\" | sed 's/a/b/g' > out.txt\n",
    "def f(x):\n    return x ** 2  # square\n",
    "a\tb\tc\n1\t2\t3",
  ],
  ...[
    "```js\nconsole.log(1)\n```",
    '{\n  "a": [1, 2],\n  "b": null\n}',
    '<p class="x">Hi</p>',
    "C:\\Users\\Ada\\x.txt",
    "\\d+\\.\\d{2}",
  ],
  ...[
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b",
    'name,amount\n"Lee, Ann",3.50\n',
    "key: value\nlist:\n  - a\n  - b",
    "x = [i for i in y]",
  ],
  ...[
    "BEGIN:VCARD\r\nFN:Ada\r\nEND:VCARD\r\n",
    "E = mc², ½ × 3 ≠ 2, ∑ ∞ √2 ≤ π",
    "a | b | c",
    "~/notes/*.md",
    "%PATH%;%TEMP%",
    "5 % of 3 > 0",
  ],
];

export const SCRIPTS: readonly string[] = [
  ...[
    "请把发票发给李小姐，谢谢！",
    "会議は明日の10時からです。",
    "내일 오후 세 시에 만나요.",
    "｢全角｣　スペース",
    "ｶﾀｶﾅ",
    "𠮷野家",
  ],
  ...[
    "שלום, הפגישה ב-10:00 (חדר 4).",
    "مرحبا، الاجتماع الساعة ١٠:٠٠ (غرفة ٤).",
    "Send to محمد before 5 pm",
    "می‌خواهم بروم",
    "שרה <s@ex.org>",
  ],
  ...[
    "สวัสดีครับ ขอบคุณ",
    "नमस्ते, कल मिलते हैं",
    "க்ஷ ஸ்ரீ",
    "ខ្មែរ",
    "བོད་ཡིག",
    "Ελληνικά",
    "Ђурђевак",
    "ქართული",
    "አማርኛ",
    "Tiếng Việt",
  ],
  ...[
    "👍",
    "👩‍🚀 to the 🌕!",
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈 🇩🇪 🇯🇵",
    "1️⃣ 2️⃣",
    "👋🏽",
    "❤️",
    "☺︎",
    "(╯°□°)╯︵ ┻━┻",
    "¯\\_(ツ)_/¯",
    "café naïve œuvre",
    "Straße ẞ",
    "İstanbul ı",
  ],
  ..."„deutsch“|«français»|“english”|‘single’|a – b — c|1…2|№ 5|§ 3 Abs. 2|© ® ™|°C|€ 9,99|¥1,000|½ l|x²|10 000|1'000.50".split(
    "|",
  ),
];

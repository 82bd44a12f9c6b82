/** Beginnings of words for what was sent and for drafts, in many languages; only as the beginning of a word. */
const WORDS = [
  ...["sent", "outbox", "gesendet", "postausgang", "envoye", "enviad", "inviat", "verzonden", "skickat", "sendt"],
  ...["sent items", "lahetetyt", "wysłan", "odeslan", "odoslan", "elkuldott", "trimis", "отправлен", "надіслан"],
  ...["изпратен", "απεσταλμεν", "gonderil", "送信済", "已发送", "已傳送", "寄件備份", "보낸", "đa gui", "terkirim"],
  ...["ส่งแล้ว", "จดหมายที่ส่ง", "المرسل", "נשלח", "דואר יוצא"],
  ...["draft", "entwurf", "entwurfe", "brouillon", "borrador", "bozz", "rascunho", "concept", "utkast", "kladde"],
  ...[
    "luonno",
    "robocz",
    "koncept",
    "piszkozat",
    "ciorne",
    "чернови",
    "чернетк",
    "προχειρ",
    "taslak",
    "下書き",
    "草稿",
  ],
  ...["임시", "ban nhap", "thu nhap", "draf", "ฉบับร่าง", "مسودات", "טיוט"],
];

/** Words such as `presentation` hold shorter ones. */
const STARTS = new RegExp(`(?<![\\p{L}\\p{N}])(?:${WORDS.map(fold).join("|")})`, "u");

/**
 * True for a folder of sent mail or drafts by its name, in one of many languages. Nobody but the account's programs files mail
 * there; INBOX itself is never one.
 */
export function isOwnFolder(folder: string): boolean {
  const levels = folder.split("/");
  return STARTS.test(fold(levels.at(-1) ?? ""));
}

/** Without case and marks. */
function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/[\p{M}\p{Cf}]/gu, "")
    .toLowerCase()
    .replaceAll("ı", "i")
    .trim();
}

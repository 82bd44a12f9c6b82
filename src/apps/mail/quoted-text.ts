/** A text of a mail, by who wrote it. */
export interface PartedText {
  /** Lines of whoever sent it. */
  readonly own: string;
  /** Lines that are quoted, with what introduces them. */
  readonly quoted: string;
  /** Whoever is quoted first, as the introduction names them. */
  readonly by: string | undefined;
}

/** Words of mail programs before what they quote, in many languages. */
const WROTE =
  /wrote|writes|schrieb|[ée]crit|escribi[óo]|ha scritto|scrisse|schreef|escreveu|skrev|kirjoitti|napisał|napsal|napísal|írta|a scris|писал|написа|пише|έγραψε|yazdı|写道|寫道|のメール|書きました|작성|đã viết|menulis|เขียน|كتب|כתב/iu;
const FROM =
  /^[\s*]*(?:From|Von|De|Da|Van|Från|Fra|Lähettäjä|Od|Feladó|De la|От|Від|Από|Kimden|Gönderen|差出人|送信者|发件人|發件人|寄件者|보낸 ?사람|Từ|Dari|จาก|من|מאת)[\s*]*[:：]/iu;
const FURTHER =
  /^[\s*]*(?:Sent|Date|To|Cc|Subject|Reply-To|Gesendet|Datum|An|Betreff|Envoyé|À|Objet|Enviado(?: el)?|Fecha|Para|Asunto|CC|Inviato|Data|A|Oggetto|Verzonden|Aan|Onderwerp|Skickat|Till|Ämne|Sendt|Dato|Til|Emne|Lähetetty|Päivämäärä|Vastaanottaja|Aihe|Wysłano|Do|Temat|Odesláno|Komu|Předmět|Predmet|Elküldve|Dátum|Címzett|Tárgy|Trimis|Către|Subiect|Assunto|Отправлено|Дата|Кому|Тема|Надіслано|Στάλθηκε|Ημερομηνία|Προς|Θέμα|Tarih|Kime|Konu|日時|送信日時|日付|宛先|件名|发送时间|发送日期|日期|收件人|主题|主旨|寄件日期|收件者|보낸 ?날짜|날짜|받는 ?사람|제목|Ngày|Đến|Chủ đề|Tanggal|Kepada|Perihal|วันที่|ถึง|เรื่อง|التاريخ|إلى|الموضوع|תאריך|אל|נושא)[\s*]*[:：]/iu;
/** What parts a mail from another one, such as `---- Forwarded message ----`: how it begins and ends. */
const RULE = [/^[-_=*]{3}/, /[-_=*]{3}$/] as const;
const PREFIXED = /^\s{0,3}[>＞]/;
const HAS_ADDRESS = /[^\s<>@]@[^\s<>@]/;
const HAS_DATE = /\d{4}|\d{1,2}[:.]\d{2}/;
/** Programs break lines that they quote from about here on, and leave the rest without a mark. */
const LONG_LINE = 60;
/** Longest introduction, in characters, and in lines. */
const MAX_INTRODUCTION = 500;
const MAX_INTRODUCTION_LINES = 3;
/** Lines of a head below the first. */
const HEAD_LINES = 6;

/**
 * Parts the text of a mail into lines of its sender and lines that they quote or forward. In doubt a line is quoted: what
 * stands below the head of another mail, or an introduction without marked lines, is so to its end.
 */
export function partQuoted(text: string): PartedText {
  const lines = text.split("\n");
  const own: string[] = [];
  const quoted: string[] = [];
  let [by, at]: [string | undefined, number] = [undefined, 0];
  while (at < lines.length) {
    const found = readIntroduction(lines, at);
    if (found !== undefined) by ??= readAuthor(found.text);
    const isMarked = isQuoted(lines, at);
    const length = found?.isRest ? lines.length - at : (found?.length ?? 1);
    (found !== undefined || isMarked ? quoted : own).push(...lines.slice(at, at + length));
    at += length;
  }
  return { own: own.join("\n").trim(), quoted: quoted.join("\n").trim(), by };
}

/** The same for a text whose lines were joined, such as the beginning of a mail in a list. */
export function partJoined(text: string): PartedText {
  const starts = [
    text.search(/(?:^| )[>＞] ?\S/),
    text.search(/[-_=*]{3,} ?\S/),
    ...[...text.matchAll(/[:：](?= |$)/g)].map(({ index }) => findJoinedIntroduction(text.slice(0, index))),
  ].filter((start) => start >= 0);
  const start = Math.min(text.length, ...starts);
  const quoted = text.slice(start).trim();
  return { own: text.slice(0, start).trim(), quoted, by: quoted === "" ? undefined : readAuthor(quoted) };
}

/** Where an introduction that ends with a text begins; -1 where none does. Everything before it may belong to it. */
function findJoinedIntroduction(before: string): number {
  const words = before.match(/\S+$/)?.[0] ?? "";
  if (FROM.test(`${words}:`)) return before.length - words.length;
  if (!WROTE.test(before.slice(-40)) || !(HAS_ADDRESS.test(before) || HAS_DATE.test(before))) return -1;
  const sentence = before.search(/(?:^|(?<=[.!?。！？] ))(?:(?![.!?。！？] ).)*$/u);
  return Math.max(0, sentence);
}

/** Whether a line is marked, or is the end of one that a program broke. */
function isQuoted(lines: readonly string[], at: number): boolean {
  const [before = "", line = "", after = ""] = [lines[at - 1], lines[at], lines[at + 1]];
  if (PREFIXED.test(line)) return true;
  return line.trim() !== "" && PREFIXED.test(before) && before.length >= LONG_LINE && PREFIXED.test(after);
}

/** What introduces a quote at a line: how many lines it has, and whether everything below is quoted. */
function readIntroduction(lines: readonly string[], at: number) {
  const line = (lines[at] ?? "").slice(0, MAX_INTRODUCTION);
  if (line.trim() === "" || PREFIXED.test(line)) return undefined;
  const below = lines.slice(at + 1, at + 1 + HEAD_LINES);
  const isHead = FROM.test(line) && below.some((one) => FURTHER.test(one));
  const isRule =
    RULE.every((one) => one.test(line.trim())) &&
    below.some((one) => FROM.test(one) || (FURTHER.test(one) && HAS_DATE.test(one)));
  if (isHead || isRule) return { length: 1, isRest: true, text: [line, ...below].join("\n") };
  for (let length = 1; length <= MAX_INTRODUCTION_LINES; length += 1) {
    const text = lines.slice(at, at + length).join(" ");
    if (text.length > MAX_INTRODUCTION || (lines[at + length - 1] ?? "").trim() === "") return undefined;
    if (!/[:：]\s*$/.test(text)) continue;
    const names = HAS_ADDRESS.test(text) || HAS_DATE.test(text);
    const next = lines.slice(at + length, at + length + HEAD_LINES).find((one) => one.trim() !== "");
    const isFollowed = PREFIXED.test(next ?? "");
    if (names && (isFollowed || WROTE.test(text))) return { length, isRest: !isFollowed, text };
  }
  return undefined;
}

function readAuthor(whole: string): string | undefined {
  const introduction = whole.slice(0, MAX_INTRODUCTION);
  const [, name = "", address] = /([^\n:,<>"]{0,80})["\s]*<(?:mailto:)?([^\s<>@]+@[^\s<>]+)>/.exec(introduction) ?? [];
  if (address === undefined) return /[^\s<>@:(]+@[^\s<>@)]+\w/.exec(introduction)?.[0];
  return name.trim() === "" ? address : `${name.trim()} <${address}>`;
}

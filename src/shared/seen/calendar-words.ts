const MONTHS = [
  "january janvier januar jänner jan janv",
  "february février fevrier februar feb févr fevr",
  "march mars märz maerz mar mär mrz",
  "april avril apr avr",
  "may mai",
  "june juin juni jun",
  "july juillet juli jul juil",
  "august août aout aug",
  "september septembre sept sep",
  "october octobre oktober oct okt",
  "november novembre nov",
  "december décembre decembre dezember dec dez déc",
];

const WEEKDAYS = [
  "monday lundi montag 月曜日 月曜",
  "tuesday mardi dienstag 火曜日 火曜",
  "wednesday mercredi mittwoch 水曜日 水曜",
  "thursday jeudi donnerstag 木曜日 木曜",
  "friday vendredi freitag 金曜日 金曜",
  "saturday samedi samstag sonnabend 土曜日 土曜",
  "sunday dimanche sonntag 日曜日 日曜",
];

const SHORT_DAYS = [
  "mon mo lun",
  "tue tues di mar",
  "wed mi mer",
  "thu thur thurs do jeu",
  "fri fr ven",
  "sat sa sam",
  "sun so dim",
];

/** Months that are other words as well: no date without a day. */
const OTHER_WORDS = new Set([
  "may",
  "mai",
  "march",
  "mars",
  "mar",
  "jan",
  "sep",
  "dec",
  "nov",
  "sept",
  "déc",
  "dez",
  "avr",
  "jun",
  "jul",
]);

/** Number of a month, 1 to 12, in English, German or French. */
export const MONTH_OF: ReadonlyMap<string, number> = numberWords(MONTHS);

/** Number of a weekday, 1 to 7, by its full name, also in Japanese. */
export const WEEKDAY_OF: ReadonlyMap<string, number> = numberWords(WEEKDAYS);

/** The same by its short name, which is a date only beside one. */
export const SHORT_DAY_OF: ReadonlyMap<string, number> = numberWords(SHORT_DAYS);

/** Month names that stand for a date alone. */
export const LONE_MONTHS: readonly string[] = [...MONTH_OF.keys()].filter(
  (word) => !OTHER_WORDS.has(word) && word.length > 3,
);

function numberWords(lists: readonly string[]): Map<string, number> {
  return new Map(lists.flatMap((list, index) => list.split(" ").map((word) => [word, index + 1] as const)));
}

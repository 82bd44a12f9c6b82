/** Zones that feeds name, in minutes east of UTC; those that mean several places are not known. */
const ZONES: Readonly<Record<string, number>> = {
  ...{
    z: 0,
    ut: 0,
    utc: 0,
    gmt: 0,
    wet: 0,
    west: 60,
    bst: 60,
    cet: 60,
    met: 60,
    mez: 60,
    cest: 120,
    mest: 120,
    mesz: 120,
  },
  ...{
    eet: 120,
    eest: 180,
    msk: 180,
    jst: 540,
    kst: 540,
    hkt: 480,
    sgt: 480,
    aest: 600,
    aedt: 660,
    nzst: 720,
    nzdt: 780,
  },
  ...{ hst: -600, akst: -540, akdt: -480, pst: -480, pdt: -420, mst: -420, mdt: -360, cst: -360, cdt: -300 },
  ...{ est: -300, edt: -240, adt: -180 },
};
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
/** Months of other languages that begin in another way. */
const OTHER_MONTHS: Readonly<Record<string, string>> = { mai: "may", okt: "oct", dez: "dec", fev: "feb", avr: "apr" };

const CLOCK = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*([ap]m\b)?`;
const DATE = /^(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?(?=$|[T\s])/i;
const DAY_FIRST = /\b(\d{1,2})(?:st|nd|rd|th)?[\s.-]+([\p{L}]{3})[\p{L}.]*[\s,.-]+(\d{4}|\d{2})(?![\d:])/iu;
const MONTH_FIRST = /\b([\p{L}]{3})[\p{L}.]*\s+(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4})(?![\d:])|.*\s(\d{4})\b)/iu;

/**
 * A time as a feed writes it (RFC 822, W3C-DTF or near to them), as ISO 8601; undefined for one that cannot be read, or is in
 * a zone that is not known. Without a zone it is in UTC, whatever the zone of this machine.
 */
export function readFeedTime(written: string): string | undefined {
  const text = written
    .slice(0, 200)
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .trim()
    .replace(/^(\d{8}T\d\d)(\d\d)(\d\d)?/, "$1:$2:$3");
  const day = readDay(text);
  if (day === undefined) return undefined;
  const clock = new RegExp(`(?:T|\\s|^)${CLOCK}(.*)$`, "i").exec(text);
  const [, hour = "0", minute = "0", second = "0", half = "", rest = ""] = clock ?? [];
  const offset = readOffset(rest.replace(/(?:^|\s)\d{4}$/, ""));
  const [h, m] = [(Number(hour) % (half === "" ? 24 : 12)) + (/^p/i.test(half) ? 12 : 0), Number(minute)];
  if (offset === undefined || Number(hour) > 24 || m > 59 || Number(second) > 60) return undefined;
  const extra = half === "" && Number(hour) === 24 ? 24 : 0;
  const date = new Date(
    Date.UTC(day.year, day.month - 1, day.day, h + extra, m - offset, Math.min(Number(second), 59)),
  );
  // Year numbers below 100 mean others here, and a day that is none becomes another one.
  const isDay = day.day >= 1 && day.day <= new Date(Date.UTC(day.year, day.month, 0)).getUTCDate();
  return isDay && day.month >= 1 && day.month <= 12 ? date.toISOString() : undefined;
}

function readDay(text: string): { year: number; month: number; day: number } | undefined {
  const [, year, month = "1", day = "1"] = DATE.exec(text.slice(0, 11)) ?? [];
  if (year !== undefined) return { year: Number(year), month: Number(month), day: Number(day) };
  const first = DAY_FIRST.exec(text);
  if (first !== null) return toDay(first[3] ?? "", first[2] ?? "", first[1] ?? "");
  const second = MONTH_FIRST.exec(text.replace(/^\p{L}+,?\s+(?=\p{L})/u, ""));
  return second === null ? undefined : toDay(second[3] ?? second[4] ?? "", second[1] ?? "", second[2] ?? "");
}

function toDay(year: string, name: string, day: string) {
  const month = name.toLowerCase();
  const index = MONTHS.indexOf(OTHER_MONTHS[month] ?? month);
  const century = year.length > 2 ? 0 : Number(year) < 70 ? 2000 : 1900;
  return index < 0 ? undefined : { year: Number(year) + century, month: index + 1, day: Number(day) };
}

/** Minutes east of UTC; undefined for a zone that is not known. */
function readOffset(text: string): number | undefined {
  const zone = text.replaceAll(/\(.*?\)/g, "").trim();
  const [, sign, hours = "", minutes = "0"] = /^(?:GMT|UTC)?\s*([+-])(\d{1,2}):?(\d{2})?$/i.exec(zone) ?? [];
  if (sign !== undefined) return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  if (zone === "") return 0;
  return ZONES[zone.toLowerCase()];
}

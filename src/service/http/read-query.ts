/** A limit as text: outside the range it is clamped, anything that is not a number means the default. */
export function readLimit(text: string | undefined, { min = 1, max, byDefault }: LimitRange): number {
  const wanted = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isNaN(wanted) ? byDefault : Math.trunc(Math.min(Math.max(wanted, min), max));
}

/** Where a limit may lie. */
export interface LimitRange {
  /** Default 1. */
  readonly min?: number;
  readonly max: number;
  readonly byDefault: number;
}

/** A text that says something; blank means that it was not given. */
export function readText(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}

/** True for `true`, `1` and `yes`; everything else is false. */
export function readFlag(text: string | undefined): boolean {
  return /^(true|1|yes)$/i.test(text?.trim() ?? "");
}

/** The text that a name in an address stands for; undefined for any other name. */
export function findNotice(notices: Readonly<Record<string, string>>, name: string | undefined): string | undefined {
  return name !== undefined && Object.hasOwn(notices, name) ? notices[name] : undefined;
}

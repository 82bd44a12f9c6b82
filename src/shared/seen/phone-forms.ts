const ONE_DIGIT = /^[17]/;
const TWO_DIGITS = /^(?:20|27|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

/** Forms of a phone number. */
export interface PhoneForms {
  readonly asks: readonly string[];
  readonly gives: readonly string[];
}

/**
 * Forms of a phone number, 7 to 15 digits. With its country it equals the same number, or one that is written without
 * country; without, any number that ends so after its country. undefined for what has neither `+`, `00` nor `0`.
 */
export function phoneForms(written: string): PhoneForms | undefined {
  const digits = written.replaceAll(/\(0\)|\D/g, "");
  const abroad = /^\(?\+/.test(written) ? digits : /^00[1-9]/.test(digits) ? digits.slice(2) : undefined;
  if (abroad !== undefined) {
    const length = ONE_DIGIT.test(abroad) ? 1 : TWO_DIGITS.test(abroad) ? 2 : 3;
    const rest = abroad.slice(length).replace(/^0/, "");
    if (rest.length < 5 || abroad.length > 15) return undefined;
    const full = `phone:+${abroad.slice(0, length)}${rest}`;
    return { asks: [full, `phone:?${rest}`], gives: [full, `phone:~${rest}`] };
  }
  const rest = digits.replace(/^0/, "");
  if (rest === digits || rest.length < 6 || rest.length > 13) return undefined;
  return { asks: [`phone:~${rest}`], gives: [`phone:?${rest}`, `phone:~${rest}`] };
}

const between = (sign: string) => (text: string) => [...text].join(sign);

/** How a stranger may write a value so that it is not found as it is. */
export const DISGUISES: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  case: (text) => text.toUpperCase(),
  "full-width": (text) => text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)),
  "zero-width": between("\u200b"),
  "soft-hyphen": between("\u00ad"),
  "direction-mark": between("\u200e"),
  override: (text) => `\u202e${[...text].reverse().join("")}\u202c`,
  percent: (text) => Buffer.from(text).toString("hex").replace(/../g, "%$&"),
  entities: (text) => [...text].map((sign) => `&#x${sign.codePointAt(0)?.toString(16)};`).join(""),
  base64: (text) => Buffer.from(`it is ${text}`).toString("base64"),
  reversed: (text) => [...text].reverse().join(""),
  "line-break": (text) => text.replace(/[@/]/, "$&\n"),
  tags: (text) => text.replace(/[@/]/, "<b>$&</b>"),
  spelled: (text) => text.replace("@", " at ").replaceAll(".", " dot "),
  brackets: (text) => text.replace("@", "[at]").replaceAll(".", "(dot)"),
  spaces: between(" "),
};

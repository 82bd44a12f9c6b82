/** True for a name that stands for a device under Windows, with any ending: `CON`, `nul.txt`. */
export function isWindowsDevice(name: string): boolean {
  return /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)/i.test(name);
}

/** Device names, alternate streams, and trailing dots or blanks, which Windows drops. */
export function isReservedOnWindows(name: string): boolean {
  return /[<>:"|?*]|[. ]$/.test(name) || isWindowsDevice(name);
}

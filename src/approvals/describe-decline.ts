const REASON_MAX = 300;

/** What a model is told of a human's no: what happened instead, the human's words, and not to try again by itself. */
export function describeDecline(
  what: string,
  message: string | undefined,
  clean: (text: string, max: number) => string,
): { code: string; message: string; hint: string; retryable: boolean } {
  const reason = message === undefined || message.trim() === "" ? "" : ` Reason: ${clean(message, REASON_MAX)}`;
  return {
    code: "declined",
    message: `${what}${reason}`,
    hint: "Do not make this call again unless the user asks for it.",
    retryable: false,
  };
}

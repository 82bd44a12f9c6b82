/** True when the suite was asked for its long form by `SVC_FAULTS=long`. */
export const isLongForm = process.env.SVC_FAULTS === "long";

/** Chooses between the figure of the short form, which is part of `npm run test:all`, and that of the long one. */
export function choose<T>(form: { readonly short: T; readonly long: T }): T {
  return isLongForm ? form.long : form.short;
}

/** Functions of the host's SDK by name; check each before use. */
export type SdkModule = Readonly<Record<string, unknown>>;

/**
 * Loads `openclaw/plugin-sdk/<subpath>` of the host this runs in; undefined where there is none or where it cannot be
 * loaded. Costs up to a second outside a gateway, next to nothing inside.
 */
export async function loadSdk(subpath: string): Promise<SdkModule | undefined> {
  try {
    const specifier: string = `openclaw/plugin-sdk/${subpath}`;
    const loaded: unknown = await import(specifier);
    return typeof loaded === "object" && loaded !== null ? (loaded as SdkModule) : undefined;
  } catch {
    return undefined;
  }
}

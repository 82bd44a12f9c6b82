import { SvcClient } from "../client/client.ts";
import type { Credentials } from "./credentials.ts";
import { type PairOptions, pairDevice } from "./pair.ts";

/** {@link PairOptions} with an address in place of a client. */
export type PairAtOptions = Omit<PairOptions, "client"> & {
  /** Address of the service to pair with. */
  readonly baseUrl: string;
};

/**
 * {@link pairDevice} for hosts that have an address and no client.
 *
 * @throws SvcError `invalid_config` for an address that cannot be used; whatever {@link pairDevice} throws
 */
export async function pairAt({ baseUrl, ...options }: PairAtOptions): Promise<Credentials> {
  const client = new SvcClient({ baseUrl });
  try {
    return await pairDevice({ ...options, client });
  } finally {
    await client.close();
  }
}

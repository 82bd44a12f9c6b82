import type { ServiceOptions } from "../service-options.ts";

/** Options of every test service that its test does not give itself; set by a suite that runs tests on another store. */
export const testDefaults: { forFolder?: (dataDir: string) => Promise<Partial<ServiceOptions>> } = {};

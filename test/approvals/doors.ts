import type { Door } from "./door.ts";
import { findDoor, LOADERS } from "./find-door.ts";

/** True with `SVC_TEST_DOORS=peers`: what loads no peer is the same with all versions of them, and left out. */
export const ONLY_PEERS = process.env.SVC_TEST_DOORS === "peers";

const ALL = await Promise.all(Object.keys(LOADERS).map(findDoor));

/** Every way from a model to a human. */
export const DOORS: readonly Door[] = ONLY_PEERS ? ALL.filter(({ hasPeer }) => hasPeer) : ALL;

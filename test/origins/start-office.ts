import type { TestServiceOptions } from "../../src/service/test-kit/start-test-service.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { closeLater } from "../plugin/calls/open-test-session.ts";
import { layWorld } from "./lay-world.ts";
import { nameOwner } from "./name-owner.ts";
import { type OfficeAttack, readOfficeWorld } from "./office.ts";

/** A service with the world of an attack, closed after the test. */
export async function startOffice(
  attack: OfficeAttack,
  options: TestServiceOptions = {},
): Promise<TestService & { readonly now: () => number }> {
  const world = readOfficeWorld(attack);
  const time = Date.parse(`${world.owner.today}T09:00:00Z`);
  const now = () => time;
  const service = closeLater(await startTestService({ ...options, now }));
  await layWorld(service.dataDir, world, { now: time });
  await nameOwner(service.service.connections, world);
  return { ...service, now };
}

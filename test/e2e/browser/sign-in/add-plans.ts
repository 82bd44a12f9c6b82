import { prepareMcp } from "../../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin } from "../../../../src/service/added/open-source-admin.ts";
import type { TestService } from "../../../../src/testing.ts";
import type { ProtectedMcp } from "../../../service/sign-in/start-protected-mcp.ts";

/** Adds the server as `svc add mcp plans --url … --private --name Plans` does; the app in the words of `liveThrough`. */
export async function addPlans(service: TestService, { url, tokens }: ProtectedMcp) {
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  const definition = { transport: "http", url, isPrivate: true, headers: [], trusted: false } as const;
  const { source } = await prepareMcp({ slug: "plans", name: "Plans", definition }, {}, AbortSignal.timeout(30_000));
  await admin.add(source);
  await admin.close();
  return { service, slug: "plans", name: "Plans", tool: "plans_look", isReviewed: true, tokens } as const;
}

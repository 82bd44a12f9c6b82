import type { Operation } from "../operation.ts";
import { canonicalOperations } from "./canonical-operations.ts";
import { flowOperations } from "./flow-operations.ts";
import { mcpOperations } from "./mcp-operations.ts";
import { registrationOperations } from "./registration-operations.ts";
import { serviceOperations } from "./service-operations.ts";
import { toolOperations } from "./tool-operations.ts";

/** Every operation of the service but pages and the endpoints of the OAuth library. A new route is described here. */
export const allOperations: readonly Operation[] = [
  ...toolOperations,
  ...canonicalOperations,
  ...flowOperations,
  ...mcpOperations,
  ...registrationOperations,
  ...serviceOperations,
];

import { z } from "zod";

/** Guard error: a malformed request or failed authentication, before any execution ("Errors", envelope 3). */
export const bareErrorSchema = z.looseObject({ error: z.string() });
export type BareError = z.infer<typeof bareErrorSchema>;

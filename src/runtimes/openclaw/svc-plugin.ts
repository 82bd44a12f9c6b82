import { registerSvc } from "./register-svc.ts";

/** The plugin as OpenClaw loads it. */
export const svcPlugin = {
  id: "svc",
  name: "svc",
  description:
    "Lets an agent act on mail, files, notes and other apps through svc, with a human approving every write.",
  register: registerSvc,
};

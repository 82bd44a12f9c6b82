import { expect, test } from "vitest";
import { chooseEngine } from "../../../src/service/flows/engines/choose-engine.ts";

const notFound = () => {
  throw new Error("Cannot find module");
};

test("a shared database needs a package that is not installed with this one, and says so before anything starts", () => {
  const database = "postgres://127.0.0.1/svc";
  expect(() => chooseEngine({ dataDir: "/tmp", database }, notFound)).toThrow(
    expect.objectContaining({
      code: "invalid_config",
      field: "database",
      message: expect.stringContaining("@dbos-inc/dbos-sdk"),
      hint: expect.stringContaining("npm install @dbos-inc/dbos-sdk@5"),
    }),
  );
  expect(() => chooseEngine({ dataDir: "/tmp" }, notFound)).not.toThrow();
});

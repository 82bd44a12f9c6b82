import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import { readPackage } from "../package/read-package.ts";
import { createBill, readWholeBill } from "../package/release/software-bill.ts";
import { BILL_SCHEMAS } from "./consumer.ts";

/** The published schema of CycloneDX 1.5, with the two it refers to. */
function createBillValidator(): Validator {
  const read = (name: string) => JSON.parse(readFileSync(join(BILL_SCHEMAS, name), "utf8"));
  const validator = new Validator(read("bom-1.5.SNAPSHOT.schema.json"), "7", false);
  for (const name of ["spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json"]) {
    validator.addSchema(read(name), `http://cyclonedx.org/schema/${name}`);
  }
  return validator;
}

test("the software bill is valid CycloneDX", async () => {
  const bill = createBill(await readWholeBill(), readPackage(), "2026-11-20T12:00:00.000Z");
  const validator = createBillValidator();
  expect(bill.specVersion).toBe("1.5");
  expect(validator.validate(bill).errors).toEqual([]);

  const [first] = bill.components;
  const unknownLicence = { ...first, licenses: [{ license: { id: "MIT-or-so" } }] };
  expect(validator.validate({ ...bill, components: [unknownLicence] }).valid).toBe(false);
  expect(validator.validate({ ...bill, serialNumber: "1" }).valid).toBe(false);
});

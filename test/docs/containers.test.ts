import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { checkOptions } from "../../src/service/service-options.ts";
import { readPackage } from "../package/read-package.ts";
import { listCommands } from "./list-commands.ts";
import { readFences, readTable } from "./read-page.ts";

/** docs/containers.md: what its files say is what the code takes. */

const fences = readFences("docs/containers.md");
const findFence = (language: string) => fences.find((fence) => fence.language === language)?.code ?? "";
const containerfile = findFence("dockerfile").replaceAll(/\\\n\s*/g, "");
const find = (instruction: string) => new RegExp(`^${instruction} (.+)$`, "m").exec(containerfile)?.[1] ?? "";

const composeSchema = z.strictObject({
  services: z.strictObject({
    svc: z.looseObject({
      build: z.strictObject({ context: z.literal("."), dockerfile: z.literal("Containerfile") }),
      environment: z.record(z.string(), z.string()),
      ports: z.array(z.string()),
      volumes: z.array(z.string()),
      stop_grace_period: z.string().regex(/^\d+s$/),
      init: z.literal(true),
      read_only: z.literal(true),
    }),
  }),
  volumes: z.record(z.string(), z.strictObject({})),
});
const compose = composeSchema.parse(parse(findFence("yaml")));
const { svc } = compose.services;

const variables = new Set(readTable("docs/self-hosting.md", "Settings").map(([, , name = ""]) => name));
const { port } = checkOptions({ dataDir: "x" });

test("settings of the service are named as it reads them", () => {
  const set = [...containerfile.matchAll(/\b(SVC_\w+)=/g)].map(([, name = ""]) => name);
  const used = [...set, ...Object.keys(svc.environment)];
  expect(used.length).toBeGreaterThan(2);
  expect(used.filter((name) => !variables.has(name))).toEqual([]);
  expect(JSON.parse(find("ENTRYPOINT"))).toEqual(["svc"]);
  const commands = listCommands().commands.map((command) => command.name());
  expect(commands).toContain(JSON.parse(find("CMD"))[0]);
});

test("the image has a Node that the package takes, and nobody's rights but its own", () => {
  const [, major] = /node:(\d+)-/.exec(find("FROM")) ?? [];
  const { engines } = readPackage();
  expect(Number(major)).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]));
  expect(find("USER")).toBe("svc");
  expect(containerfile).toContain("--uid 10001");
  expect(fences.length).toBeGreaterThan(2);
});

test("port, folders and health are those of the service", () => {
  expect(find("EXPOSE")).toBe(String(port));
  expect(svc.ports).toEqual([`127.0.0.1:${port}:${port}`]);
  expect(containerfile).toContain(`http://127.0.0.1:${port}/health`);
  const folders = JSON.parse(find("VOLUME"));
  expect(svc.volumes.map((volume) => volume.split(":")[1])).toEqual(folders);
  expect(svc.volumes.map((volume) => volume.split(":")[0])).toEqual(Object.keys(compose.volumes));
  expect(find("ENV")).toContain(`SVC_DATA=${folders[0]}/svc `);
  // A running action has a minute, its answer five seconds, and a step of a flow that began meanwhile a minute more.
  expect(Number.parseInt(svc.stop_grace_period, 10)).toBeGreaterThan(125);
});

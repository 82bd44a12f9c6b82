import { createProgramApp } from "../../../../src/service/http/app.ts";
import { createPageApp } from "../../../../src/service/http/page-app.ts";
import type { ServiceParts } from "../../../../src/service/http/service-parts.ts";

/** Every route of the service, as method and path, each once. */
export function listRoutes(): { method: string; path: string; isOfPrograms: boolean }[] {
  const parts = pretendParts();
  return [createProgramApp(parts), createPageApp(parts)].flatMap(({ routes }, index) => {
    const listed = routes.filter(({ method }) => method !== "ALL");
    return [...new Set(listed.map(({ method, path }) => `${method} ${path}`))].map((name) => {
      const [method = "", path = ""] = name.split(" ");
      return { method, path, isOfPrograms: index === 0 };
    });
  });
}

/** Parts that nothing is done with: only the list of routes is wanted. */
function pretendParts(): ServiceParts {
  const anything: unknown = new Proxy(() => undefined, {
    get: (_target, key) => {
      if (key === Symbol.iterator) return function* () {};
      if (key === Symbol.toPrimitive) return () => "anything";
      return anything;
    },
    apply: () => anything,
  });
  return new Proxy({} as ServiceParts, {
    get: (_target, key) => (key === "baseUrl" ? "http://127.0.0.1:1" : anything),
  });
}

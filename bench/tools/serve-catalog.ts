import { readCatalog, startCatalogService } from "../../test/plugin/calls/catalog-service.ts";

/** Serves the catalogue from a process of its own, so that its work is nobody's measurement. */

const service = await startCatalogService(readCatalog(Number(process.argv[2])).tools);
process.on("SIGUSR2", () => console.log(`requests ${service.requests.length}`));
console.log(service.url);

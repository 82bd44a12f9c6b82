import { build } from "./build.ts";
import { PACKAGE_ROOT } from "./read-package.ts";

// `npm run build`
await build(PACKAGE_ROOT);

import { describeUndo } from "./check-undo.ts";
import { openVaultUndo } from "./vault-undo-place.ts";

describeUndo("a vault", openVaultUndo, 1000);

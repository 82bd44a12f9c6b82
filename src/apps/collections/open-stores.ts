import type { AllowedHosts } from "../../service/fetch/address-rules.ts";
import { refuseSetting } from "../../service/service-error.ts";
import { makeOnce } from "../../shared/base/concurrency.ts";
import { localFolder } from "../port/connection-folder.ts";
import type { Action, ActionContext, Integration } from "../port/integration.ts";
import type { CollectionKind, CollectionStore } from "./collection-store.ts";
import { isOnDavServer } from "./dav-settings.ts";

/** What an app of collections needs of its stores: members of its integration, and the store of a call. */
interface Stores extends Required<Pick<Integration, "checkSettings" | "testSettings" | "close">> {
  /** Opens the store of the connection in `context`; does no I/O yet. */
  open(context: ActionContext, action: Pick<Action, "level" | "idempotent">): Promise<CollectionStore>;
}

/**
 * Stores of one kind: a folder of this machine (setting `folder`), or an account on a server (settings of
 * `readDavSettings`). The code of either is loaded by the first call that needs it.
 *
 * @param o.allowed hosts of the owner that may be reached although they are not public
 */
export function createStores(kind: CollectionKind, o: { readonly allowed?: AllowedHosts }): Stores {
  const getAccounts = makeOnce(async () => (await import("./dav-accounts.ts")).createDavAccounts(kind, o));
  return {
    async open(context, action) {
      if (isOnDavServer(context.connection.settings)) return (await getAccounts()).open(context, action);
      const { FolderStore } = await import("./folder-store.ts");
      return new FolderStore(context, kind);
    },
    async checkSettings(settings) {
      if (!isOnDavServer(settings)) {
        if (settings.folder === undefined) throw refuseSetting("server", "is needed, or else a folder.");
        return void localFolder.read(settings);
      }
      if (settings.folder !== undefined)
        throw refuseSetting("folder", "must be empty when there is a server: it is one or the other.");
      (await getAccounts()).check(settings);
    },
    async testSettings(settings, signal) {
      if (isOnDavServer(settings)) await (await getAccounts()).test(settings, signal);
      else await localFolder.check(settings);
    },
    close: async () => (await getAccounts.peek())?.close(),
  };
}

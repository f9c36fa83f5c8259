/** The resource by which a ledger says that it is a sample. */
import { hashedStateKey, resourceStateKey, type StateKey } from '../move/types/state-key.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import { SAMPLE_RESOURCE } from '../sample/settings.ts';
import { openView } from '../store/read/view.ts';
import type { StoreReader } from '../store/store.ts';

/** Reads of a ledger's newest state: the value of a key, and of a resource at its own type's address. */
export async function newestState(store: StoreReader) {
  const view = await openView(store);
  const stateOf = async (key: StateKey) => (await view.state(hashedStateKey(key)))?.bytes;
  const resourceOf = (type: string) => {
    const tag = parseStructTag(type);
    return stateOf(resourceStateKey(tag.address, tag));
  };
  return { stateOf, resourceOf };
}

/** Whether a ledger is a sample: made by a generator, with accounts of nobody. */
export async function isSampleLedger(store: StoreReader): Promise<boolean> {
  const { resourceOf } = await newestState(store);
  return (await resourceOf(SAMPLE_RESOURCE)) !== undefined;
}

/** The resource by which a ledger says that it is a sample. */
import { hashedStateKey, resourceStateKey } from '../move/types/state-key.ts';
import { parseStructTag } from '../move/types/type-parser.ts';
import { SAMPLE_RESOURCE } from '../sample/settings.ts';
import { openView } from '../store/read/view.ts';
import type { StoreReader } from '../store/store.ts';

/** Whether a ledger is a sample: its accounts are invented. */
export async function isSampleLedger(store: StoreReader): Promise<boolean> {
  const tag = parseStructTag(SAMPLE_RESOURCE);
  const view = await openView(store);
  return (await view.state(hashedStateKey(resourceStateKey(tag.address, tag)))) !== undefined;
}

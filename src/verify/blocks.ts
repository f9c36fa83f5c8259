/**
 * Checks that blocks, epochs and the head are consistent (docs/spec/ledger.md §2.3), and sums up their rows;
 * versions.ts has the sums of what they should be.
 */
import {
  BLOCK_BY_HEIGHT,
  BLOCK_BY_VERSION,
  type Block,
  EPOCH_END,
} from '../store/columns/block-column.ts';
import {
  BLOCKS_BY_HEIGHT,
  BLOCKS_BY_VERSION,
  type Column,
  EPOCHS,
  HEAD,
  type ScannedRow,
} from '../store/columns/columns.ts';
import { isBareState } from '../store/columns/head.ts';
import { decodeBucketKey, encodeBucketKey } from '../store/columns/order-key.ts';
import { DamageList, reportAbove, scanColumn, type VerifyContext } from './context.ts';
import { RowSums } from './row-sums.ts';

export async function verifyBlocks(context: VerifyContext): Promise<void> {
  const { head } = context.view;
  const [byHeight, byVersion] = [new RowSums(context.secret), new RowSums(context.secret)];
  const { count, newest, oldest } = await checkHeights(context, byHeight);
  const countByVersion = await checkBlocksByVersion(context, byVersion);
  if (!byHeight.isEqual(BLOCKS_BY_HEIGHT, byVersion)) {
    await reportUnpairedBlocks(context);
    if (count !== countByVersion) {
      const detail = `${countByVersion} blocks, ${BLOCKS_BY_HEIGHT.name} has ${count}`;
      context.damages.column(BLOCKS_BY_VERSION, detail);
    }
  }
  // A ledger of a state alone has no block that its head could be compared with.
  if (count === 0n && isBareState(head)) return;
  await checkEpochs(context);
  const { blockHeight, epoch, timestampUsecs, oldestBlockHeight, oldestVersion } = head;
  for (const [what, stated, found] of [
    ['block height', blockHeight, newest?.height],
    ['epoch', epoch, newest?.epoch],
    ['timestamp', timestampUsecs, newest?.timestampUsecs],
    ['first version of the oldest block', oldestVersion, oldest?.firstVersion],
    ['oldest block height', oldestBlockHeight, oldest?.height],
  ] as const) {
    if (stated === found) continue;
    context.damages.column(HEAD, `it says ${what} ${stated}, the blocks say ${found ?? 'nothing'}`);
  }
}

/**
 * @param rows gets the rows of both columns that the blocks have
 * @returns how many blocks there are, the one at the head's oldest block height, and the newest
 */
async function checkHeights(context: VerifyContext, rows: RowSums) {
  const { damages, view } = context;
  let count = 0n;
  let newest: Block | undefined;
  let oldest: Block | undefined;
  for await (const row of scanColumn(context, BLOCKS_BY_HEIGHT)) {
    const block = await damages.decoded(() => BLOCK_BY_HEIGHT.decode(row, row.value));
    if (block === undefined) continue;
    if (block.firstVersion > view.head.version) {
      reportAbove(context, BLOCKS_BY_HEIGHT, row);
      continue;
    }
    count += 1n;
    rows.add(BLOCKS_BY_HEIGHT, encodeBucketKey(block.firstVersion), row.value);
    addFound(context, BLOCKS_BY_HEIGHT, row, block.firstVersion);
    if (block.height !== decodeBucketKey(row.partition, row.order)) {
      damages.row(BLOCKS_BY_HEIGHT, row, `it holds block ${block.height}`, block.firstVersion);
    }
    if (newest !== undefined) checkSuccessor(context, row, newest, block);
    if (block.height === view.head.oldestBlockHeight) oldest = block;
    newest = block;
  }
  return { count, newest, oldest };
}

/** Without transactions the expected rows are unknown. */
function addFound(
  { found, identity, progress }: VerifyContext,
  column: Column,
  row: ScannedRow,
  version: bigint,
): void {
  if (identity.keepsTransactions && version >= progress.clearedBelow) {
    found.add(column, row, row.value);
  }
}

function checkSuccessor(
  { damages }: VerifyContext,
  row: ScannedRow,
  before: Block,
  block: Block,
): void {
  const faults: string[] = [];
  if (block.height !== before.height + 1n) faults.push(`block ${before.height + 1n} is missing`);
  if (block.firstVersion <= before.firstVersion) faults.push('it begins before the last');
  if (block.timestampUsecs < before.timestampUsecs)
    faults.push('its time is earlier than the last');
  if (block.epoch < before.epoch) faults.push('its epoch is lower than the last');
  for (const fault of faults) damages.row(BLOCKS_BY_HEIGHT, row, fault, block.firstVersion);
}

/** @param rows as in `checkHeights` @returns the number of blocks */
async function checkBlocksByVersion(context: VerifyContext, rows: RowSums): Promise<bigint> {
  let count = 0n;
  for await (const row of scanColumn(context, BLOCKS_BY_VERSION)) {
    const version = decodeBucketKey(row.partition, row.order);
    if (version > context.view.head.version) {
      reportAbove(context, BLOCKS_BY_VERSION, row);
      continue;
    }
    count += 1n;
    rows.add(BLOCKS_BY_HEIGHT, row, row.value);
    addFound(context, BLOCKS_BY_VERSION, row, version);
    const decode = () => BLOCK_BY_VERSION.decode(row, row.value);
    await context.damages.decoded(decode, version);
  }
  return count;
}

/** Names the blocks that one of the two columns has and the other has not. */
async function reportUnpairedBlocks(context: VerifyContext): Promise<void> {
  const { damages, store, view } = context;
  // Rows that cannot be read or do not decode are reported already.
  const unreported = new DamageList();
  for await (const row of scanColumn(context, BLOCKS_BY_HEIGHT)) {
    const block = unreported.decodedNow(() => BLOCK_BY_HEIGHT.decode(row, row.value));
    if (block === undefined || block.firstVersion > view.head.version) continue;
    const counterpart = encodeBucketKey(block.firstVersion);
    const other = await unreported.decoded(async () =>
      store.get(BLOCKS_BY_VERSION, counterpart.partition, counterpart.order),
    );
    if (other?.equals(row.value) === true) continue;
    const detail = `${BLOCKS_BY_HEIGHT.name} has another block ${block.height} here`;
    damages.row(BLOCKS_BY_VERSION, counterpart, detail, block.firstVersion);
  }
  for await (const row of scanColumn(context, BLOCKS_BY_VERSION)) {
    const block = unreported.decodedNow(() => BLOCK_BY_VERSION.decode(row, row.value));
    const version = decodeBucketKey(row.partition, row.order);
    if (block === undefined || version > view.head.version) continue;
    const counterpart = encodeBucketKey(block.height);
    const other = await unreported.decoded(async () =>
      store.get(BLOCKS_BY_HEIGHT, counterpart.partition, counterpart.order),
    );
    if (block.firstVersion === version && other?.equals(row.value) === true) continue;
    damages.row(BLOCKS_BY_VERSION, row, `${BLOCKS_BY_HEIGHT.name} has no such block`, version);
  }
}

/** Each epoch ends where the blocks of the next begin, and none is missing. */
async function checkEpochs(context: VerifyContext): Promise<void> {
  const { damages, view } = context;
  const { head } = view;
  // Epochs that ended before the oldest version may be gone.
  const from = head.oldestVersion;
  const oldest = await damages.decoded(() => view.blockOfVersion(from));
  let expected = oldest?.epoch ?? 0n;
  for await (const row of scanColumn(context, EPOCHS)) {
    const end = await damages.decoded(() => EPOCH_END.decode(row, row.value));
    if (end === undefined) continue;
    const { epoch, lastVersion } = end;
    if (lastVersion <= head.version) addFound(context, EPOCHS, row, lastVersion);
    if (lastVersion < from) continue;
    if (lastVersion > head.version) {
      reportAbove(context, EPOCHS, row);
      continue;
    }
    if (epoch !== expected) {
      damages.row(EPOCHS, row, `epoch ${epoch} where ${expected} is expected`, lastVersion);
    }
    expected = epoch + 1n;
    const last = await damages.decoded(() => view.blockOfVersion(lastVersion), lastVersion);
    const next = await damages.decoded(() => view.blockFromVersion(lastVersion + 1n), lastVersion);
    if (last !== undefined && last.epoch !== epoch) {
      damages.row(EPOCHS, row, `block ${last.height} is of epoch ${last.epoch}`, lastVersion);
    }
    if (next !== undefined && next.epoch !== epoch + 1n) {
      damages.row(EPOCHS, row, `block ${next.height} is of epoch ${next.epoch}`, lastVersion);
    }
  }
  // The newest epoch continues, or ended with the newest version.
  if (expected === head.epoch || expected === head.epoch + 1n) return;
  const detail = `epoch ${expected - 1n} is the last that ended, the head is of ${head.epoch}`;
  damages.column(EPOCHS, detail);
}

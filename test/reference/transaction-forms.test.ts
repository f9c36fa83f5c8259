/** The small vectors of docs/spec/transactions.md §11: parts of transactions with their JSON or text. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vmStatusText } from '../../src/execution/vm-status.ts';
import { readWrites, writeChanges } from '../../src/ledger/transactions/changes-json.ts';
import { readEvents, writeEvents } from '../../src/ledger/transactions/events-json.ts';
import { writePayload } from '../../src/ledger/transactions/payload-json.ts';
import { writeSignature } from '../../src/ledger/transactions/signature-json.ts';
import type { MaybePromise } from '../../src/maybe-promise.ts';
import { BcsReader } from '../../src/move/bcs/bcs-reader.ts';
import { TransactionPayload } from '../../src/move/transactions/payload.ts';
import { ExecutionStatus } from '../../src/move/transactions/transaction-info.ts';
import { openSqliteReader } from '../../src/store/sqlite/sqlite-store.ts';
import type { StoreReader } from '../../src/store/store.ts';
import { TransactionRendering, writtenBy } from '../ledger/transaction-rendering.ts';
import { storeReferenceChain } from './reference-chain.ts';

const SPEC = readFileSync(new URL('../../docs/spec/transactions.md', import.meta.url), 'utf8');

function section(title: string, next: string): string {
  return SPEC.slice(SPEC.indexOf(`### ${title}`), SPEC.indexOf(next, SPEC.indexOf(`### ${title}`)));
}

/** Rows `| name | \`bcs\` | \`text\` |` */
const STATUSES = [
  ...section('11.1', '### 11.2').matchAll(/^\| (.*) \| `([0-9a-f]+)` \| `(.*)` \|$/gm),
];

interface Form {
  readonly title: string;
  readonly bytes: Buffer;
  readonly json: string;
}

/** Below each title the bytes, then the JSON; long lines are truncated. */
const FORMS = section('11.2', '\n## 12')
  .split(/\n# (?=\d)/)
  .slice(1)
  .map((text): Form => {
    const [title = '', ...lines] = text.split('\n');
    const body = lines.filter((line) => line.startsWith('  ')).map((line) => line.slice(2));
    const start = body.findIndex((line) => /^[[{]/.test(line));
    const bytes = Buffer.from(body.slice(0, start).join(''), 'hex');
    return { title, bytes, json: body.slice(start).join('') };
  });

describe('forms of the specification', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-forms-'));
  let store: StoreReader;
  let rendering: TransactionRendering;
  beforeAll(async () => {
    await storeReferenceChain(folder, 0);
    store = openSqliteReader({ directory: folder });
    rendering = await TransactionRendering.over(store);
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it.each(STATUSES.map(([, name, bcs, text]) => ({ name, bcs, text })))(
    'status $name',
    async ({ bcs, text }) => {
      const reader = new BcsReader(Buffer.from(bcs!, 'hex'));
      const status = ExecutionStatus.read(reader);
      reader.finish();
      expect(await vmStatusText(status, rendering.decoding())).toBe(text!.replaceAll('\\|', '|'));
    },
  );

  function shown(title: string, reader: BcsReader): Promise<string> {
    return writtenBy((out): MaybePromise<void> => {
      const decoding = rendering.decoding();
      if (/payload/.test(title))
        return writePayload(out, TransactionPayload.read(reader), decoding);
      if (/event/.test(title)) {
        return writeEvents(out, reader.buffer, readEvents(reader), decoding);
      }
      if (/write set|resource|module/.test(title)) {
        return writeChanges(out, reader.buffer, readWrites(reader), rendering.context());
      }
      return writeSignature(out, reader);
    });
  }

  // The last two are responses of other operations.
  it.each(FORMS.slice(0, 17))('$title', async ({ title, bytes, json }) => {
    const isEvent = /event/.test(title);
    const reader = new BcsReader(isEvent ? Buffer.concat([Buffer.of(1), bytes]) : bytes);
    const text = await shown(title, reader);
    reader.finish();
    expect(text).toBe(isEvent ? `[${json}]` : json);
  });

  it('payload 4 looks like payload 2', async () => {
    const [form] = FORMS.filter(({ title }) => title.startsWith('8 '));
    const bytes = Buffer.concat([Buffer.of(4, 0, 1), form!.bytes.subarray(1), Buffer.of(0, 0, 0)]);
    expect(await shown('payload', new BcsReader(bytes))).toBe(form!.json);
  });

  it('are all read', () => expect([STATUSES.length, FORMS.length]).toEqual([9, 19]));
});

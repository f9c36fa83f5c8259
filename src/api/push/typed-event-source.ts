/** Module events of a type; a position is a version and, in the low 32 bits, the place of an event in it. */
import type { LedgerView } from '../../ledger/ledger-view.ts';
import { byteTools } from '../../move/bcs/bytes.ts';
import type { StructTag } from '../../move/types/type-tag.ts';
import { encodeTypeTag } from '../../move/types/type-tag.ts';
import {
  MAX_BATCH_BYTES,
  MAX_BATCH_RECORDS,
  type RecordBatch,
  type RecordSource,
} from './record-source.ts';

interface Place {
  readonly version: bigint;
  readonly index: number;
}

const INDEX_BITS = 32n;

export function positionOf({ version, index }: Place): bigint {
  return (version << INDEX_BITS) | BigInt(index);
}

function placeAt(position: bigint): Place {
  return {
    version: position >> INDEX_BITS,
    index: Number(BigInt.asUintN(Number(INDEX_BITS), position)),
  };
}

/** @param typeTag BCS */
export function typeKey(typeTag: Uint8Array): string {
  return `types/${byteTools.asBuffer(typeTag).toString('hex')}`;
}

export class TypedEventSource implements RecordSource {
  readonly key: string;
  readonly #type: StructTag;

  constructor(type: StructTag) {
    this.#type = type;
    this.key = typeKey(encodeTypeTag({ kind: 'struct', struct: type }));
  }

  async read(view: LedgerView, from: bigint): Promise<RecordBatch> {
    const { events, next } = await view.typedEvents.page({
      type: this.#type,
      start: placeAt(from),
      version: view.state.version,
      limit: MAX_BATCH_RECORDS,
      maxBytes: MAX_BATCH_BYTES,
    });
    const rendered = await view.typedEvents.render(events);
    const end = this.end(view);
    return {
      records: events.map(({ version, index }, at) => ({
        position: positionOf({ version, index }),
        id: `${version}:${index}`,
        json: rendered[at]!.json,
      })),
      next: next === undefined ? (from > end ? from : end) : positionOf(next),
      isEnd: next === undefined,
    };
  }

  skip(from: bigint, version: bigint): bigint {
    const next = positionOf({ version: version + 1n, index: 0 });
    return from > next ? from : next;
  }

  end({ state }: LedgerView): bigint {
    return positionOf({ version: state.version + 1n, index: 0 });
  }
}

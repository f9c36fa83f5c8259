/** Reads function definitions in the forms of every version (docs/spec/move.md §1.8). */
import type { BinaryCursor } from './binary-cursor.ts';
import { MAX_ACQUIRES, VERSION_2_ABILITIES, VERSION_5_ENTRY } from './binary-limits.ts';
import type { FunctionDefinition, Visibility } from './compiled.ts';
import { FUNCTION_FLAGS, VISIBILITIES } from './definition-codes.ts';
import { readCodeUnit } from './read-code.ts';

/** Reads one function definition with its code. @throws BinaryFormatError */
export function readFunctionDefinition(cursor: BinaryCursor): FunctionDefinition {
  const handle = cursor.index('function handle');
  const { visibility, isEntry, isNative } = readQualifiers(cursor);
  const acquires = cursor.list(MAX_ACQUIRES, 'acquires count', (at) =>
    at.index('struct definition'),
  );
  const code = isNative ? undefined : readCodeUnit(cursor);
  return { handle, visibility, isEntry, isNative, acquires, code };
}

interface Qualifiers {
  readonly visibility: Visibility;
  readonly isEntry: boolean;
  readonly isNative: boolean;
}

function readQualifiers(cursor: BinaryCursor): Qualifiers {
  const start = cursor.offset;
  if (cursor.version < VERSION_2_ABILITIES) {
    const flags = cursor.u8('function flags');
    refuseFlags(cursor, flags & ~(VISIBILITIES.public | FUNCTION_FLAGS.native), start);
    const visibility = (flags & VISIBILITIES.public) === 0 ? 'private' : 'public';
    return { visibility, isEntry: false, isNative: (flags & FUNCTION_FLAGS.native) !== 0 };
  }
  const visibilityCode = cursor.u8('visibility');
  const flags = cursor.u8('function flags');
  const isNative = (flags & FUNCTION_FLAGS.native) !== 0;
  if (cursor.version < VERSION_5_ENTRY) {
    refuseFlags(cursor, flags & ~FUNCTION_FLAGS.native, start + 1);
    if (visibilityCode === VISIBILITIES.script) {
      return { visibility: 'public', isEntry: true, isNative };
    }
    return { visibility: visibilityOf(cursor, visibilityCode, start), isEntry: false, isNative };
  }
  refuseFlags(cursor, flags & ~(FUNCTION_FLAGS.native | FUNCTION_FLAGS.entry), start + 1);
  const isEntry = (flags & FUNCTION_FLAGS.entry) !== 0;
  return { visibility: visibilityOf(cursor, visibilityCode, start), isEntry, isNative };
}

function refuseFlags(cursor: BinaryCursor, unknown: number, offset: number): void {
  if (unknown !== 0) throw cursor.error('bad_value', `function flags ${unknown}`, offset);
}

function visibilityOf(cursor: BinaryCursor, code: number, offset: number): Visibility {
  switch (code) {
    case VISIBILITIES.private:
      return 'private';
    case VISIBILITIES.public:
      return 'public';
    case VISIBILITIES.friend:
      return 'friend';
    default:
      throw cursor.error('bad_value', `visibility ${code}`, offset);
  }
}

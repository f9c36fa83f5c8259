/** Lists of accounts: in settings, separated by commas, and in files. */
import { type Address, HexTextError, parseAddress } from '../../move/types/address.ts';
import { NodeError } from '../node-error.ts';
import { readInputFile } from './input.ts';

/** @throws NodeError `bad_setting` */
export function* accountsOfText(text: string, setting: string): Generator<Address> {
  for (const part of text.split(',')) yield* accountOf(part, setting, 2);
}

/**
 * The accounts of a file, one per line; `#` starts a comment.
 * @throws NodeError `bad_setting` that names the line, `file_not_readable`
 */
export function* accountsOfFile(path: string, maxBytes: number): Generator<Address> {
  const lines = readInputFile(path, 'file of accounts', maxBytes).toString('utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    yield* accountOf(line.replace(/#.*$/, ''), `${path}, line ${index + 1}`, 1);
  }
}

function* accountOf(text: string, where: string, exitCode: 1 | 2): Generator<Address> {
  const trimmed = text.trim();
  if (trimmed === '') return;
  try {
    yield parseAddress(trimmed);
  } catch (cause) {
    if (!(cause instanceof HexTextError)) throw cause;
    const message = `${where}: ${JSON.stringify(trimmed)} is not an address: ${cause.message}`;
    throw new NodeError('bad_setting', message, { cause, exitCode });
  }
}

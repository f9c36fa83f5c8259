/** `daybook fork pack` and `daybook fork unpack`: a fork as one small file, and back. */
import type { Command } from 'commander';
import { packFork, unpackFork } from '../fork-pack.ts';
import { addReport, addSettingOption, describe, type Report } from './command-line.ts';

export function define(command: Command): void {
  describe(command, {
    about: 'daybook serve --fork makes forks.',
    examples: ['fork pack ./fork.pack --data ./fork', 'fork unpack ./fork.pack --data ./fork'],
  });
  const pack = describe(
    command.command('pack').summary('Write all that a fork has recorded to one small file.'),
    {
      about: 'It works while a node serves the fork.',
      examples: ['fork pack ./fork.pack --data ./fork'],
    },
  ).argument('<file>', 'the file to write; one that is there is replaced');
  addSettingOption(pack, 'data', 'folder of the fork');
  const unpack = describe(command.command('unpack').summary('Make a fork of a packed one.'), {
    about: 'The file is checked against its digest before anything is made.',
    examples: ['fork unpack ./fork.pack --data ./fork'],
  }).argument('<file>', 'the packed fork');
  addSettingOption(unpack, 'data', 'folder that is absent or empty');
  addReport(pack, async (_flags, { data }) => {
    return reportOf(await packFork(data, pack.args[0]!));
  });
  addReport(unpack, async (_flags, { data }) => {
    return reportOf(await unpackFork(unpack.args[0]!, data));
  });
}

function reportOf(of: {
  readonly packBytes: number;
  readonly unpackedBytes: number;
  readonly digest: string;
}): Report {
  const { packBytes, unpackedBytes, digest } = of;
  return { facts: { pack_bytes: packBytes, unpacked_bytes: unpackedBytes, sha256: digest } };
}

/** The default genesis of the built program. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDefaultGenesis } from '../../src/chain/genesis/default-genesis.ts';
import { mintKey } from '../../src/chain/genesis/genesis-keys.ts';
import { madeGenesis } from '../chain/framework.ts';
import { ROOT } from '../repo/source-tree.ts';

describe('the default genesis of the built program', () => {
  it('is that of the sources, and small', async () => {
    const { transaction } = await madeGenesis();
    const built = readDefaultGenesis();
    expect(built.transaction.equals(transaction)).toBe(true);
    expect(built.mintKey).toEqual(mintKey());
    expect(statSync(join(ROOT, 'dist/genesis/default.br')).size).toBeLessThan(220_000);
  });

  it('names the package of its modules, with its licence', () => {
    const notice = readFileSync(join(ROOT, 'dist/genesis/NOTICE'), 'utf8');
    expect(notice).toMatch(/^The modules .* @typemove\/aptos 1\.13\.4 \(Apache-2\.0\)\./);
    expect(notice).toContain('Apache License');
  });
});

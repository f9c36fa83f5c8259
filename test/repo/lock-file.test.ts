/**
 * package-lock.json is complete: `npm ci` refuses a lock file that lacks packages of other platforms, and npm leaves
 * them out if the registry of the machine that writes the file does not have them.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
) as { readonly packages: Readonly<Record<string, LockedPackage>> };

describe('package-lock.json', () => {
  it('has every optional package of every platform', () => {
    const paths = Object.keys(lock.packages);
    const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies }]) =>
      Object.keys(optionalDependencies ?? {})
        .filter((name) => !paths.some((other) => other.endsWith(`node_modules/${name}`)))
        .map((name) => `${name}, optional for ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('runs no install script but those of the store', () => {
    const scripts = Object.entries(lock.packages).filter(([, item]) => item.hasInstallScript);
    const expected = ['@photostructure/sqlite'];
    expect(scripts.map(([path]) => path)).toEqual(expected.map((name) => `node_modules/${name}`));
    expect(JSON.stringify(lock)).not.toContain('scarf');
  });

  it('names no registry', () => {
    expect(JSON.stringify(lock)).not.toMatch(/https?:[^"]*\.tgz/);
  });
});

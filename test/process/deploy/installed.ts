/** The program as installed on a server, and that server's users and programs. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../repo/source-tree.ts';

const NOBODY = 65_534;

/** Copies files and folders of the repository, and the packages for production. */
export function install(paths: readonly string[], folder: string): void {
  for (const path of [...paths, ...productionPackages()]) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, dereference: true });
  }
}

/** The folders that `npm ci --omit=dev` creates. */
function productionPackages(): string[] {
  interface Locked {
    readonly packages: Readonly<
      Record<string, { readonly dev?: true; readonly devOptional?: true }>
    >;
  }
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Locked;
  return Object.entries(packages)
    .filter(
      ([path, { dev, devOptional }]) => path.startsWith('node_modules/') && !dev && !devOptional,
    )
    .map(([path]) => path)
    .filter((path) => existsSync(join(ROOT, path)));
}

/** A command without root's rights: its user owns nothing and can read what everybody can. */
export function unprivileged(command: readonly string[]): readonly [string, ...string[]] {
  const drop = `--reuid=${NOBODY} --regid=${NOBODY} --clear-groups --no-new-privs --bounding-set=-all`;
  const all = process.getuid?.() === 0 ? ['setpriv', ...drop.split(' '), ...command] : command;
  return all as readonly [string, ...string[]];
}

/** The user of `unprivileged`. */
export function unprivilegedUser(): { readonly uid: number; readonly gid: number } {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) return { uid: NOBODY, gid: NOBODY };
  return { uid: process.getuid!(), gid: process.getgid!() };
}

/** `PATH` with the folder of server programs, which only root has. */
export const SERVER_PATH = `${process.env['PATH']}:/usr/sbin`;

/** Whether a program can be started; if not, its tests are skipped by name. */
export function hasProgram(name: string, ...args: readonly string[]): boolean {
  const env = { ...process.env, PATH: SERVER_PATH };
  return spawnSync(name, args, { stdio: 'ignore', env }).status === 0;
}

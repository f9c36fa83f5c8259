/** A global setup of vitest: gives the tests of a run a folder for their server, and stops the server at the end. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresFolder: string;
  }
}

export default function setUp({ provide }: TestProject): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-postgres-'));
  // The server runs as another user than the tests.
  chmodSync(folder, 0o711);
  provide('postgresFolder', folder);
  return async () => {
    for (const data of readdirSync(folder)) await endServer(join(folder, data, 'postmaster.pid'));
    rmSync(folder, { recursive: true, force: true });
  };
}

/** The pid of the server's first process is in the first line of the file, which the process removes at its end. */
async function endServer(pidFile: string): Promise<void> {
  if (!existsSync(pidFile)) return;
  process.kill(Number.parseInt(readFileSync(pidFile, 'utf8'), 10), 'SIGQUIT');
  while (existsSync(pidFile)) await sleep(20);
}

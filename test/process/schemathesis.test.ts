/**
 * schemathesis compares a served sample with its OpenAPI document, with all checks. Skipped unless it is installed, in
 * PATH or at SCHEMATHESIS; `.ci/run` installs it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { IS_LONG } from '../random.ts';
import { endOf, killLeftNodes, runCommand, ServedNode, temporaryFolder } from './command.ts';

const PROGRAM = process.env['SCHEMATHESIS'] ?? 'schemathesis';
/** The configuration, with the expected exceptions. */
const CONFIGURATION = fileURLToPath(new URL('schemathesis', import.meta.url));
/** Its coverage phase sends 8,000 requests with the limits of all parameters, so only long runs have it. */
const PHASES = IS_LONG ? 'examples,coverage,fuzzing' : 'examples,fuzzing';
/** A minute on two cores, and many times that on a busy machine. */
const TIMEOUT_MS = 600_000;

const isInstalled = spawnSync(PROGRAM, ['--version']).status === 0;
const folder = temporaryFolder();
afterAll(killLeftNodes);

it.skipIf(!isInstalled)(
  'schemathesis finds nothing (skipped where it is not installed)',
  async () => {
    const data = join(folder, 'ledger');
    expect((await runCommand(['sample', '--data', data])).code).toBe(0);
    // It leaves files in its working folder.
    cpSync(CONFIGURATION, folder, { recursive: true });
    // A version that does not arrive is refused at once.
    const node = await ServedNode.start(data, ['--min-version-wait-ms', '0']);
    const args = ['--no-color', '--config-file', 'schemathesis.toml', 'run', '--phases', PHASES];
    const child = spawn(PROGRAM, [...args, `${node.ready.url}/spec.json`], {
      cwd: folder,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { code, stdout, stderr } = await endOf(child);
    expect(code, stdout + stderr).toBe(0);
  },
  TIMEOUT_MS,
);

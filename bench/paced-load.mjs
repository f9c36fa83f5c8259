// Load at a fixed rate, and load that sends each request exactly once. wrk can do neither.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLIENT = fileURLToPath(new URL('./paced-client.mjs', import.meta.url));

/**
 * @param {{origin: string, requests: import('./load.mjs').LoadRequest[], connections: number, ratePerSecond: number,
 *   total: number}} job `ratePerSecond` 0: as fast as responses arrive
 * @returns {Promise<{seconds: number, requestsPerSecond: number, p50Ms: number, p90Ms: number, p99Ms: number, p999Ms:
 *   number}>}
 */
export async function pacedLoad(job) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const file = join(folder, 'job.json');
    writeFileSync(file, JSON.stringify(job));
    const child = spawn(process.execPath, [CLIENT, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    if (code !== 0) throw new Error(`the client ended with ${code}`);
    const result = JSON.parse(output);
    if (result.failed > 0) throw new Error(`${job.requests[0].path}: failed requests`);
    return result;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

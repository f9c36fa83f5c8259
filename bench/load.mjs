// Puts load on one of our servers on loopback, with wrk if it is installed, else with autocannon.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const REQUESTS_IN_A_FUNCTION = 5_000;

/** Connections kept busy at once. */
export const CONNECTIONS = 64;

const hasWrk = spawnSync('wrk', ['--version']).error === undefined;
/** The load generator in use. */
export const loadGenerator = hasWrk ? 'wrk' : 'autocannon';

/** Index of the request that the next load begins with, by requests and origin. */
const nextRequests = new WeakMap();

/**
 * @typedef {{method?: string, path: string, headers?: Record<string, string>, body?: string}} LoadRequest
 * @typedef {{requestsPerSecond: number, p50Ms: number, p90Ms: number, p99Ms: number, p999Ms: number, errors: number}}
 *   LoadResult Sends `requests` in turn over `connections` connections for `seconds`. It resumes where the previous
 *   load ended, so that no key is requested again before all others.
 * @param {string} origin e.g. http://127.0.0.1:1234
 * @param {LoadRequest[]} requests
 * @returns {Promise<LoadResult>}
 */
export async function load(origin, requests, seconds, connections = CONNECTIONS) {
  const { hostname } = new URL(origin);
  if (hostname !== '127.0.0.1' && hostname !== '[::1]')
    throw new Error(`${origin} is not loopback`);
  const next = nextRequests.get(requests) ?? new Map();
  nextRequests.set(requests, next);
  const first = next.get(origin) ?? 0;
  const loadWith = hasWrk ? loadWithWrk : loadWithAutocannon;
  const { sent, ...result } = await loadWith(origin, requests, first, seconds, connections);
  next.set(origin, (first + sent) % requests.length);
  return result;
}

function luaText(text) {
  const bytes = Buffer.from(text, 'utf8');
  return `"${[...bytes].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
}

function luaScript(requests) {
  const made = requests.map(({ method = 'GET', path, headers = {}, body }) => {
    const table = Object.entries(headers)
      .map(([name, value]) => `[${luaText(name)}]=${luaText(value)}`)
      .join(',');
    const bodyText = body === undefined ? 'nil' : luaText(body);
    return `wrk.format(${luaText(method)}, ${luaText(path)}, {${table}}, ${bodyText})`;
  });
  // A Lua function holds at most some 65,000 constants.
  const functions = [];
  for (let at = 0; at < made.length; at += REQUESTS_IN_A_FUNCTION) {
    const part = made.slice(at, at + REQUESTS_IN_A_FUNCTION);
    functions.push(part.map((text) => `  made[#made + 1] = ${text}`).join('\n'));
  }
  return `local made
local at = 0
init = function(args)
  at = tonumber(args[1])
  made = {}
${functions.map((body) => `  (function()\n${body}\n  end)()`).join(';\n')}
end
request = function()
  at = at % #made + 1
  return made[at]
end
done = function(summary, latency, requests)
  io.write(string.format("JSON{\\"requests\\":%d,\\"us\\":%d,\\"p50\\":%f,\\"p90\\":%f,\\"p99\\":%f,\\"p999\\":%f,\\"status\\":%d,\\"socket\\":%d}\\n",
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(90),
    latency:percentile(99), latency:percentile(99.9),
    summary.errors.status, summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
`;
}

async function loadWithWrk(origin, requests, first, seconds, connections) {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-'));
  try {
    const script = join(folder, 'requests.lua');
    writeFileSync(script, luaScript(requests));
    const output = await run('wrk', [
      '-t1',
      `-c${connections}`,
      `-d${seconds}s`,
      '-s',
      script,
      origin,
      '--',
      String(first),
    ]);
    const line = output.split('\n').find((text) => text.startsWith('JSON'));
    if (line === undefined) throw new Error(`wrk said: ${output}`);
    const result = JSON.parse(line.slice(4));
    return {
      sent: result.requests,
      requestsPerSecond: result.requests / (result.us / 1e6),
      p50Ms: result.p50 / 1000,
      p90Ms: result.p90 / 1000,
      p99Ms: result.p99 / 1000,
      p999Ms: result.p999 / 1000,
      errors: result.status + result.socket,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command}: ${code}`)),
    );
  });
}

async function loadWithAutocannon(origin, requests, first, seconds, connections) {
  const { default: autocannon } = await import('autocannon');
  const result = await autocannon({
    url: origin,
    connections,
    duration: seconds,
    requests: [...requests.slice(first), ...requests.slice(0, first)].map(
      ({ method = 'GET', ...rest }) => ({ method, ...rest }),
    ),
  });
  return {
    sent: result.requests.sent,
    requestsPerSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p90Ms: result.latency.p90,
    p99Ms: result.latency.p99,
    p999Ms: result.latency.p99_9,
    errors: result.non2xx + result.errors,
  };
}

/** The processes of a node, and clients with connections to all of its workers. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServedNode } from './command.ts';

/** Whether a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  return (statOf(pid)?.state ?? 'Z') !== 'Z';
}

/** Process ids of the living children of a process (Linux). */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = statOf(pid);
      return stat !== undefined && stat.parent === parent && stat.state !== 'Z';
    });
}

/** Number of open sockets of a process: its connections, and a few more (Linux). */
export function openSockets(pid: number): number {
  const files = `/proc/${pid}/fd`;
  return readdirSync(files).filter((file) => readlinkSync(`${files}/${file}`).startsWith('socket:'))
    .length;
}

function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

/** Long enough to leave the processors to the awaited processes. */
const POLL_MS = 20;
/** Longer than anything takes on a busy machine. */
const MOST_WAIT_MS = 170_000;

/** Resolves when a condition is true. @throws Error with the text if it does not become true in time */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = MOST_WAIT_MS,
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not in time: ${what}`);
    await delay(POLL_MS);
  }
}

/** The parts of a response that these tests check. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** One request over an agent's connections. Rejects if the connection fails or nothing arrives for ten seconds. */
export function ask(url: string, agent: Agent, headers: Record<string, string> = {}) {
  return new Promise<Answered>((resolve, reject) => {
    const request = get(url, { agent, headers, timeout: 10_000 }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('error', reject).on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, body });
      });
    });
    request.on('timeout', () => request.destroy(new Error('no answer for ten seconds')));
    request.on('error', reject);
  });
}

/** Agents with one connection each, enough for every worker to get some. */
export async function connectionsToAll(node: ServedNode, count = 24): Promise<Agent[]> {
  const agents = Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  await Promise.all(agents.map((agent) => ask(node.ready.url, agent)));
  return agents;
}

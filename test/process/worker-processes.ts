/** The processes of a node, and clients that hold connections to all of its workers. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServedNode } from './command.ts';

/** Whether a process is there and not only waiting to be forgotten. */
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

/** How many sockets a process has open: its connections, and a few more (Linux). */
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

/** So seldom that those who are waited for have the processors. */
const POLL_MS = 20;
/** Longer than anything takes on a machine that does other things too. */
const MOST_WAIT_MS = 170_000;

/** Resolves when a condition holds. @throws Error with the text when it does not in time */
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

/** An answer as far as these tests look at it. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** One request over an agent's connections. Rejects when the connection fails or nothing comes for ten seconds. */
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

/** Agents of one connection each, so many that every worker has some, whoever took which. */
export async function connectionsToAll(node: ServedNode, count = 24): Promise<Agent[]> {
  const agents = Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  await Promise.all(agents.map((agent) => ask(node.ready.url, agent)));
  return agents;
}

/**
 * PostgreSQL servers for tests: in temporary folders, on loopback, as a user other than root, stopped by their own
 * process ids.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { childrenOf } from '../process/worker-processes.ts';

/** Debian's folder of programs, by major version. */
const DEBIAN_FOLDER = '/usr/lib/postgresql';
const USER = 'daybook';
const START_TIMEOUT_MS = 170_000;
/** The server refuses to run as root; this is the user `nobody`. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** An installation of PostgreSQL with Citus, set by test/citus/run; undefined in all other runs. */
export const CITUS_FOLDER = process.env['CITUS_FOLDER'];

/** The folder of PostgreSQL's programs; undefined if it is not installed. */
export function findPostgres(): string | undefined {
  if (CITUS_FOLDER !== undefined) return join(CITUS_FOLDER, 'bin');
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  const folders = (process.env['PATH'] ?? '').split(':');
  if (newest !== undefined) folders.unshift(join(DEBIAN_FOLDER, newest, 'bin'));
  return folders.find((folder) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
}

/** Prefix of test names if PostgreSQL is missing. */
export const NO_POSTGRES = findPostgres() === undefined ? 'skipped, no PostgreSQL: ' : '';

/** Creates a folder that servers may write to. */
export function makeServerFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  giveToServers(folder);
}

/** Makes the servers' user the owner of a file or folder. */
export function giveToServers(path: string): void {
  if (UNPRIVILEGED.uid !== undefined) chownSync(path, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
}

/** Runs one of PostgreSQL's programs as the servers' user. */
export async function runProgram(
  name: string,
  args: readonly string[],
  cwd: string,
): Promise<void> {
  await promisify(execFile)(join(findPostgres()!, name), args, { ...UNPRIVILEGED, cwd });
}

/** One server. */
export class PostgresServer {
  readonly folder: string;
  readonly port: number;
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;

  /**
   * @param folder of its data, created by `initdb` or `pg_basebackup`
   * @param settings such as `fsync=off`
   */
  constructor(folder: string, port: number, settings: readonly string[]) {
    this.folder = folder;
    this.port = port;
    this.#settings = settings;
  }

  /** Creates a new cluster and starts its server. Every connection from this machine is trusted. */
  static async create(folder: string, settings: readonly string[]): Promise<PostgresServer> {
    makeServerFolder(folder);
    const args = ['-D', folder, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    await runProgram('initdb', args, folder);
    const server = new PostgresServer(folder, await freePort(), settings);
    await server.start();
    return server;
  }

  /** Creates a standby of a running server, and starts it; it may be the former primary. */
  static async createStandby(
    folder: string,
    port: number,
    primary: PostgresServer,
  ): Promise<PostgresServer> {
    // Asynchronous: removing the files of a large cluster takes a while, and measurements must continue meanwhile.
    await rm(folder, { recursive: true, force: true });
    makeServerFolder(folder);
    const source = ['--dbname', primary.url(`?application_name=${basename(folder)}`)];
    const args = ['-D', folder, ...source, '--write-recovery-conf', '--checkpoint=fast'];
    await runProgram('pg_basebackup', [...args, '--no-sync'], folder);
    const server = new PostgresServer(folder, port, primary.#settings);
    await server.start();
    return server;
  }

  /** @param query such as `?schema=other` */
  url(query = ''): string {
    return `postgres://${USER}@127.0.0.1:${this.port}/postgres${query}`;
  }

  get pid(): number {
    return this.#process!.pid!;
  }

  async start(): Promise<void> {
    const settings = [
      ...['listen_addresses=127.0.0.1', `port=${this.port}`, 'unix_socket_directories='],
      ...['shared_buffers=64MB', 'max_connections=200', ...this.#settings],
    ];
    const args = ['-D', this.folder, ...settings.flatMap((setting) => ['-c', setting])];
    const stdio = ['ignore', 'ignore', 'ignore'] as const;
    const options = { ...UNPRIVILEGED, cwd: this.folder, stdio: [...stdio] };
    this.#process = spawn(join(findPostgres()!, 'postgres'), args, options);
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    while (!(await this.#answers())) {
      if (this.#process.exitCode !== null || performance.now() > deadlineMs) {
        throw new Error(`the server in ${this.folder} does not start`);
      }
      await sleep(50);
    }
  }

  /** Runs one statement. @returns its rows, fields as text */
  async query(text: string): Promise<string[][]> {
    const client = new pg.Client({ connectionString: this.url() });
    await client.connect();
    try {
      const { rows } = await client.query<string[]>({ text, rowMode: 'array' });
      return rows.map((row) => row.map(String));
    } finally {
      await client.end();
    }
  }

  /** Stops it: SIGINT ends sessions and writes everything; SIGKILL of the first process is a crash. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' = 'SIGQUIT'): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Stops all its processes where they are, like a hanging machine, or resumes them. */
  signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.pid, signal);
    for (const pid of childrenOf(this.pid)) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // A child may have exited since it was listed.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query('select 1');
      return true;
    } catch {
      return false;
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}

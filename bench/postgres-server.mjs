// A PostgreSQL server of our own: in a temporary folder, on a socket only in that folder, stopped by its own pid.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMsOfAll, cpuMsOfEnded, withChildren } from './process-figures.mjs';

/** Debian's folder of server programs, by major version. */
const DEBIAN = '/usr/lib/postgresql';
const USER = 'bench';
const START_TIMEOUT_MS = 30_000;
const POLL_MS = 5;
/** Typical settings for a machine of this size: the data fits the buffers. Durability settings are the defaults. */
const SETTINGS = ['shared_buffers=1GB', 'max_wal_size=4GB', 'synchronous_commit=on'];

/** Folder of initdb and postgres, or the reason why there is none. @returns {{bin?: string, missing?: string}} */
export function findPostgres() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  const folders = (process.env.PATH ?? '').split(':');
  if (newest !== undefined) folders.push(join(DEBIAN, newest, 'bin'));
  const bin = folders.find((folder) =>
    ['initdb', 'postgres', 'psql'].every((program) => existsSync(join(folder, program))),
  );
  if (bin === undefined)
    return { missing: 'no initdb, postgres and psql: apt-get install postgresql' };
  if (process.getuid() === 0 && account() === undefined) {
    return { missing: 'postgres refuses to run as root, and there is no user postgres' };
  }
  return { bin };
}

/** The user that the server runs as, because it refuses to run as root. */
function account() {
  if (process.getuid() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number.parseInt(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout, 10),
  );
  return Number.isNaN(uid) ? undefined : { uid, gid };
}

/**
 * @param {string} bin as found
 * @param {string} folder a temporary one; the server's data goes below it, or exists already
 */
export async function startPostgres(bin, folder) {
  const home = join(folder, 'postgres');
  const isNew = !existsSync(home);
  if (isNew) mkdirSync(home, { mode: 0o700 });
  const user = account();
  if (user.uid !== undefined) {
    chmodSync(folder, 0o711);
    chownSync(home, user.uid, user.gid);
  }
  const data = join(home, 'data');
  const run = { ...user, cwd: home };
  const initdb = ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  if (isNew) execFileSync(join(bin, 'initdb'), initdb, { ...run, stdio: 'ignore' });
  const settings = [...SETTINGS, `unix_socket_directories=${home}`, 'listen_addresses='];
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...run, stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const node = {
    socketFolder: home,
    user: USER,
    settings: SETTINGS,
    pids: () => withChildren(server.pid),
    /** Processor time of all its processes, including ended sessions. */
    cpuMs: () => cpuMsOfAll(withChildren(server.pid)) + cpuMsOfEnded(server.pid),
    query: (sql) => psqlOnce(bin, home, sql),
    session: () => new PsqlSession(bin, home),
    stop: async () => {
      // SIGINT is its "fast" shutdown: it ends sessions and writes everything.
      server.kill('SIGINT');
      await ended;
    },
  };
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (!isReady(data)) {
    if (performance.now() > deadlineMs || server.exitCode !== null) {
      throw new Error('PostgreSQL does not start');
    }
    await sleep(POLL_MS);
  }
  return node;
}

/** The server's state is in the file's eighth line. */
function isReady(data) {
  const file = join(data, 'postmaster.pid');
  return existsSync(file) && readFileSync(file, 'utf8').split('\n')[7]?.trim() === 'ready';
}

function psqlArguments(home) {
  return ['-h', home, '-U', USER, '-d', 'postgres', '-X', '-q', '-A', '-t'];
}

/** Rows of a query, one per line, columns separated by `|`. */
function psqlOnce(bin, home, sql) {
  const output = execFileSync(
    join(bin, 'psql'),
    [...psqlArguments(home), '-v', 'ON_ERROR_STOP=1', '-c', sql],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  );
  return output.trim().split('\n');
}

/** One connection for statements and COPY data. */
class PsqlSession {
  #child;
  #output = '';
  #wake = () => undefined;

  constructor(bin, home) {
    const args = [...psqlArguments(home), '-v', 'ON_ERROR_STOP=1', '-f', '-'];
    this.#child = spawn(join(bin, 'psql'), args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout.on('data', (chunk) => {
      this.#output += chunk;
      this.#wake();
    });
    this.#child.on('exit', () => this.#wake());
  }

  /** Resolves when the server has executed the whole script. */
  async run(script) {
    this.#child.stdin.write(`${script}\n\\echo done\n`);
    while (!this.#output.includes('done\n')) {
      if (this.#child.exitCode !== null) throw new Error('psql ended: see its message above');
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#output = '';
  }

  async end() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.end();
    await ended;
  }
}

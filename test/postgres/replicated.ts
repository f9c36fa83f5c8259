/**
 * A primary with standbys. A commit is acknowledged when one standby has it too, so nothing acknowledged is lost with
 * the primary if the standby that has received most takes over.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../process/worker-processes.ts';
import { ROOT } from '../repo/source-tree.ts';
import { freePort, makeServerFolder, PostgresServer } from './cluster.ts';

const CONFIGURATION = readFileSync(join(ROOT, 'docs/deploy/postgresql.conf'), 'utf8');
const SETTINGS = [
  ...[...CONFIGURATION.matchAll(/^(\w+) = '?(.*?)'?$/gm)].map(
    ([, name, value]) => `${name}=${value}`,
  ),
  'wal_keep_size=1GB',
  // Tests kill processes, not machines, so everything that a process wrote survives.
  'fsync=off',
];

interface ReplicationOptions {
  readonly standbyCount?: number;
  /** In addition to those of docs/deploy/postgresql.conf. */
  readonly settings?: readonly string[];
}

export class ReplicatedPostgres {
  #primary: PostgresServer;
  #standbys: readonly PostgresServer[];

  private constructor(primary: PostgresServer, standbys: readonly PostgresServer[]) {
    this.#primary = primary;
    this.#standbys = standbys;
  }

  /** Starts the servers, in subfolders of `folder`, and waits until all standbys receive. */
  static async create(
    folder: string,
    { standbyCount = 2, settings = [] }: ReplicationOptions = {},
  ): Promise<ReplicatedPostgres> {
    makeServerFolder(folder);
    const all = [...SETTINGS, ...settings];
    const primary = await PostgresServer.create(join(folder, 'server0'), all);
    const standbys: PostgresServer[] = [];
    for (let nth = 1; nth <= standbyCount; nth += 1) {
      const port = await freePort();
      standbys.push(
        await PostgresServer.createStandby(join(folder, `server${nth}`), port, primary),
      );
    }
    const cluster = new ReplicatedPostgres(primary, standbys);
    await cluster.#untilReceiving(standbyCount);
    return cluster;
  }

  get primary(): PostgresServer {
    return this.#primary;
  }

  get standbys(): readonly PostgresServer[] {
    return this.#standbys;
  }

  /** All servers in one location, in a fixed order. @param query such as `?target_session_attrs=read-write` */
  url(query = ''): string {
    const servers = [this.#primary, ...this.#standbys].toSorted((a, b) => a.port - b.port);
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return this.#primary.url(query).replace(/127\.0\.0\.1:\d+/, hosts);
  }

  /**
   * Promotes the standby that has received most, and makes the others its standbys. The former primary must be stopped.
   * If there was only one standby, the new primary has none, and commits wait until the former primary has rejoined.
   * @returns the former primary
   */
  async failOver(): Promise<PostgresServer> {
    const former = this.#primary;
    const received = await Promise.all(
      this.#standbys.map(async (server) => {
        const [row] = await server.query("select pg_last_wal_receive_lsn() - '0/0'");
        return { server, bytes: BigInt(row![0]!) };
      }),
    );
    const { server: next } = received.reduce((a, b) => (b.bytes > a.bytes ? b : a));
    const others = this.#standbys.filter((server) => server !== next);
    await next.query('select pg_promote()');
    for (const server of others) {
      const source = `host=127.0.0.1 port=${next.port} user=daybook application_name=standby`;
      await server.query(`alter system set primary_conninfo = '${source}'`);
      await server.query('select pg_reload_conf()');
    }
    this.#primary = next;
    this.#standbys = others;
    await this.#untilReceiving(others.length);
    return former;
  }

  /** Makes a stopped server, such as a former primary, a standby with a new copy of the data. */
  async rejoin(ended: PostgresServer): Promise<void> {
    const standby = await PostgresServer.createStandby(ended.folder, ended.port, this.#primary);
    this.#standbys = [...this.#standbys.filter((server) => server !== ended), standby];
    await this.#untilReceiving(this.#standbys.length);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#primary, ...this.#standbys].map((server) => server.stop()));
  }

  /** A streaming standby counts as asynchronous until its first reply. */
  async #untilReceiving(count: number): Promise<void> {
    const query = "select count(*) from pg_stat_replication where sync_state = 'quorum'";
    await until('the standbys receive', async () => {
      const [row] = await this.#primary.query(query);
      return Number(row![0]) >= count;
    });
  }
}

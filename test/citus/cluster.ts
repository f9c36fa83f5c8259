/** A coordinator and workers of Citus, in temporary folders, on loopback. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresServer } from '../postgres/cluster.ts';
import { ROOT } from '../repo/source-tree.ts';

/** The settings of docs/deploy/citus.conf, adjusted for all servers on one machine. */
const SETTINGS = [
  ...readFileSync(join(ROOT, 'docs/deploy/citus.conf'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(' = ', '=').replaceAll("'", '')),
  'citus.shard_count=12',
  // The user of the servers has no certificates.
  'citus.node_conninfo=sslmode=disable',
  // Tests kill processes, not machines, so everything that a process wrote survives.
  'fsync=off',
  'max_wal_size=4GB',
];
const WORKERS = 3;

export class CitusCluster {
  readonly coordinator: PostgresServer;
  readonly workers: readonly PostgresServer[];

  private constructor(coordinator: PostgresServer, workers: readonly PostgresServer[]) {
    this.coordinator = coordinator;
    this.workers = workers;
  }

  /** Starts the servers, each in a folder of `folder`. */
  static async create(folder: string): Promise<CitusCluster> {
    const start = async (name: string): Promise<PostgresServer> => {
      const server = await PostgresServer.create(join(folder, name), SETTINGS);
      await server.query('create extension citus');
      return server;
    };
    const coordinator = await start('coordinator');
    await coordinator.query(`select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
    const workers: PostgresServer[] = [];
    for (let nth = 1; nth <= WORKERS; nth += 1) {
      const worker = await start(`worker${nth}`);
      await coordinator.query(`select citus_add_node('127.0.0.1', ${worker.port})`);
      workers.push(worker);
    }
    return new CitusCluster(coordinator, workers);
  }

  /** The worker with the rows of a partition. @param partition as SQL's bytea */
  async workerOf(table: string, partition: string): Promise<PostgresServer> {
    const [[port] = []] = await this.coordinator.query(
      'select nodeport from citus_shards where shardid = ' +
        `get_shard_id_for_distribution_column('${table}', '${partition}'::bytea)`,
    );
    return this.workers.find((worker) => worker.port === Number(port))!;
  }

  async stop(): Promise<void> {
    await Promise.all([this.coordinator, ...this.workers].map((server) => server.stop()));
  }
}

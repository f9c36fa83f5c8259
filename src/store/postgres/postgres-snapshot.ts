/** A store in PostgreSQL as it is at one moment: everything is read in one transaction. */
import { type Answer, type Parameter, PostgresConnection, type Statement } from './connection.ts';
import { PostgresHosts } from './hosts.ts';
import type { PostgresLocation } from './location.ts';
import { LONG_LIMIT_MS } from './pool.ts';
import { PostgresReads } from './postgres-reads.ts';

/** For scans and statistics; other reads are not of the moment. */
export class PostgresSnapshot extends PostgresReads {
  readonly #connection: PostgresConnection;

  private constructor(
    hosts: PostgresHosts,
    { schema, shown }: PostgresLocation,
    connection: PostgresConnection,
    isDistributed: boolean,
  ) {
    super(hosts, schema, shown, isDistributed);
    this.#connection = connection;
  }

  /** @throws StoreError `store_unreachable` and others */
  static async open(location: PostgresLocation, isDistributed: boolean): Promise<PostgresSnapshot> {
    const hosts = new PostgresHosts(location);
    let connection: PostgresConnection | undefined;
    try {
      connection = await PostgresConnection.open(await hosts.find(), 'reader', LONG_LIMIT_MS);
      // Between two pages the reader may write for long.
      await connection.run('set idle_in_transaction_session_timeout = 0');
      await connection.run('begin isolation level repeatable read read only');
      return new PostgresSnapshot(hosts, location, connection, isDistributed);
    } catch (error) {
      await connection?.close();
      await hosts.close();
      throw error;
    }
  }

  protected override askLong(statement: Statement, values: readonly Parameter[]): Promise<Answer> {
    return this.#connection.query(statement, values);
  }

  protected override async release(): Promise<void> {
    await this.#connection.close();
    await super.release();
  }
}

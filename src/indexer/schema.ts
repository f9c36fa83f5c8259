/** The statements that create the tables of the catalogue, and the table whose only row stores the progress. */
import { createHash } from 'node:crypto';
import { CATALOGUE } from './catalogue/index.ts';
import type { Column, Table } from './catalogue/table.ts';

/** Incremented when the same transactions give different rows. */
const ROWS_VERSION = 3;

/** The table of the progress, which clients do not see. */
export const PROGRESS_TABLE = 'daybook_progress';

const MAKE_PROGRESS_TABLE = `CREATE TABLE ${PROGRESS_TABLE} (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  format text NOT NULL,
  chain_id bigint NOT NULL,
  first_version bigint NOT NULL,
  next_version bigint NOT NULL,
  last_root text)`;

/** The statement that removes all tables. */
export function removalStatement(schema: string): string {
  return `DROP SCHEMA IF EXISTS "${schema}" CASCADE`;
}

/** The statements that create all tables, in place of existing ones. */
export function creationStatements(schema: string): string {
  return [removalStatement(schema), `CREATE SCHEMA "${schema}"`, tableStatements()].join(';\n');
}

function tableStatements(): string {
  const [views, tables] = [true, false].map((isView) =>
    CATALOGUE.filter(({ view }) => (view !== undefined) === isView),
  );
  return [
    ...tables!.flatMap(statementsOfTable),
    ...views!.map(({ name, view }) => `CREATE VIEW ${name} AS ${view}`),
    MAKE_PROGRESS_TABLE,
  ].join(';\n');
}

/** The statement that collects statistics. Without names it would cover the whole database, which others use too. */
export const ANALYZING = `ANALYZE ${CATALOGUE.filter(({ view }) => view === undefined)
  .map(({ name }) => name)
  .join(', ')}`;

/** Tables that were created by different statements must be recreated. */
export const SCHEMA_FORMAT = createHash('sha256')
  .update(`${ROWS_VERSION}\n${tableStatements()}`)
  .digest('hex')
  .slice(0, 16);

function statementsOfTable({ name, columns, key, indexes }: Table): string[] {
  const parts = columns.map(columnText);
  if (key.length > 0) parts.push(`PRIMARY KEY (${key.join(', ')})`);
  return [
    `CREATE TABLE ${name} (${parts.join(', ')})`,
    ...indexes.map((index) => `CREATE INDEX ON ${name} (${index.join(', ')})`),
  ];
}

function columnText({ name, type, nullable, generated }: Column): string {
  return [
    name,
    type === 'text' ? 'text COLLATE "C"' : type,
    generated === undefined ? '' : `GENERATED ALWAYS AS (${generated}) STORED`,
    nullable || generated !== undefined ? '' : 'NOT NULL',
    // If a row is put without a flag, an existing row keeps its flag.
    type === 'boolean' && !nullable ? 'DEFAULT false' : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** The location of a ledger in PostgreSQL, and how it is shown to people. */
import { describe, expect, test } from 'vitest';
import { redactedArguments } from '../../src/node/locations/redacted-location.ts';
import {
  isPostgresUrl,
  parsePostgresUrl,
  redactedPostgresUrl,
} from '../../src/store/postgres/location.ts';

const SECRET = 's3cr3t';

describe('the location of a ledger in PostgreSQL', () => {
  test('what is one', () => {
    expect(isPostgresUrl('postgres://host/db')).toBe(true);
    expect(isPostgresUrl('PostgreSQL://host/db')).toBe(true);
    expect(isPostgresUrl('./postgres')).toBe(false);
    expect(isPostgresUrl('postgres:/host')).toBe(false);
  });

  test('its parts; one URL for each host', () => {
    expect(parsePostgresUrl('postgres://host/db')).toEqual({
      urls: ['postgres://host/db'],
      schema: 'daybook',
      attributes: 'any',
      displayName: 'postgres://host/db',
    });
    const several =
      'postgres://me:p%40ss@a:5432,[::1]:6000,c/db?sslmode=verify-full&schema=other&target_session_attrs=prefer-standby';
    expect(parsePostgresUrl(several)).toEqual({
      urls: [
        'postgres://me:p%40ss@a:5432/db?sslmode=verify-full',
        'postgres://me:p%40ss@[::1]:6000/db?sslmode=verify-full',
        'postgres://me:p%40ss@c/db?sslmode=verify-full',
      ],
      schema: 'other',
      attributes: 'prefer-standby',
      displayName: 'postgres://a:5432,[::1]:6000,c/db?schema=other',
    });
    expect(parsePostgresUrl('postgres:///db?host=/run/postgresql').urls).toEqual([
      'postgres:///db?host=%2Frun%2Fpostgresql',
    ]);
  });

  test('malformed ones are refused without being repeated', () => {
    for (const url of [
      `postgres://me:${SECRET}@host:port/db`,
      `postgres://me:${SECRET}@a/b@host/db`,
      `postgres://me:${SECRET}/x@host/db`,
      `postgres://me:${SECRET}#x@host/db`,
      `postgres://me:${SECRET}?x@host/db`,
      `postgres://me:1?${SECRET}@host/db`,
      `postgres://host/db?schema=${'a'.repeat(64)}&password=${SECRET}`,
      `postgres://host/db?schema=pg_x&password=${SECRET}`,
      `postgres://host/db?schema=A&password=${SECRET}`,
      `postgres://host/db?schema=1&password=${SECRET}`,
      `postgres://host/db?schema=&password=${SECRET}`,
      `postgres://host/db?target_session_attrs=any-standby&password=${SECRET}`,
    ]) {
      const refusal = expect.objectContaining({ code: 'store_location_invalid' });
      expect(() => parsePostgresUrl(url), url).toThrow(refusal);
      expect(() => parsePostgresUrl(url), url).not.toThrow(new RegExp(SECRET));
    }
    for (const length of [62, 63]) {
      const url = `postgres://host/db?schema=${'a'.repeat(length)}`;
      expect(parsePostgresUrl(url).schema).toHaveLength(length);
    }
  });

  test('what is shown never contains a password, however the location is written', () => {
    for (const url of [
      `postgres://me:${SECRET}@host/db?schema=x`,
      `postgres://me:${SECRET}@a,b:1/db`,
      `postgres://${SECRET}@host/db`,
      `postgres://host/db?password=${SECRET}&schema=x`,
      `postgres://host/db?schema=x&sslpassword=${SECRET}#${SECRET}`,
      `postgres://me:a@${SECRET}@host/db`,
      `postgres://me:a/${SECRET}@host/db`,
      `postgres://me:a?${SECRET}@host/db`,
      `postgres://me:a#${SECRET}@host/db`,
      `postgres://me:${SECRET}@/db`,
    ]) {
      expect(redactedPostgresUrl(url), url).toMatch(/^postgres:\/\//);
      expect(redactedPostgresUrl(url), url).not.toContain(SECRET);
    }
  });

  test('command lines are shown without what may be a password, whatever the URL is', () => {
    const shown = (arg: string) => redactedArguments(['serve', arg])[1];
    expect(shown(`postgres://me:${SECRET}@host/db`)).toBe('postgres://host/db');
    expect(shown(`--data=jdbc:postgresql://me:${SECRET}@host/db`)).toBe(
      '--data=jdbc:postgresql://…',
    );
    expect(shown(`jdbc:postgresql://host/db?user=me&password=${SECRET}`)).toBe(
      'jdbc:postgresql://…',
    );
    expect(shown(`mysql://me:${SECRET}@host/db`)).toBe('mysql://…');
    expect(shown(`https://me:${SECRET}/x@host/v1?key=${SECRET}`)).toBe('https://host/v1');
    for (const plain of [
      'https://host:8080/v1',
      'https://host/v1@123',
      'https://host@123',
      './a@b',
    ]) {
      expect(shown(plain)).toBe(plain);
    }
  });
});

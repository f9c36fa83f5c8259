/** Where two responses differ, and which differences are intended. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { differencesOf, MAX_PLACES } from '../../src/node/commands/compare/answer-differences.ts';
import {
  isExecution,
  readsNewestVersion,
  routed,
} from '../../src/node/commands/compare/compared-request.ts';
import {
  KNOWN_SUBJECTS,
  knownDifference,
  PRUNED_BY_ONE,
} from '../../src/node/commands/compare/known-differences.ts';
import type { Answer } from '../../src/remote/answer.ts';
import { ROOT } from '../repo/source-tree.ts';

const JSON_TYPE = 'application/json';
const BCS = 'application/x-bcs';

function answer(
  body: string | Uint8Array,
  headers: Record<string, string> = { 'content-type': JSON_TYPE },
  status = 200,
): Answer {
  return { status, headers, body: Buffer.from(body) as Buffer<ArrayBuffer> };
}

const places = (ours: Answer, theirs: Answer) =>
  differencesOf(ours, theirs).map(({ place, ours, theirs }) => [place, ours, theirs]);

describe('differences', () => {
  it.each([
    ['1', '1', []],
    ['{"a":1}', '{"a":1}', []],
    ['9007199254740993', '9007199254740992', [['body $', '9007199254740993', '9007199254740992']]],
    ['1', '1.0', [['body $', '1', '1.0']]],
    ['{"a":{"b":[1,2]}}', '{"a":{"b":[1,3]}}', [['body $.a.b[1]', '2', '3']]],
    [
      '{"a":1}',
      '{"b":1}',
      [
        ['body $.a', '1', undefined],
        ['body $.b', undefined, '1'],
      ],
    ],
    ['{"a b":1}', '{"a b":null}', [['body $["a b"]', '1', 'null']]],
    ['[1,2]', '[1]', [['body $[1]', '2', undefined]]],
    ['[1]', '{}', [['body $', '[1]', '{}']]],
    ['{"__proto__":1}', '{"__proto__":2}', [['body $.__proto__', '1', '2']]],
    [
      '{"a":1,"b":2}',
      '{"b":2,"a":1}',
      [['body byte 2 of 13', '"a\\":1,\\"b\\":2}"', '"b\\":2,\\"a\\":1}"']],
    ],
    ['1', 'no JSON', [['body byte 0 of 1 and 7', '"1"', '"no JSON"']]],
  ])('of %s and %s', (ours, theirs, expected) => {
    expect(places(answer(ours), answer(theirs))).toEqual(expected);
  });

  it('of BCS are by byte', () => {
    const bcs = { 'content-type': BCS };
    expect(places(answer(Buffer.of(1, 2, 3), bcs), answer(Buffer.of(1, 9), bcs))).toEqual([
      ['body byte 1 of 3 and 2', '0203', '09'],
    ]);
    expect(places(answer(Buffer.of(1), bcs), answer(Buffer.of(1, 9), bcs))).toEqual([
      ['body byte 1 of 1 and 2', 'the end', '09'],
    ]);
  });

  it('are of status and headers too, whatever their prefix', () => {
    const ours = { 'content-type': JSON_TYPE, 'x-node-chain-id': '4', 'x-node-cursor': '00' };
    const theirs = { 'content-type': `${JSON_TYPE}; charset=utf-8`, 'x-aptos-chain-id': '5' };
    expect(places(answer('1', ours), answer('1', theirs, 404))).toEqual([
      ['status', '200', '404'],
      ['header content-type', JSON_TYPE, `${JSON_TYPE}; charset=utf-8`],
      ['header …-cursor', '00', undefined],
      ['header …-chain-id', '4', '5'],
    ]);
  });

  it('of ledger headers count at the same newest version only', () => {
    const headers = (version: string, epoch: string) => ({
      ...{ 'x-node-chain-id': '4', 'x-node-ledger-version': version, 'x-node-epoch': epoch },
    });
    expect(places(answer('1', headers('7', '1')), answer('1', headers('8', '2')))).toEqual([]);
    expect(places(answer('1', headers('7', '1')), answer('1', headers('7', '2')))).toEqual([
      ['header …-epoch', '1', '2'],
    ]);
    expect(places(answer('1', headers('7', '1')), answer('1', {}))).toEqual([]);
  });

  it.each([MAX_PLACES - 1, MAX_PLACES, MAX_PLACES + 1])('of %i fields', (count) => {
    const list = (value: number) => answer(JSON.stringify(new Array(count).fill(value)));
    expect(differencesOf(list(1), list(2))).toHaveLength(Math.min(count, MAX_PLACES));
  });

  it('are shown without what a terminal takes as a command', () => {
    const type = { 'content-type': 'text/\u009b2J' };
    const found = places(answer('{"\u009b":"\x7f\u009b31m"}'), answer('\u009b'));
    const others = places(answer('1'), answer('1', type));
    expect(JSON.stringify([found, others])).not.toMatch(/[\x7f-\x9f]/);
    expect(others[0]).toEqual(['header content-type', JSON_TYPE, 'text/\\u009b2J']);
    const [[place, ours]] = places(answer('{"\u009b":"\u009b"}'), answer('{}')) as [string[]];
    expect([place, ours]).toEqual(['body $["\\u009b"]', '"\\u009b"']);
  });

  it('are shown in short', () => {
    const [difference] = differencesOf(answer(`"${'x'.repeat(1_000)}"`), answer('1'));
    expect(difference!.ours!.length).toBeLessThan(200);
  });
});

const request = (path: string, method: 'GET' | 'POST' = 'GET', headers = {}) =>
  routed({ method, path, headers }, 7n);

describe('requests', () => {
  it.each([
    ['/v1/accounts/0x1', '/v1/accounts/0x1?ledger_version=7'],
    ['/v1/accounts/0x1/resources?limit=3', '/v1/accounts/0x1/resources?limit=3&ledger_version=7'],
    ['/v1/accounts/0x1?ledger_version=3', '/v1/accounts/0x1?ledger_version=3'],
    ['/v1/accounts/0x1/events/2', '/v1/accounts/0x1/events/2'],
    ['/v1/nothing', '/v1/nothing'],
    ['/v1', '/v1'],
  ])('%s are for %s', (path, asked) => {
    expect(request(path).path).toBe(asked);
  });

  it('are of the newest version where they cannot name one', () => {
    expect(readsNewestVersion(request('/v1/accounts/0x1/events/2'))).toBe(true);
    expect(readsNewestVersion(request('/v1/accounts/0x1'))).toBe(false);
    expect(readsNewestVersion(request('/v1/transactions/by_version/3'))).toBe(false);
  });

  it('that execute are left out', () => {
    expect(isExecution(request('/v1/transactions', 'POST'))).toBe(true);
    expect(isExecution(request('/v1/transactions/simulate', 'POST'))).toBe(true);
    expect(isExecution(request('/v1/view', 'POST'))).toBe(false);
    expect(isExecution(request('/v1/transactions/encode_submission', 'POST'))).toBe(false);
  });
});

describe('known differences', () => {
  const rows = readFileSync(join(ROOT, 'docs/differences.md'), 'utf8').split('\n');
  it.each(KNOWN_SUBJECTS)('%s is in docs/differences.md', (subject) => {
    expect(rows.filter((row) => row.startsWith(`| ${subject} `))).toHaveLength(1);
  });

  const error = (status: number, code: string, message = ''): Answer =>
    answer(JSON.stringify({ message, error_code: code, vm_error_code: null }), {}, status);
  const encode = request('/v1/transactions/encode_submission', 'POST');
  const events = request('/v1/accounts/0x1/events/2');
  it.each([
    ['encode submission as BCS', encode, answer('00'), error(400, 'bcs_not_supported')],
    [undefined, encode, answer('00'), error(400, 'invalid_input')],
    ['first requested event pruned', events, error(410, 'version_pruned'), answer('[]')],
    [
      'first requested event pruned',
      events,
      error(500, 'internal_error'),
      error(410, 'version_pruned'),
    ],
    [undefined, request('/v1/accounts/0x1'), error(410, 'version_pruned'), answer('{}')],
    ['view', request('/v1/view', 'POST'), error(403, 'api_disabled'), answer('[]')],
    [undefined, request('/v1/view', 'POST'), error(400, 'invalid_input'), answer('[]')],
    [undefined, request('/v1/view', 'POST'), answer('[1]'), answer('[]')],
    [
      '`daybook_…`, `decode_submission`',
      request('/v1/-/ready'),
      answer('{}'),
      error(404, 'web_framework_error'),
    ],
  ])('%s', (subject, asked, ours, theirs) => {
    expect(knownDifference(asked, ours, theirs)).toBe(subject);
  });

  const ofNode = (oldest: number, text: string | Uint8Array, type = JSON_TYPE, status = 200) =>
    answer(text, { 'content-type': type, 'x-node-ledger-oldest-version': `${oldest}` }, status);
  const gone = ofNode(9, '{"error_code":"version_pruned"}', JSON_TYPE, 410);
  it.each([
    [true, '/v1/accounts/0x1', gone, ofNode(0, '{}')],
    [true, '/v1/accounts/0x1', ofNode(0, '{}'), gone],
    [false, '/v1/accounts/0x1', gone, ofNode(9, '{}')],
    [false, '/v1/accounts/0x1', ofNode(0, '', JSON_TYPE, 410), ofNode(9, '{}')],
    [true, '/v1/accounts/0x1/transaction_summaries', ofNode(9, '[3]'), ofNode(0, '[2,3]')],
    [true, '/v1/accounts/0x1/transaction_summaries', ofNode(9, '[]'), ofNode(0, '[2,3]')],
    [false, '/v1/accounts/0x1/transaction_summaries', ofNode(9, '[2]'), ofNode(0, '[2,3]')],
    [false, '/v1/accounts/0x1/transaction_summaries', ofNode(9, '[2,3]'), ofNode(0, '[3]')],
    [false, '/v1/accounts/0x1/resources', ofNode(9, '[3]'), ofNode(0, '[2,3]')],
    [
      true,
      '/v1/accounts/0x1/events/2',
      ofNode(9, Buffer.of(1, 7), BCS),
      ofNode(0, Buffer.concat([Buffer.of(0x80, 1), Buffer.alloc(128, 7)]), BCS),
    ],
  ])('what one node has pruned: %s, %s', (isKnown, path, ours, theirs) => {
    const subject = knownDifference(request(path), ours, theirs);
    expect(subject).toBe(isKnown ? PRUNED_BY_ONE : undefined);
  });
});

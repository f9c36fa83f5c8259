/** Accounts of a sample whose keys were rotated. */
import { expect, it } from 'vitest';
import { FIRST_ORDINARY_ACCOUNT, SampleAccounts } from '../../src/sample/accounts.ts';

const ACCOUNT = FIRST_ORDINARY_ACCOUNT;

it('finds the key that the ledger has, however often it was rotated', () => {
  const rotated = new SampleAccounts(1n, 3);
  for (let rotation = 0; rotation < 30; rotation += 1) {
    rotated.switchToKey(ACCOUNT, rotated.nextKey(ACCOUNT).authenticationKey);
  }
  const resumed = new SampleAccounts(1n, 3);
  resumed.switchToKey(ACCOUNT, rotated.key(ACCOUNT).authenticationKey);
  expect(resumed.key(ACCOUNT)).toEqual(rotated.key(ACCOUNT));
  expect(resumed.address(ACCOUNT)).toBe(rotated.address(ACCOUNT));
});

it('refuses a key that the account never had', () => {
  const accounts = new SampleAccounts(1n, 3);
  expect(() => accounts.switchToKey(ACCOUNT, Buffer.alloc(32))).toThrow(RangeError);
});

/** One way to wait: available values are used at once, promised ones later, with the same result. */
import { describe, expect, test } from 'vitest';
import {
  andThen,
  eachInOrder,
  type MaybePromise,
  mapInOrder,
  prefetch,
  settle,
  together,
} from '../src/maybe-promise.ts';

const failure = new Error('failed');
const text = (value: number) => `value ${value}`;
const failureText = (error: unknown) => (error === failure ? 'recovered' : 'another failure');

describe('what is there is used at once', () => {
  test('andThen, settle and mapInOrder give no promise', () => {
    expect(andThen(1, text)).toBe('value 1');
    expect(settle(() => 1, text, failureText)).toBe('value 1');
    expect(mapInOrder([1, 2], text)).toEqual(['value 1', 'value 2']);
  });

  test('settle recovers from what is thrown', () => {
    const attempt = (): number => {
      throw failure;
    };
    expect(settle(attempt, text, failureText)).toBe('recovered');
  });
});

describe('what is promised is waited for', () => {
  test('andThen, settle and mapInOrder give promises', async () => {
    const later = (value: number) => Promise.resolve(value);
    await expect(andThen(later(1), text)).resolves.toBe('value 1');
    await expect(settle(() => later(1), text, failureText)).resolves.toBe('value 1');
    const half = (value: number): MaybePromise<number> => (value % 2 === 0 ? later(value) : value);
    await expect(mapInOrder([1, 2, 3, 4], half)).resolves.toEqual([1, 2, 3, 4]);
  });

  test('settle recovers from a rejection', async () => {
    const attempt = () => Promise.reject<number>(failure);
    await expect(settle(attempt, text, failureText)).resolves.toBe('recovered');
  });
});

describe('reads that do not depend on one another', () => {
  const later = async (value: number, failed = false) => {
    if (failed) throw failure;
    return value;
  };

  test('together begins all of them, and fails with the first failure', async () => {
    expect(together([() => 1, () => 2])).toEqual([1, 2]);
    await expect(together([() => later(1), () => 2])).resolves.toEqual([1, 2]);
    const begun: number[] = [];
    const noted = (value: number, failed = false) => {
      begun.push(value);
      return later(value, failed);
    };
    await expect(together([() => noted(1, true), () => noted(2)])).rejects.toBe(failure);
    expect(begun).toEqual([1, 2]);
    const thrown = () => {
      throw failure;
    };
    expect(() => together([() => later(1, true), thrown])).toThrow(failure);
  });

  test('prefetch begins the second where the first has to be waited for', async () => {
    let begun = 0;
    const second = () => {
      begun += 1;
      return later(2);
    };
    const unwanted = prefetch(1, second);
    expect(begun).toBe(0);
    await expect(unwanted()).resolves.toBe(2);
    expect(begun).toBe(1);
    const wanted = prefetch(later(1), second);
    expect(begun).toBe(2);
    await expect(wanted()).resolves.toBe(2);
    expect(begun).toBe(2);
    // A failure of an unused second read is not reported as unhandled.
    prefetch(later(1), () => later(2, true));
    await new Promise((resolve) => setImmediate(resolve));
    await expect(prefetch(later(1), () => later(2, true))()).rejects.toBe(failure);
  });
});

describe('failures', () => {
  test('what `next` throws is not recovered from, now or later', async () => {
    const fail = (): string => {
      throw failure;
    };
    expect(() => settle(() => 1, fail, failureText)).toThrow(failure);
    await expect(settle(() => Promise.resolve(1), fail, failureText)).rejects.toBe(failure);
  });

  test('eachInOrder takes one step after the other, also where some have to be waited for', async () => {
    for (const waits of [false, true]) {
      const taken: number[] = [];
      const step = (value: number, index: number): MaybePromise<unknown> => {
        taken.push(value);
        expect(index).toBe(value - 1);
        if (value === 4) throw failure;
        return waits && value % 2 === 0 ? Promise.resolve(value) : value;
      };
      const done = eachInOrder([1, 2, 3], step);
      expect(done instanceof Promise).toBe(waits);
      await done;
      expect(taken).toEqual([1, 2, 3]);
      await expect((async () => eachInOrder([1, 2, 3, 4, 5], step))()).rejects.toBe(failure);
      expect(taken).toEqual([1, 2, 3, 1, 2, 3, 4]);
    }
  });

  test('mapInOrder takes no step after one that failed', async () => {
    const taken: number[] = [];
    const step = async (value: number) => {
      taken.push(value);
      if (value === 2) throw failure;
      return value;
    };
    await expect(mapInOrder([1, 2, 3], step)).rejects.toBe(failure);
    expect(taken).toEqual([1, 2]);
  });
});

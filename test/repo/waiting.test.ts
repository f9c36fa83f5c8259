/** Checks the rule of src/maybe-promise.ts: no other file tests whether a value is a promise. */
import { describe, expect, it } from 'vitest';
import { filesBelow } from './source-tree.ts';

const OWNER = 'src/maybe-promise.ts';
const QUESTIONS = [
  /instanceof Promise\b/,
  /\bisPromise\b/,
  /\.then\s*(?:===|!==|\?\.)/,
  /'then'\s+in\b/,
  /typeof\s+[\w.]+\.then\b/,
];

function asks(text: string): boolean {
  return QUESTIONS.some((question) => question.test(text));
}

describe('waiting', () => {
  it('notices what the rule forbids', () => {
    expect(asks('return value instanceof Promise ? value.then(next) : next(value);')).toBe(true);
    expect(asks("if (typeof value.then === 'function') return value;")).toBe(true);
    expect(asks("if ('then' in value) return value;")).toBe(true);
    expect(asks('return andThen(value, next);')).toBe(false);
    expect(asks('return promise.then(next);')).toBe(false);
  });

  it('is left to one file', () => {
    const asking = filesBelow('src', ['.ts']).filter(({ text }) => asks(text));
    expect(asking.map(({ path }) => path)).toEqual([OWNER]);
  });
});

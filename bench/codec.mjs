// BCS in process: encodes and decodes typical values with Daybook, @mysten/bcs and @aptos-labs/ts-sdk, in turns. Each
// library is used as its documentation recommends for speed: schemas and objects exist before the clock runs.
import { codecValues } from './codec-values.mjs';
import { ratioSummary, shownSummary, summary } from './statistics.mjs';

export const name = 'codec';
export const title = 'Codec: BCS values/s beside @mysten/bcs and @aptos-labs/ts-sdk';

/** Calls between two reads of the clock. */
const BATCH = 100;
const SIDES = ['daybook', 'mysten', 'sdk'];

/** Keeps results alive, so that no call is optimised away. */
const sink = { value: undefined };

function rate(work, seconds) {
  const start = performance.now();
  const end = start + seconds * 1_000;
  let done = 0;
  do {
    for (let at = 0; at < BATCH; at += 1) sink.value = work();
    done += BATCH;
  } while (performance.now() < end);
  return done / ((performance.now() - start) / 1_000);
}

/** All sides must encode to the same bytes, and values that they decode must encode to these bytes again. */
function checkEqual({ value, sides }) {
  const expected = Buffer.from(sides.daybook.encode());
  for (const side of SIDES) {
    if (!expected.equals(sides[side].encode())) throw new Error(`${value}: ${side} encodes other`);
    const again = sides[side].encodeDecoded(sides[side].decode(expected));
    if (!expected.equals(again)) throw new Error(`${value}: ${side} decodes other`);
  }
  return expected;
}

function measure(one, direction, { rounds, seconds, log }) {
  const bytes = checkEqual(one);
  const works = SIDES.map((side) => {
    const { encode, decode } = one.sides[side];
    return direction === 'encode' ? encode : () => decode(bytes);
  });
  for (const work of works) rate(work, seconds / 5);
  const rates = SIDES.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, work] of works.entries()) rates[index].push(rate(work, seconds / 5));
  }
  const [ours, mysten, sdk] = rates;
  const result = {
    value: one.value,
    direction,
    bytes: bytes.length,
    valuesPerSecond: Object.fromEntries(SIDES.map((side, at) => [side, summary(rates[at])])),
    ratioToMysten: ratioSummary(ours, mysten),
    ratioToSdk: ratioSummary(ours, sdk),
  };
  log(
    `${`${one.value}, ${direction}`.padEnd(30)} ${shownSummary(summary(ours))} /s; beside @mysten/bcs ` +
      `${shownSummary(result.ratioToMysten)}, beside the SDK ${shownSummary(result.ratioToSdk)}`,
  );
  return result;
}

/** @param {{rounds: number, seconds: number, log: (line: string) => void}} options */
export async function run(options) {
  const results = [];
  for (const one of await codecValues()) {
    for (const direction of ['encode', 'decode']) results.push(measure(one, direction, options));
  }
  return { results };
}

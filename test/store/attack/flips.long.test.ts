/**
 * Changes one bit or byte of a ledger's file at a time. Until the ledger is verified, every read returns the same as
 * before, or an error. `verify` ends, and finds every change that a read has noticed. ATTACK_FLIPS sets the number of
 * changes; SEED repeats a run.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { runCommand } from '../../process/command.ts';
import { Random, roundsOf, testSeed } from '../../random.ts';
import { Attacker, killLeftAttackers } from './attackers.ts';

const FLIPS = roundsOf('ATTACK_FLIPS', 6, 40);
const MORE_FLIPS = Math.ceil(FLIPS / 3);
const PAGE_BYTES = 4_096;
const LEAF = 13;
/** SQLite's header in the first page. */
const HEADER_BYTES = 100;
/** For one flip: reads, requests, and `verify`. */
const TIMEOUT_MS = 180_000;
/** One in this many flips is also tested with a node. */
const API_EVERY = 15;
const folder = mkdtempSync(join(process.env['ATTACK_FOLDER'] ?? tmpdir(), 'daybook-flips-'));

afterEach(killLeftAttackers);
afterAll(() => rmSync(folder, { recursive: true }));

interface Flipped {
  readonly wrong: readonly string[];
  readonly codes: Readonly<Record<string, number>>;
  readonly verify: string;
}

/** A position in the file: anywhere, or in the structures by which SQLite navigates a page. */
function placeIn(file: Buffer, random: Random): number {
  if (random.fraction() < 0.4) return random.below(file.length);
  const start = random.below(file.length / PAGE_BYTES) * PAGE_BYTES;
  const header = start === 0 ? HEADER_BYTES : start;
  if (random.fraction() < 0.3) return header + random.below(16);
  const isLeaf = file[header] === LEAF;
  const cells = file.readUInt16BE(header + 3);
  const pointers = header + (isLeaf ? 8 : 12);
  if (cells === 0 || cells > 400 || (!isLeaf && file[header] !== 5)) return start + random.below(8);
  const pointer = pointers + 2 * random.below(cells);
  if (random.fraction() < 0.3) return pointer + random.below(2);
  const cell = start + (file.readUInt16BE(pointer) % PAGE_BYTES);
  return Math.min(file.length - 1, cell + random.below(9));
}

async function attack(sound: string, flips: number, part: number): Promise<void> {
  const random = new Random(testSeed());
  const file = readFileSync(join(sound, 'ledger.db'));
  const start = async () => {
    const started = new Attacker('flips', 'flip', [sound, join(folder, 'damaged'), part]);
    const { questions, requests } = (await started.ask('start')) ?? {};
    expect(started.faults).toEqual([]);
    expect(Math.min(questions!, requests!)).toBeGreaterThan(100);
    return started;
  };
  let attacker = await start();
  const totals = { found: 0, noticed: 0, harmless: 0 };
  const faults: string[] = [];
  for (let flip = 0; flip < flips; flip += 1) {
    const offset = placeIn(file, random);
    const mask = random.fraction() < 0.7 ? 1 << random.below(8) : 1 + random.below(255);
    const asksApi = Number(flip % API_EVERY === 0);
    const slow = setTimeout(() => void attacker.kill(), TIMEOUT_MS);
    const answer = await attacker.ask(`${offset} ${mask} ${asksApi}`);
    clearTimeout(slow);
    const place = `page ${Math.floor(offset / PAGE_BYTES)} + ${offset % PAGE_BYTES} ^ ${mask}`;
    if (answer === undefined) {
      faults.push(`${place}: ${attacker.faults.join()} ended`);
      attacker = await start();
      continue;
    }
    const { wrong, codes, verify } = answer as unknown as Flipped;
    faults.push(...wrong.map((what) => `${place}: ${what}`));
    const isNoticed = Object.keys(codes).some((code) => /_/.test(code) || code === 'status 500');
    const isFound = /^(?:found|refused)/.test(verify);
    totals.noticed += Number(isNoticed);
    totals.found += Number(isFound);
    totals.harmless += Number(!isFound);
    if (isNoticed && !isFound) faults.push(`${place}: ${JSON.stringify(codes)}, verify: ${verify}`);
    if (!isFound && verify !== 'sound') faults.push(`${place}: verify ${verify}`);
  }
  console.info(`${flips} flips: ${JSON.stringify(totals)}`);
  expect(faults).toEqual([]);
}

/** Creates a sample ledger small enough to read completely after each flip. */
async function makeSmall(name: string): Promise<string> {
  const data = join(folder, name);
  const options = ['--transactions', '120', '--accounts', '20', '--seed', '8'];
  expect((await runCommand(['sample', '--data', data, ...options])).code).toBe(0);
  return data;
}

it(`${FLIPS} flips in a sample ledger`, { timeout: 120_000 + FLIPS * 20_000 }, async () => {
  await attack(await makeSmall('sample'), FLIPS, 1);
});

it(`${MORE_FLIPS} flips in a ledger with runs of several sizes and a log`, {
  timeout: 120_000 + MORE_FLIPS * 20_000,
}, async () => {
  const sound = join(folder, 'remade');
  const made = new Attacker('flips', 'remake', [await makeSmall('made'), sound]);
  const { runs, logRows } = (await made.end()) as unknown as { runs: number[]; logRows: number };
  expect(made.faults).toEqual([]);
  expect(Math.max(...runs) / Math.min(...runs), runs.join()).toBeGreaterThan(4);
  expect(logRows).toBeGreaterThan(0);
  await attack(sound, MORE_FLIPS, 0.3);
});

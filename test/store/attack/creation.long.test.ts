/**
 * Several processes create a ledger in one folder while others read it, and are killed at random: a process that
 * reports success has created the ledger that exists, and readers see a complete ledger or none. ATTACK_ROUNDS sets the
 * number of rounds, ATTACK_FOLDER the folder; SEED repeats a run.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Random, roundsOf, testSeed } from '../../random.ts';
import { Attacker, type Done, killLeftAttackers } from './attackers.ts';

const ROUNDS = roundsOf('ATTACK_ROUNDS', 4, 200);
const folder = mkdtempSync(join(process.env['ATTACK_FOLDER'] ?? tmpdir(), 'daybook-creation-'));
const MAKERS = 4;
const READERS = 2;
const FILES = /^(?:ledger\.db(?:-wal|-shm)?|writer\.(?:lock|pid))$/;
/** Error codes of makers that did not win. */
const LOST = ['store_locked', 'store_exists'];

afterEach(killLeftAttackers);
afterAll(() => rmSync(folder, { recursive: true }));

function newMaker(): Attacker {
  return new Attacker('maker', 'maker', []);
}

async function answer(attacker: Attacker, line: string): Promise<Done> {
  const done = await attacker.ask(line);
  expect(attacker.faults).toEqual([]);
  if (done === undefined) throw new Error(`no answer to ${line}`);
  return done;
}

class Round {
  readonly directory: string;
  readonly #random: Random;
  readonly #isSoft: boolean;
  /** Seeds of makers that reported success. */
  readonly made: number[] = [];
  /** Seeds of makers that were killed before they reported anything. */
  readonly killed: number[] = [];

  constructor(random: Random, directory: string) {
    this.#random = random;
    this.directory = directory;
    this.#isSoft = random.fraction() < 0.3;
  }

  async run(makers: Attacker[], readers: readonly Attacker[]): Promise<void> {
    // Waits until makers that have just been started are ready.
    await Promise.all(makers.map((maker) => answer(maker, `look ${this.directory}`)));
    const looking = readers.map((reader) => answer(reader, `watch ${this.directory}`));
    await Promise.all(makers.map((_, at) => this.#make(makers, at)));
    await Promise.all(looking);
    const lookingAgain = await answer(readers[0]!, `look ${this.directory}`);
    await this.#judge(lookingAgain, makers[0]!);
  }

  async #make(makers: Attacker[], at: number): Promise<void> {
    const maker = makers[at]!;
    const seed = 1 + this.#random.below(1_000_000);
    const what = this.#random.fraction() < 0.6 ? 'make' : 'create';
    const isKilled = !this.#isSoft && this.#random.fraction() < 0.5;
    const killMs = this.#random.fraction() * 40;
    const asked = maker.ask(`${what} ${this.directory} ${seed}`);
    if (isKilled) {
      await sleep(killMs);
      await maker.kill();
      makers[at] = newMaker();
    }
    const done = await asked;
    expect(maker.faults).toEqual([]);
    if (done === undefined) this.killed.push(seed);
    else if (done['made'] === undefined) expect(LOST).toContain(done['error']);
    else this.made.push(seed);
  }

  async #judge({ found, error }: Done, next: Attacker): Promise<void> {
    const facts = JSON.stringify({ found, error, made: this.made, killed: this.killed });
    expect(this.made.length, facts).toBeLessThanOrEqual(1);
    if (this.made.length === 1) expect(found, facts).toBe(this.made[0]);
    else if (this.killed.length === 0) expect.unreachable(`nobody has won: ${facts}`);
    else if (found === undefined) expect(error, facts).toBe('store_not_found');
    else if (found !== null) expect(this.killed, facts).toContain(found);
    // Leftover files do not disturb others.
    const again = await answer(next, `make ${this.directory} 7`);
    if (typeof found === 'number') expect(again, facts).toMatchObject({ error: 'store_exists' });
    else expect(again, facts).toEqual({ made: 7 });
    const { files, ...rest } = await answer(next, `list ${this.directory}`);
    expect(rest).toEqual({ found: typeof found === 'number' ? found : 7 });
    if (typeof found === 'number') return;
    const names = files as unknown as readonly string[];
    expect(names.filter((name) => !FILES.test(name))).toEqual([]);
  }
}

it(`${ROUNDS} rounds of makers and readers in one folder, and kill −9`, {
  timeout: 60_000 + ROUNDS * 3_000,
}, async () => {
  const random = new Random(testSeed());
  const makers = Array.from({ length: MAKERS }, newMaker);
  const readers = Array.from({ length: READERS }, newMaker);
  let [made, killed, byKilled] = [0, 0, 0];
  for (let number = 0; number < ROUNDS; number += 1) {
    const round = new Round(random, join(folder, `round-${number}`));
    await round.run(makers, readers);
    rmSync(round.directory, { recursive: true });
    made += round.made.length;
    killed += round.killed.length;
    byKilled += Number(round.made.length === 0);
    if (number % 500 === 499) console.info(`round ${number}: ${made} made, ${killed} killed`);
  }
  console.info(
    `${ROUNDS} rounds: ${made} said that they made it, ${killed} were killed, ` +
      `in ${byKilled} rounds nobody said so`,
  );
  await killLeftAttackers();
});

describe.each([
  ['an empty file', Buffer.alloc(0)],
  ['a file of zeros', Buffer.alloc(40_960)],
  ['one page of zeros', Buffer.alloc(4_096)],
] as const)('%s in the place of the store', (name, bytes) => {
  it('is damage, for makers and readers at once, and stays as it is', async () => {
    const directory = join(folder, name.replaceAll(' ', '-'));
    mkdirSync(directory);
    const file = join(directory, 'ledger.db');
    writeFileSync(file, bytes);
    const attackers = Array.from({ length: MAKERS + READERS }, newMaker);
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        attackers.map((attacker, at) =>
          answer(attacker, `${['make', 'create', 'look'][at % 3]} ${directory} 1`),
        ),
      );
      for (const [at, { error }] of answers.entries()) {
        const isReader = at % 3 === 2;
        expect(isReader ? ['store_damaged'] : ['store_damaged', 'store_locked']).toContain(error);
      }
      expect(answers.map(({ error }) => error)).toContain('store_damaged');
    }
    expect(readFileSync(file).equals(bytes)).toBe(true);
    const { files } = await answer(attackers[0]!, `list ${directory}`);
    for (const left of files as unknown as readonly string[]) expect(left).toMatch(FILES);
    await killLeftAttackers();
  });
});

it('a folder named unfinished, with a ledger in it, is not touched', async () => {
  const directory = join(folder, 'mine');
  const own = join(directory, 'unfinished');
  const maker = newMaker();
  expect(await answer(maker, `make ${own} 5`)).toEqual({ made: 5 });
  const before = readFileSync(join(own, 'ledger.db'));
  expect(await answer(maker, `make ${directory} 6`)).toEqual({ made: 6 });
  expect(await answer(maker, `create ${directory} 8`)).toMatchObject({ error: 'store_exists' });
  expect(await answer(maker, `look ${own}`)).toEqual({ found: 5 });
  expect(readFileSync(join(own, 'ledger.db')).equals(before)).toBe(true);
  expect(existsSync(join(own, 'writer.pid'))).toBe(false);
  await killLeftAttackers();
});

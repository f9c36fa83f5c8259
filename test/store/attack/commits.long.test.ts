/**
 * Commits beside processes that open and close the store, all of which are killed at random: no acknowledged commit is
 * ever missing, and nothing else is damaged. ATTACK_COMMITS sets the minimum number of commits, with a tenth as many
 * opens, ATTACK_FOLDER the folder; SEED repeats a run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { Random, roundsOf, testSeed } from '../../random.ts';
import { Attacker, type Done, killLeftAttackers } from './attackers.ts';

const COMMITS = roundsOf('ATTACK_COMMITS', 200, 10_000);
const OPENS = COMMITS / 10;
const FOLDER = process.env['ATTACK_FOLDER'] ?? tmpdir();
const OPENERS = ['read', 'read', 'status', 'examine', 'copy', 'writeLittle'];
const REPORT_INTERVAL_MS = 60_000;
/** Maximum time between kills: in a long attack, runs should get old. */
const MAX_PAUSE_MS = COMMITS < 100_000 ? 1_500 : 12_000;

afterEach(killLeftAttackers);

class Attack {
  readonly #random = new Random(testSeed());
  readonly #folder = mkdtempSync(join(FOLDER, 'daybook-attack-'));
  #attackers: Attacker[] = [];
  readonly totals: Record<string, number> = {};
  #head = -1;

  async run(): Promise<void> {
    await this.#ended(this.#start('make'));
    let reportMs = performance.now();
    this.#attackers = ['write', 'read', 'examine', 'writeLittle'].map((role) => this.#start(role));
    do {
      await sleep(150 + this.#random.below(MAX_PAUSE_MS));
      await this.#kill();
      await this.#check();
      if (performance.now() - reportMs < REPORT_INTERVAL_MS) continue;
      reportMs = performance.now();
      console.info(JSON.stringify({ ...this.totals, head: this.#head }));
    } while (this.#head < COMMITS || this.totals['opens']! < OPENS || !this.totals['refused']);
    await this.#replace(this.#attackers, false);
    await this.#check();
    console.info(JSON.stringify({ ...this.totals, head: this.#head }));
    rmSync(this.#folder, { recursive: true });
  }

  #start(role: string): Attacker {
    const [ledger, acknowledged] = ['ledger', 'acknowledged'].map((name) =>
      join(this.#folder, name),
    );
    return new Attacker('process', role, [ledger!, acknowledged!, this.#random.below(2 ** 32)]);
  }

  /** Kills the writer, another process, or all at once. */
  async #kill(): Promise<void> {
    const [writer, ...others] = this.#attackers;
    const chance = this.#random.fraction();
    const killed = [writer!];
    if (chance < 0.25) killed.push(...others);
    else if (chance < 0.6) killed[0] = this.#random.pick(others);
    await this.#replace(killed, true);
  }

  async #replace(killed: readonly Attacker[], restarts: boolean): Promise<void> {
    await Promise.all(killed.map((attacker) => attacker.kill()));
    this.totals['kills'] = (this.totals['kills'] ?? 0) + killed.length;
    // When all are dead, the next process to open the store finds what they left.
    if (killed.length === this.#attackers.length) await this.#check();
    for (const attacker of killed) this.#count(attacker.done);
    expect(this.#attackers.flatMap(({ faults }) => faults)).toEqual([]);
    this.#attackers = this.#attackers.flatMap((attacker) => {
      if (!killed.includes(attacker)) return [attacker];
      if (!restarts) return [];
      const role = attacker.role === 'write' ? 'write' : this.#random.pick(OPENERS);
      return [this.#start(role)];
    });
  }

  async #check(): Promise<void> {
    const { head } = await this.#ended(this.#start('check'));
    expect(head).toBeGreaterThanOrEqual(this.#head);
    this.#head = head!;
    this.#count({ checks: 1, opens: 2 });
  }

  async #ended(attacker: Attacker): Promise<Done> {
    const done = await attacker.end();
    expect(attacker.faults).toEqual([]);
    return done;
  }

  #count(done: Done): void {
    for (const [name, count] of Object.entries(done)) {
      this.totals[name] = (this.totals[name] ?? 0) + count;
    }
  }
}

it(`${COMMITS} commits beside ${OPENS} opens, and kill −9`, {
  timeout: 120_000 + COMMITS * 30,
}, async () => {
  await new Attack().run();
});

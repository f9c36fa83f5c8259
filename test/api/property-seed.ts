/** Seeds of property tests: printed, and taken from SEED. */

/** Parameters for fc.assert. */
export function propertySeed(): { seed: number } {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`SEED=${seed}\n`);
  return { seed };
}

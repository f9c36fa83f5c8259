/** Shared by several commands: option values that are numbers or lists, and reports. */
import { InvalidArgumentError } from 'commander';

/** Parses an option that is a whole number. @param max with fewer than 17 digits; absent: the largest safe integer */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const allowed =
    max === Number.MAX_SAFE_INTEGER ? `a number of at least ${min}` : `${min} to ${max}`;
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
    if (value < min || value > max) throw new InvalidArgumentError(`expected ${allowed}`);
    return value;
  };
}

/** Parses an option that is a u64. @param what the name of the value in the message */
export function u64(what: string): (text: string) => bigint {
  return (text) => {
    const value = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n;
    if (value < 0n || value > 0xffff_ffff_ffff_ffffn) {
      throw new InvalidArgumentError(`expected ${what}`);
    }
    return value;
  };
}

/** Collects an option that may be given several times. */
export function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Facts of a report, by their names in JSON. */
type Facts = Readonly<Record<string, string | number | null>>;

/** Facts as lines for people. @param nameCharacters the width of the names */
export function factLines(facts: Facts, nameCharacters = 24): string {
  return Object.entries(facts)
    .map(([name, value]) => {
      const words = name.replaceAll('_', ' ');
      return `${words.padEnd(nameCharacters)}${value ?? 'none'}\n`;
    })
    .join('');
}

/** Prints a report on stdout, as lines or as one JSON object. */
export function printFacts(facts: Facts, isJson: boolean | undefined): void {
  process.stdout.write(isJson ? `${JSON.stringify(facts)}\n` : factLines(facts));
}

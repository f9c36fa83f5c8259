/** What operations on points cost a run, in units of its meter: about the time of so many instructions. */
export const DECODE_UNITS = 2_000;
export const MULTIPLY_UNITS = 10_000;
export const PAIRING_UNITS = 200_000;

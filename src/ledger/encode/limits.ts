/**
 * Limits that the reference does not have. They are far above what a transaction can hold (64 KiB, 1 MiB for
 * governance), and keep a request of 8 MiB from taking hundreds of megabytes.
 */

/** Most items of a list that is read item by item: signers, types, generic parameters. */
export const MAX_LIST_ITEMS = 65_536;

/** Most UTF-16 units of all types of one list together. A type takes up to 25 times its text in memory. */
export const MAX_TYPE_TEXTS_LENGTH = 1_048_576;

/** Values to and from BCS. */
import type { Layout } from '../program/layout.ts';
import type { Value } from '../value.ts';

/** @throws VmError for a value that cannot be stored: a signer, a function value that may not be, too deep a value */
export declare function encodeValue(layout: Layout, value: Value): Uint8Array;

/** All of the bytes. @throws BcsError */
export declare function decodeValue(layout: Layout, bytes: Uint8Array): Value;

/** Copies of values, and whether values are equal. */
import type { Value } from '../value.ts';

/** A copy that shares no container; a reference is copied as the place that it is. */
export declare function copyValue(value: Value): Value;

/** Equality of Move: by content; references by what is there. */
export declare function equalValues(left: Value, right: Value): boolean;

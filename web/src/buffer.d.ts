/**
 * In browsers, the Buffer type of src/move is a plain Uint8Array. The type has no Node methods, so the page's type
 * check fails if a module that it loads uses one.
 */
interface Buffer extends Uint8Array {}

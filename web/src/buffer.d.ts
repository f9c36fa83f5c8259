/**
 * What src/move calls Buffer is a plain Uint8Array in browsers. The type has no method of Node's, so the type check of
 * the page fails when a module that the page loads uses one.
 */
interface Buffer extends Uint8Array {}

/**
 * Room for the keys of damaged pages. The engine (lmdb 3.5.6) copies the key of each row that a cursor finds into one
 * buffer of 4 KiB, by the length that the page states and without looking: up to 64 KiB, and only then refuses it. What
 * is overwritten is any memory of the process. The buffer is made with the first environment, and is larger here.
 */

/** The size that the engine asks for, in bytes. */
const ASKED_BYTES = 4_096;
/** A length has 16 bits; before the key are 32 bytes, behind it is a zero. */
const ROOM_BYTES = 72 * 1024;

/** Opens an environment; if it is the first one of the process, its buffer has room for any key. */
export function withKeyRoom<T>(open: () => T): T {
  const { allocUnsafeSlow } = Buffer;
  Buffer.allocUnsafeSlow = (size) =>
    size === ASKED_BYTES
      ? Buffer.from(new ArrayBuffer(ROOM_BYTES), 0, ASKED_BYTES)
      : allocUnsafeSlow(size);
  try {
    return open();
  } finally {
    Buffer.allocUnsafeSlow = allocUnsafeSlow;
  }
}

/**
 * A copy for the model, with memory of its own: a small Buffer is a window on 8 KiB that Node gives out piece by piece,
 * and retains all of them.
 */
export function retainedBytes(bytes: Uint8Array): Buffer {
  const retained = Buffer.allocUnsafeSlow(bytes.length);
  retained.set(bytes);
  return retained;
}

/** Browser implementations for bytes and text give the same results as Node's Buffer. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteTools, portableTools } from '../../../src/move/bcs/bytes.ts';
import { propertySeed } from '../../random.ts';

test('here the tools are those of Node', () => {
  expect(byteTools).not.toBe(portableTools);
  expect(byteTools.allocate(1)).toBeInstanceOf(Buffer);
  expect(portableTools.allocate(1)).not.toBeInstanceOf(Buffer);
});

test('bytes to texts, and their order', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), fc.nat(4), (bytes, other, start) => {
      const buffer = Buffer.from(bytes);
      const from = Math.min(start, bytes.length);
      for (const text of ['hexText', 'latin1Text'] as const) {
        const expected = byteTools[text](buffer, from, bytes.length);
        expect(portableTools[text](bytes as Buffer, from, bytes.length)).toBe(expected);
      }
      for (const is of ['isAscii', 'isUtf8'] as const) {
        expect(portableTools[is](bytes)).toBe(byteTools[is](bytes));
      }
      const order = byteTools.compare(bytes, other);
      expect(Math.sign(portableTools.compare(bytes, other))).toBe(order);
      expect(portableTools.compare(bytes, bytes.slice())).toBe(0);
      const hex = buffer.toString('hex');
      expect(Buffer.from(portableTools.hexBytes(hex)).equals(byteTools.hexBytes(hex))).toBe(true);
    }),
    propertySeed(),
  );
});

test('texts to UTF-8 and back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const bytes = byteTools.utf8Bytes(text);
      expect(Buffer.from(portableTools.utf8Bytes(text)).equals(bytes)).toBe(true);
      expect(portableTools.utf8Length(text)).toBe(bytes.length);
      expect(portableTools.utf8Text(bytes, 0, bytes.length)).toBe(text);
      const written = portableTools.allocate(bytes.length + 2);
      portableTools.writeUtf8(written, text, 1, bytes.length);
      expect(Buffer.from(written.slice(1, -1)).equals(bytes)).toBe(true);
    }),
    propertySeed(),
  );
  expect(portableTools.isUtf8(Uint8Array.of(0xc0, 0x80))).toBe(false);
});

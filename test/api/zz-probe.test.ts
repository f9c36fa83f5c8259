import { readFileSync, writeFileSync } from 'node:fs';
import { it } from 'vitest';
import { openModuleLedger } from './module-ledger.ts';
import { hostileModules } from './hostile-modules.ts';
import { encodeBcs } from '../../src/move/bcs-writer.ts';
import { formatHex } from '../../src/move/hex.ts';
import { messageOf, rawTransaction } from '../ledger/signing-bytes.ts';
import { padAddress } from '../../src/move/address.ts';

function hwm() { return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status','utf8'))![1]) / 1024; }
function rss() { return Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/self/status','utf8'))![1]) / 1024; }
const LIMIT = 8 * 1024 * 1024;
const fill = (open: string, item: string, close: string) => {
  const n = Math.floor((LIMIT - open.length - close.length) / item.length);
  return Buffer.from(open + item.repeat(n - 1) + item.slice(0, -1) + close);
};
const T = { sender: '0x1', sequence_number: '1', max_gas_amount: '1', gas_unit_price: '1', expiration_timestamp_secs: '1' };
const around = (fn: string, types: string[], marker = '"@"') => {
  const text = JSON.stringify({ ...T, payload: { type: 'entry_function_payload', function: fn, type_arguments: types, arguments: '@' } });
  return text.split(marker) as [string, string];
};
it('probe', async () => {
  const ledger = await openModuleLedger(hostileModules());
  const url = '/v1/transactions/encode_submission';
  const send = async (name: string, body: Buffer, path = url) => {
    globalThis.gc?.();
    writeFileSync('/proc/self/clear_refs', '5');
    const before = rss(); const c = process.cpuUsage(); const t = performance.now();
    const r = await ledger.app.inject({ method: 'POST', url: path, headers: { 'content-type': 'application/json' }, payload: body });
    const ms = performance.now() - t; const cpu = process.cpuUsage(c);
    console.log(`${name.padEnd(34)} ${r.statusCode} body ${(body.length/2**20).toFixed(1)}M ${ms.toFixed(0)} ms cpu ${((cpu.user+cpu.system)/1000).toFixed(0)} peak +${(hwm()-before).toFixed(0)} MiB answer ${(r.rawPayload.length/2**20).toFixed(2)}M ${r.body.slice(0, 110)}`);
  };
  await send('small', Buffer.from(JSON.stringify({ ...T, payload: { type: 'entry_function_payload', function: '0x2::m::integers', type_arguments: [], arguments: [1, '2', '3', true, '0x1'] } })));
  await send('small', Buffer.from(JSON.stringify({ ...T, payload: { type: 'entry_function_payload', function: '0x2::m::integers', type_arguments: [], arguments: [1, '2', '3', true, '0x1'] } })));
  await send('array of objects', fill('[', '{},', ']'));
  await send('array of arrays', fill('[', '[],', ']'));
  await send('array of ints', fill('[', '1,', ']'));
  await send('payload=array of ints', fill(JSON.stringify(T).slice(0, -1) + ',"payload":[', '1,', ']}'));
  await send('payload=array of str', fill(JSON.stringify(T).slice(0, -1) + ',"payload":[', '"",', ']}'));
  await send('big string', Buffer.from(`"${'a'.repeat(LIMIT - 2)}"`));
  await send('big string escapes', Buffer.from(`"${'\\u00e9'.repeat((LIMIT - 2) / 6)}"`));
  await send('big number', Buffer.from('1'.repeat(LIMIT)));
  await send('sender big', fill(JSON.stringify({ ...T, sender: '@' }).split('@')[0]!, '11', '"}'));
  await send('u64 digits', Buffer.from(JSON.stringify({ ...T, sequence_number: '9'.repeat(LIMIT - 300) })));
  await send('u64 zeros', Buffer.from(JSON.stringify({ ...T, sequence_number: '0'.repeat(LIMIT - 300) })));
  const keys = Buffer.from(`{${Array.from({ length: 500000 }, (_, i) => `"k${i}":1`).join(',')}}`);
  await send('many keys', keys);
  await send('many __proto__', fill('{', '"__proto__":1,', '}'));
  for (const [fn, types, item] of [
    ['0x2::m::integers', [], '1,'], ['0x2::m::lists', [], '"1",'], ['0x2::m::lists', [], '{},'],
    ['0x2::m::generic', ['u8'], '[],'], ['0x2::m::none', [], '1,'],
  ] as const) {
    const [a, b] = around(fn, [...types]);
    await send(`args ${fn} ${item}`, fill(`${a}[`, item, `]${b}`));
    await send(`args1 ${fn} ${item}`, fill(`${a}[[`, item, `]]${b}`));
    await send(`args3 ${fn} ${item}`, fill(`${a}[[`, item, `],[],[]]${b}`));
  }
  {
    const [a, b] = around('0x2::m::bytes', []);
    await send('hex bytes', Buffer.from(`${a}["${'ab'.repeat((LIMIT - 400) / 2)}",[]]${b}`));
    await send('bad hex bytes', Buffer.from(`${a}["${'ab'.repeat((LIMIT - 400) / 2)}zz",[]]${b}`));
    await send('many bytes', fill(`${a}["",[`, '"",', `]]${b}`));
    const [c, d] = around('0x2::m::lists', []);
    await send('u64s', fill(`${c}[[`, '"1",', `],[],[]]${d}`));
    await send('u64s bad last', fill(`${c}[[`, '"1",', `],[],[1.5]]${d}`));
    await send('bools', fill(`${c}[[],[[`, 'true,', `]],[]]${d}`));
    const [e, f] = around('0x2::m::structs', []);
    await send('empties', fill(`${e}[{"__proto__":1,"constructor":[]},[`, '{"dummy_field":true},', `],{"Red":{}}]${f}`));
    await send('unknown fields', Buffer.from(`${e}[{"__proto__":1,"constructor":[]},[],{"Red":{${Array.from({ length: 400000 }, (_, i) => `"k${i}":1`).join(',')}}}]${f}`));
    const [g, h] = around('0x2::m::texts', []);
    await send('text', Buffer.from(`${g}["${'é'.repeat((LIMIT - 400) / 2)}",[]]${h}`));
    await send('texts', fill(`${g}["",[`, '"a",', `]]${h}`));
  }
  const typeArg = JSON.stringify({ ...T, payload: { type: 'entry_function_payload', function: '0x2::m::many', type_arguments: ['@'], arguments: [] } }).split('@') as [string, string];
  await send('type arg wide', fill(`${typeArg[0]}0x2::m::Pair<`, 'u8,', `>${typeArg[1]}`));
  await send('type arg name', Buffer.from(`${typeArg[0]}0x2::m::${'a'.repeat(LIMIT - 400)}${typeArg[1]}`));
  await send('type args many', fill(`${typeArg[0]}u8",`, '"u8",', `${typeArg[1].slice(1)}`));
  const signers = (JSON.stringify({ ...T, payload: { type: 'multisig_payload', multisig_address: '0x1' }, secondary_signers: ['@'] })).split('"@"') as [string, string];
  await send('signers', fill(signers[0], '"1",', signers[1]));
  await send('deep', Buffer.from('['.repeat(LIMIT)));
  const DEC = '/v1/transactions/decode_submission';
  const hexBody = (m: Buffer) => Buffer.from(JSON.stringify(formatHex(m)));
  const call = (fn: string, args: Buffer[], typeArguments: any[] = []) => messageOf(rawTransaction({ kind: 'entryFunction', module: { address: padAddress('2'), name: 'm' }, function: fn, typeArguments, args }));
  await send('decode 8M hex', Buffer.from(`"${'ab'.repeat((LIMIT - 2) / 2)}"`), DEC);
  await send('decode bad hex', Buffer.from(`"${'zz'.repeat((LIMIT - 2) / 2)}"`), DEC);
  await send('decode 65000 args', hexBody(call('integers', Array.from({ length: 65000 }, () => Buffer.alloc(15)))), DEC);
  const vec = (n: number, item: Buffer) => encodeBcs((w) => { w.uleb32(n); for (let i = 0; i < n; i++) w.fixed(item); });
  await send('decode u64s', hexBody(call('lists', [vec(130000, Buffer.alloc(8)), Buffer.of(0), Buffer.of(0)])), DEC);
  await send('decode u16s', hexBody(call('lists', [Buffer.of(0), Buffer.of(0), vec(520000, Buffer.alloc(2))])), DEC);
  await send('decode bools', hexBody(call('lists', [Buffer.of(0), Buffer.concat([Buffer.of(1), vec(1000000, Buffer.alloc(1))]), Buffer.of(0)])), DEC);
  await send('decode texts', hexBody(call('texts', [Buffer.of(0), vec(520000, Buffer.of(1, 1))])), DEC);
  await send('decode empties', hexBody(call('structs', [Buffer.of(0, 0), vec(65000, Buffer.of(1)), Buffer.of(0)])), DEC);
  await send('decode options', hexBody(call('options', [Buffer.of(0), vec(32000, Buffer.of(0))])), DEC);
  const wide = { kind: 'struct', struct: { address: padAddress('2'), module: 'm', name: 'Pair', typeArguments: Array.from({ length: 65000 }, () => ({ kind: 'u8' })) } };
  await send('decode wide type', hexBody(call('many', Array.from({ length: 200 }, () => Buffer.of(0)), [wide])), DEC);
  const longName = { kind: 'struct', struct: { address: padAddress('2'), module: 'm', name: 'P'.repeat(1000000), typeArguments: [] } };
  await send('decode long type', hexBody(call('many', Array.from({ length: 200 }, () => Buffer.of(0)), [longName])), DEC);
  const script = (code: Buffer, args: any[]) => messageOf(rawTransaction({ kind: 'script', code, typeArguments: [], args }));
  await send('decode script args', hexBody(script(Buffer.from('64', 'hex'), Array.from({ length: 65000 }, () => ({ kind: 'serialized', value: Buffer.alloc(10) })))), DEC);
  await send('decode script u8', hexBody(script(Buffer.from('64', 'hex'), Array.from({ length: 65000 }, () => ({ kind: 'u8', value: 1 })))), DEC);
  await send('decode script code', hexBody(script(Buffer.alloc(1000000), [])), DEC);
  console.log('errors logged', ledger.log.errors.length, ledger.log.errors.slice(0, 3));
  await ledger.close();
}, 120000);

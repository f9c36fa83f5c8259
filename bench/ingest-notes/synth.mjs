// usage: node synth.mjs <build> <dir> <transactions> <every>: rows as a commit of 2,500 transactions has them, random keys and bytes

import { randomFillSync } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';

const [build, directory, tx, every] = process.argv.slice(2);
const C = await import(`${build}/dist/store/columns/columns.js`);
const { encodeU64Key, encodeBucketKey } = await import(`${build}/dist/store/columns/order-key.js`);
const { openLmdbStore } = await import(`${build}/dist/store/lmdb/lmdb-store.js`);
const { Batch } = await import(`${build}/dist/store/batch.js`);
const threads = () => {
  let main = 0,
    pool = 0;
  for (const tid of readdirSync('/proc/self/task')) {
    const stat = readFileSync(`/proc/self/task/${tid}/stat`, 'latin1');
    const f = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ms = (Number(f[11]) + Number(f[12])) * 10;
    if (Number(tid) === process.pid) main += ms;
    else if (!v8.has(tid)) pool += ms;
  }
  return { main, pool };
};
const v8 = new Set(); // all but main: V8's four and the pool's four, in the order of their ids
const io = () => Number(/write_bytes: (\d+)/.exec(readFileSync('/proc/self/io', 'latin1'))[1]);
const store = await openLmdbStore({ directory });
const KEYS = 400_000,
  SENDERS = 200_000;
const keys = randomFillSync(Buffer.allocUnsafe(KEYS * 32));
const senders = randomFillSync(Buffer.allocUnsafe(SENDERS * 32));
const sequence = new Uint32Array(SENDERS);
let seed = 5;
const rnd = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
let last = { ...threads(), w: io(), t: performance.now() };
let version = 0;
while (version < Number(tx)) {
  const batch = new Batch();
  const random = randomFillSync(Buffer.allocUnsafe(2500 * 700));
  for (let i = 0; i < 2500; i += 1, version += 1) {
    const { partition, order } = encodeBucketKey(BigInt(version));
    const v = encodeU64Key(BigInt(version));
    const own = random.subarray(i * 700, i * 700 + 700);
    batch.put(C.TRANSACTION_INFOS, partition, order, own.subarray(0, 150));
    batch.put(
      C.TRANSACTIONS,
      partition,
      order,
      Buffer.concat([own, own.subarray(0, 400), own.subarray(100, 600)]),
    );
    batch.put(C.TRANSACTION_HASHES, own.subarray(0, 8), v, Buffer.alloc(0));
    const s = rnd(SENDERS);
    const o = Buffer.alloc(9);
    o[0] = 1;
    o.writeUInt32BE(sequence[s]++, 5);
    batch.put(C.ACCOUNT_TRANSACTIONS, senders.subarray(s * 32, s * 32 + 32), o, v);
    for (let k = 0; k < 3; k += 1) {
      const at = rnd(KEYS) * 32;
      batch.put(C.STATE, keys.subarray(at, at + 32), v, own.subarray(150 + k * 180, 330 + k * 180));
    }
    if (i % 5 < 2) batch.put(C.STATE, keys.subarray(0, 32), v, own.subarray(150, 250));
  }
  await store.commit(batch);
  if (version % Number(every) === 0) {
    const t = threads(),
      w = io();
    console.log(
      JSON.stringify({
        version,
        mainUs: (((t.main - last.main) * 1000) / every).toFixed(1),
        lmdbUs: (((t.pool - last.pool) * 1000) / every).toFixed(1),
        writtenPerTx: ((w - last.w) / every).toFixed(0),
        fileMB: (statSync(directory + '/data.mdb').size / 1e6).toFixed(0),
        seconds: ((performance.now() - last.t) / 1000).toFixed(1),
      }),
    );
    last = { ...t, w, t: performance.now() };
  }
}
await store.close();

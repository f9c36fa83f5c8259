// usage: node commit.mjs <build> <dir> <transactions> <accounts> <every>
import { readdirSync, readFileSync, statSync } from 'node:fs';

const [build, directory, tx, accounts, every] = process.argv.slice(2);
const { sampleChunks } = await import(`${build}/dist/sample/sample.js`);
const { openLmdbStore } = await import(`${build}/dist/store/lmdb/lmdb-store.js`);
const { LedgerWriter } = await import(`${build}/dist/store/writer.js`);
const threads = () => {
  const by = {};
  for (const tid of readdirSync('/proc/self/task')) {
    const stat = readFileSync(`/proc/self/task/${tid}/stat`, 'latin1');
    const name =
      tid === String(process.pid)
        ? 'main'
        : stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const f = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const key = name === 'main' ? name : Number(tid) - process.pid;
    by[key] = (by[key] ?? 0) + (Number(f[11]) + Number(f[12])) * 10;
  }
  return by;
};
const io = () => Number(/write_bytes: (\d+)/.exec(readFileSync('/proc/self/io', 'latin1'))[1]);
const store = await openLmdbStore({ directory });
const writer = await LedgerWriter.open(store);
let done = 0;
let cpuInAppend = 0;
let wall = 0;
let last = { done: 0, t: threads(), w: io(), main: 0, wall: 0 };
for (const chunk of sampleChunks({
  transactions: Number(tx),
  chunkTransactions: 2500,
  seed: 1,
  accounts: Number(accounts),
})) {
  const start = performance.now();
  const before = process.threadCpuUsage?.() ?? { user: 0, system: 0 };
  await writer.append(chunk);
  const after = process.threadCpuUsage?.(before) ?? { user: 0, system: 0 };
  cpuInAppend += after.user + after.system;
  wall += performance.now() - start;
  done += chunk.transactions.length;
  if (done - last.done >= Number(every)) {
    const t = threads();
    const n = done - last.done;
    const w = io();
    const us = Object.fromEntries(
      Object.entries(t).map(([k, v]) => [k, (((v - (last.t[k] ?? 0)) * 1000) / n).toFixed(1)]),
    );
    console.log(
      JSON.stringify({
        done,
        mainInAppend: ((cpuInAppend - last.main) / n).toFixed(1),
        us,
        writtenPerTx: ((w - last.w) / n).toFixed(0),
        fileMB: (statSync(directory + '/data.mdb').size / 1e6).toFixed(0),
        wallPerTx: (((wall - last.wall) * 1000) / n).toFixed(0),
      }),
    );
    last = { done, t, w, main: cpuInAppend, wall };
  }
}
if (process.env.STATS) {
  const s = await store.statistics();
  const T = done;
  for (const { column, rows, bytes } of s)
    if (bytes > 10000) console.log(column.name, rows, (bytes / T).toFixed(1));
  console.log('sum', (s.reduce((a, b) => a + b.bytes, 0) / T).toFixed(0));
}
await store.close();

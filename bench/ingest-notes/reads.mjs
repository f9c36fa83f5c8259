const [a, b] = [
  ['new', '/tmp/w/INGEST', process.argv[2] ?? '/tmp/INGEST/d1'],
  ['old', '/tmp/INGEST/base', process.argv[3] ?? '/tmp/INGEST/d2'],
];
const { STATE, TRANSACTIONS, TRANSACTION_INFOS } = await import(
  '/tmp/w/INGEST/dist/store/columns/columns.js'
);
const { encodeU64Key, encodeBucketKey } = await import(
  '/tmp/w/INGEST/dist/store/columns/order-key.js'
);
const builds = [];
for (const [name, build, dir] of [a, b]) {
  const { openLmdbReader } = await import(`${build}/dist/store/lmdb/lmdb-store.js`);
  const { openHead } = await import(`${build}/dist/store/columns/head.js`);
  const store = openLmdbReader({ directory: dir });
  builds.push({ name, store, head: (await openHead(store)).version });
}
const head = builds[0].head;
let seed = 7;
const rnd = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return seed / 2 ** 32;
};
const { createHash } = await import('node:crypto');
const keys = [];
const absent = [];
for (let i = 0; keys.length < 5000; i++) {
  const h = createHash('sha256').update(`k${i}`).digest();
  const [row] = builds[0].store.scan(STATE, {
    after: { partition: h, order: encodeU64Key(0n) },
    maxRows: 1,
    maxBytes: 1e6,
  });
  if (!row) continue;
  const v = row.order.readBigUInt64BE();
  keys.push({
    p: row.partition,
    exact: row.order,
    asked: encodeU64Key(v + BigInt(Math.floor(rnd() * Number(head - v + 1n)))),
  });
  absent.push(h);
}
const newest = encodeU64Key(head);
const vs = Array.from({ length: 3000 }, () =>
  encodeBucketKey(BigInt(Math.floor(rnd() * Number(head - 200n)))),
);
const _Column = (s, _c) => s;
const _mods = {};
const ops = {
  'get exact': (s) => {
    for (const k of keys) s.get(STATE, k.p, k.exact);
    return keys.length;
  },
  'seek at version': (s) => {
    for (const k of keys) s.seekLast(STATE, k.p, k.asked);
    return keys.length;
  },
  'seek at head': (s) => {
    for (const k of keys) s.seekLast(STATE, k.p, newest);
    return keys.length;
  },
  'seek absent': (s) => {
    for (const h of absent) s.seekLast(STATE, h, newest);
    return absent.length;
  },
  'one transaction': (s) => {
    for (const v of vs) s.get(TRANSACTIONS, v.partition, v.order);
    return vs.length;
  },
  'one info': (s) => {
    for (const v of vs) s.get(TRANSACTION_INFOS, v.partition, v.order);
    return vs.length;
  },
  'page of 100 tx': (s) => {
    for (let i = 0; i < 60; i++)
      s.range(TRANSACTIONS, vs[i].partition, { from: vs[i].order, limit: 100 });
    return 60;
  },
  'page of 100 infos': (s) => {
    for (let i = 0; i < 60; i++)
      s.range(TRANSACTION_INFOS, vs[i].partition, { from: vs[i].order, limit: 100 });
    return 60;
  },
};
const scanAll = (s) => {
  let n = 0,
    after;
  for (;;) {
    const page = s.scan(STATE, { after, maxRows: 10000, maxBytes: 4 << 20 });
    if (!page.length) return n;
    n += page.length;
    after = page.at(-1);
  }
};
if (process.env.SCAN) ops['full scan row'] = scanAll;
for (const [what, run] of Object.entries(ops)) {
  const t = { new: [], old: [] };
  for (let round = -2; round < 7; round++)
    for (const { name, store } of round % 2 ? builds : [...builds].reverse()) {
      if (what.startsWith('full') && (round < 0 || round > 1)) continue;
      const c = process.cpuUsage();
      const n = run(store);
      const d = process.cpuUsage(c);
      if (round >= 0) t[name].push((d.user + d.system) / n);
    }
  const med = (x) => x.sort((p, q) => p - q)[x.length >> 1];
  console.log(
    what.padEnd(20),
    'new',
    med(t.new).toFixed(2),
    'old',
    med(t.old).toFixed(2),
    'new/old',
    (med(t.new) / med(t.old)).toFixed(2),
  );
}
// equality of contents of a sample
let bad = 0;
for (const k of keys)
  for (const o of [k.exact, k.asked, newest]) {
    const [x, y] = builds.map(({ store }) => store.seekLast(STATE, k.p, o));
    if (!x || !y || Buffer.compare(x.value, y.value) || Buffer.compare(x.order, y.order)) bad++;
  }
console.log('different', bad);

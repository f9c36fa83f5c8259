// Many listeners of the stream of heads, or each of an empty event stream of its own. Started as a child: node
// listeners-client.mjs ORIGIN COUNT [FIRST], where FIRST is the first account with such a stream. Prints a line of JSON
// when all have received their first event, or their stream has begun. When its input ends, it prints a second line:
// for each head how many listeners received it, and when the last one did, in milliseconds of the clock that all
// processes of a machine share.
import { connect } from 'node:net';

const [origin, count, first] = process.argv.slice(2);
const { hostname, port } = new URL(origin);
const FIELDS = `host: ${hostname}\r\naccept: text/event-stream\r\n`;
/** Limits concurrent connects, so that the queue of the listening socket never overflows. */
const CONNECTS_AT_ONCE = 100;

const heads = new Map();
let ended = 0;

function pathOf(place) {
  if (first === undefined) return '/v1/-/heads';
  return `/v1/accounts/0x${(Number(first) + place).toString(16)}/events/2`;
}

function listener(place) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.setNoDelay();
    socket.on('connect', () => socket.write(`GET ${pathOf(place)} HTTP/1.1\r\n${FIELDS}\r\n`));
    socket.on('data', (bytes) => {
      const nowMs = performance.timeOrigin + performance.now();
      for (let at = bytes.indexOf('\nid: '); at !== -1; at = bytes.indexOf('\nid: ', at + 5)) {
        const id = bytes.latin1Slice(at + 5, bytes.indexOf(10, at + 5));
        const head = heads.get(id);
        if (head === undefined) heads.set(id, { got: 1, lastMs: nowMs });
        else {
          head.got += 1;
          head.lastMs = nowMs;
        }
        resolve(socket);
      }
      if (first !== undefined && bytes.includes('retry: ')) resolve(socket);
    });
    socket.on('error', reject);
    socket.on('close', () => {
      ended += 1;
      reject(new Error('a stream has ended'));
    });
  });
}

const sockets = [];
const queue = Array.from({ length: CONNECTS_AT_ONCE }, async () => {
  while (sockets.length < Number(count)) {
    const place = sockets.push(undefined) - 1;
    sockets[place] = await listener(place);
  }
});
await Promise.all(queue);
heads.clear();
console.log(JSON.stringify({ event: 'ready', listeners: sockets.length }));
process.stdin.resume();
await new Promise((resolve) => process.stdin.once('end', resolve));
const endedBefore = ended;
for (const socket of sockets) socket.destroy();
console.log(JSON.stringify({ ended: endedBefore, heads: Object.fromEntries(heads) }));

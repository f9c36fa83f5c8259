/** nginx with the configuration of docs/deploy/nginx.conf, on free ports of this machine, and requests through it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { Agent, request as tlsRequest } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ROOT } from '../../repo/source-tree.ts';
import { until } from '../worker-processes.ts';
import { SERVER_PATH, unprivileged, unprivilegedUser } from './installed.ts';

const CONFIGURATION = readFileSync(join(ROOT, 'docs/deploy/nginx.conf'), 'utf8');

/** `count` free ports. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

export interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The client's own address, because limits are per address. */
  readonly from?: string;
}

export interface Reply {
  readonly status: number;
  /** As received, by lower-case names, without the headers of a single connection and the date. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names as received. */
  readonly names: readonly string[];
  readonly body: Buffer;
}

const OF_CONNECTION = ['connection', 'keep-alive', 'date', 'server', 'transfer-encoding'];

function withoutConnection(headers: IncomingHttpHeaders): Reply['headers'] {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name) && name !== ':status'),
  );
}

/** Sends a request to an origin; for an `https:` origin `agent` is a TLS agent. */
export function send(origin: string, path: string, asked: Request, agent?: Agent): Promise<Reply> {
  const { hostname, port, protocol } = new URL(origin);
  const { method = 'GET', headers = {}, body, from } = asked;
  const options = { hostname, port, path, method, headers, agent, localAddress: from };
  const request = protocol === 'https:' ? tlsRequest(options) : plainRequest(options);
  return new Promise((resolve, reject) => {
    request.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject).on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({
          status: response.statusCode!,
          headers: withoutConnection(response.headers),
          names: response.rawHeaders.filter((_, index) => index % 2 === 0),
          body: Buffer.concat(chunks),
        });
      });
    });
    request.end(body);
  });
}

/** Creates `fullchain.pem` and `key.pem` for 127.0.0.1, readable for servers without root's rights. */
export function makeCertificate(folder: string): void {
  const subject = ['-subj', '/CN=node.example', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'fullchain.pem')];
  const args = ['req', '-x509', '-days', '2', ...key, ...subject, ...files];
  execFileSync('openssl', args, { stdio: 'ignore' });
  const { uid, gid } = unprivilegedUser();
  chownSync(join(folder, 'key.pem'), uid, gid);
}

export class Nginx {
  readonly origin: string;
  /** Origin of the server that only redirects. */
  readonly plainOrigin: string;
  /** Trusts the certificate. */
  readonly agent: Agent;
  readonly #process: ChildProcess;
  readonly #certificate: Buffer;
  #log = '';

  private constructor(process: ChildProcess, port: number, plainPort: number, certificate: Buffer) {
    this.#process = process;
    this.#certificate = certificate;
    this.origin = `https://127.0.0.1:${port}`;
    this.plainOrigin = `http://127.0.0.1:${plainPort}`;
    this.agent = new Agent({ keepAlive: true, ca: certificate });
    process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#log += text;
    });
  }

  /**
   * @param nodes HOST:PORT of each
   * @param change changes the configuration, for tests that would take too long
   */
  static async start(
    folder: string,
    nodes: readonly string[],
    change: readonly [from: string, to: string] = ['', ''],
  ): Promise<Nginx> {
    const [port = 0, plainPort = 0, ...others] = await freePorts(4);
    mkdirSync(folder, { recursive: true });
    const own = CONFIGURATION.replace(...change)
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('listen 80', `listen 127.0.0.1:${plainPort}`)
      // Not every machine has IPv6.
      .replace('listen [::]:443', `listen 127.0.0.1:${others[0]}`)
      .replace('listen [::]:80', `listen 127.0.0.1:${others[1]}`)
      .replaceAll('/etc/nginx/daybook', folder)
      .replace(/^ {4}server 127\.0\.0\.1:8080(.*;)$/m, (_, rest) =>
        nodes.map((node) => `server ${node}${rest}`).join('\n'),
      );
    writeFileSync(join(folder, 'daybook.conf'), own);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const paths = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
    writeFileSync(
      join(folder, 'nginx.conf'),
      `worker_processes 2; pid ${folder}/nginx.pid; error_log stderr warn;\n` +
        `events {} http { access_log off; ${paths} include ${folder}/daybook.conf; }\n`,
    );
    makeCertificate(folder);
    const { uid, gid } = unprivilegedUser();
    chownSync(folder, uid, gid);
    chmodSync(join(folder, '..'), 0o755);
    const command = ['nginx', '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
    const [first, ...rest] = unprivileged([...command, '-g', 'daemon off;']);
    const env = { ...process.env, PATH: SERVER_PATH };
    const child = spawn(first, rest, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const certificate = readFileSync(join(folder, 'fullchain.pem'));
    const nginx = new Nginx(child, port, plainPort, certificate);
    await until('nginx answers', async () => {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${nginx.log}`);
      return await send(nginx.plainOrigin, '/', {}).then(
        () => true,
        () => false,
      );
    });
    return nginx;
  }

  /** Its own log output. */
  get log(): string {
    return this.#log;
  }

  /** A request over HTTP/1.1. */
  get(path: string, asked: Request = {}): Promise<Reply> {
    return send(this.origin, path, asked, this.agent);
  }

  /** Concurrent requests over one HTTP/2 connection. */
  async getAllHttp2(
    paths: readonly string[],
    headers: Readonly<Record<string, string>>,
    from: string,
  ): Promise<Omit<Reply, 'names'>[]> {
    // `localAddress` is an option of node:tls.
    const options = { ca: this.#certificate, localAddress: from };
    const session = connect(this.origin, options);
    try {
      return await Promise.all(
        paths.map(async (path) => {
          const stream = session.request({ ':path': path, ...headers });
          const [answered] = (await once(stream, 'response')) as [IncomingHttpHeaders];
          const chunks: Buffer[] = [];
          for await (const chunk of stream) chunks.push(chunk as Buffer);
          const status = Number(answered[':status']);
          return { status, headers: withoutConnection(answered), body: Buffer.concat(chunks) };
        }),
      );
    } finally {
      session.close();
    }
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'close');
    this.#process.kill('SIGTERM');
    await ended;
  }
}

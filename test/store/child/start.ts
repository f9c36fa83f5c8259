/** Starts store-process.ts. Node 20 cannot run TypeScript, so it is compiled first, once per test file. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Compiles the process into a temporary folder. */
export function compileStoreProcess(): { readonly script: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-process-'));
  const options = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions: {
      ...{ rootDir: repository, outDir: folder, declaration: false, sourceMap: false },
      typeRoots: [join(repository, 'node_modules/@types')],
    },
    include: [],
    files: [join(repository, 'test/store/child/store-process.ts')],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(join(repository, 'node_modules/.bin/tsc'), ['-p', folder], { stdio: 'inherit' });
  return {
    script: join(folder, 'test/store/child/store-process.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A running process and its lines of output. */
export interface StoreProcess {
  readonly child: ChildProcess;
  /** The next line; rejects if the process has exited. */
  line(): Promise<string>;
  ask(line: string): Promise<string>;
  /** Ends it with a signal and waits; resolves with the unread lines. */
  end(signal: NodeJS.Signals): Promise<readonly string[]>;
}

/** Starts a role on a store. It ends with the test at the latest. */
export function startStoreProcess(script: string, role: string, directory: string): StoreProcess {
  const child = spawn(process.execPath, [script, role, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  let wake = (): void => undefined;
  let ended = false;
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    lines.push(line);
    wake();
  });
  const closed = new Promise<void>((resolve) => {
    reader.on('close', () => {
      ended = true;
      wake();
      resolve();
    });
  });
  const exited = once(child, 'exit');
  async function line(): Promise<string> {
    while (lines.length === 0) {
      if (ended) throw new Error('the process has ended');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return lines.shift()!;
  }
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return {
    child,
    line,
    ask(text) {
      child.stdin.write(`${text}\n`);
      return line();
    },
    async end(signal) {
      child.kill(signal);
      // Its pipe may end before it exits.
      await Promise.all([closed, exited]);
      return lines.splice(0);
    },
  };
}

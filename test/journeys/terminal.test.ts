import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const environment = { PATH: process.env['PATH'] ?? '', HOME: tmpdir() };
const isPosix = process.platform !== 'win32';

/** An address that takes requests and answers none. */
interface SilentPlace {
  readonly server: Server;
  readonly url: string;
  /** Resolves when a request has come. */
  readonly asked: () => Promise<void>;
}

async function openSilentPlace(): Promise<SilentPlace> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // of a TCP server it is never a path
  const asked = () =>
    new Promise<void>((resolve) => {
      server.once('connection', (socket: Socket) => {
        socket.on('error', () => {});
        socket.once('data', () => resolve());
      });
    });
  return { server, url: `http://127.0.0.1:${port}`, asked };
}

describe.skipIf(!isPosix)(isPosix ? 'a command' : 'there are no signals on Windows', () => {
  let place: SilentPlace;

  beforeAll(async () => {
    place = await openSilentPlace();
  });

  afterAll(() => place.server.close());

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'that %s interrupts ends with %i, for it has not done its work',
    async (signal, code) => {
      const asked = place.asked();
      const env = { ...environment, ENNEAD_AUTH_URL: place.url, ENNEAD_TOKEN: 'any' };
      const words = ['scripts/ennead.mjs', 'users', 'list'];
      const child = spawn(process.execPath, words, { cwd: root, env, stdio: 'pipe' });
      const exit = new Promise((resolve) => {
        child.once('close', (...ended) => resolve(ended));
      });
      const stdout = text(child.stdout);
      await asked;
      child.kill(signal);
      expect(await exit).toEqual([code, null]);
      expect(await stdout).toBe('');
    },
  );
});

/**
 * Runs a program on a terminal of its own. The moment its first question stands there, it types the
 * last word; then it tells whether the terminal echoes, and prints all that was shown.
 */
const driver = `
import os, pty, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:-1])
shown = b''
echoes = None
while True:
    try:
        shown += os.read(terminal, 4096)
    except OSError:
        break
    if echoes is None and b': ' in shown:
        echoes = bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
        os.write(terminal, sys.argv[-1].encode().decode('unicode_escape').encode())
_, status = os.waitpid(pid, 0)
print('echoes', echoes)
print('exit', os.waitstatus_to_exitcode(status))
sys.stdout.write(shown.decode())
`;

function hasPty(): boolean {
  const { status } = spawnSync('python3', ['-c', 'import pty, os; os.waitstatus_to_exitcode(0)']);
  return status === 0;
}

/** What stands on the screen of who is asked for a password and types these keys at once. */
function typeAtOnce(keys: string): string {
  const env = {
    ...environment,
    ENNEAD_AUTH_URL: 'http://127.0.0.1:1',
    ENNEAD_DATA_DIR: `${tmpdir()}/ennead-test-nowhere`,
  };
  const words = [process.execPath, 'dist/main.js', 'users', 'list', keys];
  return execFileSync('python3', ['-c', driver, ...words], { cwd: root, env, encoding: 'utf8' });
}

const isTestable = isPosix && hasPty();

describe.skipIf(!isTestable)(isTestable ? 'a terminal' : 'python3 has no pty here', () => {
  test('does not show what is pasted as soon as a password is asked for', () => {
    const screen = typeAtOnce(String.raw`hunter2\r`);
    expect(screen).toContain('password of admin: ');
    expect(screen).toContain('echoes False');
    expect(screen).toContain('auth cannot be reached');
    expect(screen).not.toContain('hunter2');
  });

  test('on which Ctrl-C is typed in place of a password ends the command with 130', () => {
    expect(typeAtOnce(String.raw`\x03`)).toContain('exit 130');
  });
});

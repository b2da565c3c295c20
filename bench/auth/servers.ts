import { connections, Load, type Shot } from '../harness/load.ts';
import { MeasuredChild } from '../harness/measured-child.ts';
import { adminPassword } from '../../src/auth/testing.ts';

/** What the parent learns of a server. */
export interface ServerHello {
  readonly url: string;
}

/** What can be started; see `server-child.ts`. */
export type ServerKind = 'auth' | 'noop' | 'hash' | 'peer';

/** The client that asks the peer. */
export const peerClient = { id: 'bench', secret: 'bench-secret-of-thirty-two-bytes' };

/** A server in a process of its own, with the load that is fired at it. */
export class Server implements AsyncDisposable {
  readonly url: string;
  readonly load: Load;
  readonly #child: MeasuredChild<ServerHello>;

  private constructor(child: MeasuredChild<ServerHello>) {
    this.#child = child;
    this.url = child.hello.url;
    this.load = new Load(child.hello.url, ['']);
  }

  static async start(kind: ServerKind): Promise<Server> {
    const module = new URL('server-child.js', import.meta.url);
    return new Server(await MeasuredChild.start<ServerHello>(module, [kind]));
  }

  /** The server's CPU time per step, in microseconds; the load runs in this process. */
  async cpuMicrosPerStep(
    step: (turn: number, connection: number) => Promise<unknown>,
    times: number,
    options: { readonly isCalm?: boolean } = {},
  ): Promise<number> {
    const before = await this.#child.cpuMicros();
    await this.load.repeat(step, times, options);
    return ((await this.#child.cpuMicros()) - before) / times;
  }

  /** Sends JSON and reads JSON. */
  async post<T>(path: string, body: object): Promise<T> {
    return JSON.parse(await this.load.send(shotOf(path, body))) as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.load[Symbol.asyncDispose]();
    await this.#child[Symbol.asyncDispose]();
  }
}

/** A JSON request without a token. */
export function shotOf(path: string, body: object): Shot {
  return { method: 'POST', path, body: JSON.stringify(body) };
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

const login = {
  username: 'admin',
  password: adminPassword,
  client_id: 'bench',
  grant_type: 'password',
};

/** As many login sessions as the load has connections, each with its newest tokens. */
export class LoginSessions {
  readonly #server: Server;
  readonly #tokens: Tokens[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(server: Server): Promise<LoginSessions> {
    const sessions = new LoginSessions(server);
    for (let at = 0; at < connections; at += 1) {
      sessions.#tokens.push(await server.post('/api/v1/auth/login', login));
    }
    return sessions;
  }

  /** Refreshes the connection's session and answers the new access token. */
  async refresh(connection: number): Promise<string> {
    const tokens = await this.#server.post<Tokens>('/api/v1/auth/refresh', {
      refresh_token: this.#tokens[connection]?.refresh_token,
      grant_type: 'refresh_token',
    });
    this.#tokens[connection] = tokens;
    return tokens.access_token;
  }
}

/** Logs in once. */
export async function logIn(server: Server): Promise<void> {
  await server.post('/api/v1/auth/login', login);
}

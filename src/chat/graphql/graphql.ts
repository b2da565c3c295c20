import type { Server as HttpServer } from 'node:http';
import type { Log } from '../../kit/log.ts';
import type { Guests } from '../../kit/sockets/guests.ts';
import { asksForWebSocket, ignoreUpgrade, type Upgrade } from '../../kit/sockets/upgrade.ts';
import type { GraphqlParts } from './context.ts';
import type { GraphqlEngine } from './engine.ts';
import type { GraphqlSockets } from './sockets.ts';

export interface GraphqlOptions {
  readonly parts: GraphqlParts;
  /** `permission`: who asks for the schema needs chat:admin. */
  readonly introspection: 'open' | 'permission';
  readonly guests: Guests;
  /** Takes back upgrades that ask for something else than a WebSocket. */
  readonly server: HttpServer;
  /** Told of each socket; answers whom to tell of its end. */
  readonly socketOpened?: () => () => void;
  readonly log: Log;
}

interface Opened {
  readonly engine: GraphqlEngine;
  readonly sockets: GraphqlSockets;
}

/**
 * The GraphQL door. Its libraries are large, and a suite starts faster without them: they are loaded when
 * somebody first asks.
 */
export class Graphql implements AsyncDisposable {
  readonly #options: GraphqlOptions;
  #opening: Promise<Opened> | undefined;

  constructor(options: GraphqlOptions) {
    this.#options = options;
  }

  /** What answers operations. */
  async engine(): Promise<GraphqlEngine> {
    return (await this.#open()).engine;
  }

  /** Takes over an upgrade at the path of GraphQL, and all below it. */
  readonly takeUpgrade = (upgrade: Upgrade): void => {
    const { server } = this.#options;
    if (asksForWebSocket(upgrade)) void this.#takeSocket(upgrade);
    else ignoreUpgrade(server, upgrade);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#opening)?.sockets[Symbol.dispose]();
  }

  async #takeSocket(upgrade: Upgrade): Promise<void> {
    // Nobody else listens yet, and an unheard error would end the process.
    upgrade.socket.on('error', () => upgrade.socket.destroy());
    try {
      const { sockets } = await this.#open();
      sockets.take(upgrade);
    } catch (error) {
      this.#options.log.error({ err: error }, 'internal error');
      upgrade.socket.destroy();
    }
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#load();
    return this.#opening;
  }

  async #load(): Promise<Opened> {
    const { parts, introspection, guests, socketOpened, log } = this.#options;
    const [{ GraphqlEngine }, { GraphqlSockets }] = await Promise.all([
      import('./engine.ts'),
      import('./sockets.ts'),
    ]);
    const engine = new GraphqlEngine(parts, { introspection, log });
    return {
      engine,
      sockets: new GraphqlSockets({ engine, guests, log, ...(socketOpened && { socketOpened }) }),
    };
  }
}

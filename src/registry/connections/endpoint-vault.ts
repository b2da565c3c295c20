import type { Log } from '../../kit/log.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { Connection, RemoteEndpoint, StdioEndpoint } from './connection.ts';
import type { ConnectionRow, PlainEndpoint } from './connection-row.ts';

type Values = Readonly<Record<string, string>>;

/** The values of headers and environment variables, which no table and no bus sees unsealed. */
export class EndpointVault {
  readonly #sealer: Sealer;
  readonly #log: Log;
  #isFailureLogged = false;

  constructor(sealer: Sealer, log: Log) {
    this.#sealer = sealer;
    this.#log = log;
  }

  /** An endpoint in two parts: what the table may show, and what it may not. */
  close(
    id: string,
    endpoint: StdioEndpoint | RemoteEndpoint,
  ): { readonly endpoint: PlainEndpoint; readonly secrets: string | null } {
    if ('command' in endpoint) {
      const { command, args, env } = endpoint;
      return { endpoint: { command, args }, secrets: this.#seal(id, env) };
    }
    const { url, headers } = endpoint;
    return { endpoint: { url }, secrets: this.#seal(id, headers) };
  }

  /** The connection that a row tells; without its secret values where the key file is another. */
  open(row: ConnectionRow): Connection {
    const { endpoint, secrets, approval, offer, server, pins, disconnectedAtMs, ...said } = row;
    const values = secrets === null ? undefined : this.#unseal(row.id, secrets);
    const base = {
      ...said,
      ...(offer ? { offer } : {}),
      ...(server ? { server } : {}),
      ...(pins ? { pins } : {}),
      ...(disconnectedAtMs === null ? {} : { disconnectedAtMs }),
    };
    if ('command' in endpoint) {
      const approved = approval ? { approval } : {};
      const whole = { ...endpoint, ...(values ? { env: values } : {}) };
      return { ...base, ...approved, protocol: 'stdio', endpoint: whole };
    }
    const protocol = row.protocol === 'websocket' ? 'websocket' : 'http';
    return { ...base, protocol, endpoint: { ...endpoint, ...(values ? { headers: values } : {}) } };
  }

  #seal(id: string, values: Values | undefined): string | null {
    if (!values || Object.keys(values).length === 0) return null;
    return this.#sealer.seal(Buffer.from(JSON.stringify(values)), contextOf(id));
  }

  #unseal(id: string, secrets: string): Values | undefined {
    try {
      // Written by `#seal`, and authentic.
      return JSON.parse(this.#sealer.unseal(secrets, contextOf(id)).toString()) as Values;
    } catch (err) {
      if (!this.#isFailureLogged) {
        this.#log.error({ err, connectionId: id }, 'secrets of connections cannot be read');
      }
      this.#isFailureLogged = true;
      return undefined;
    }
  }
}

function contextOf(id: string): string {
  return `registry connection ${id}`;
}

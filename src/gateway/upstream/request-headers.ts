import type { Dialect } from '../dialects/dialect.ts';
import type { Provider, ProviderKey } from '../providers/provider.ts';
import { Secrets } from './secrets.ts';

export type RequestHeaders = Readonly<Record<string, string>>;

/** What every request to a provider has. */
export interface RequestHead {
  readonly headers: RequestHeaders;
  /** What of the headers must not be shown to anybody else. */
  readonly secrets: Secrets;
}

interface Known extends RequestHead {
  readonly value: string | undefined;
}

/** What stands in front of every request to a provider; made anew only when its key changes. */
export class HeaderBook {
  readonly #known = new WeakMap<Provider, Map<string, Known>>();

  /** At once for keys that are known at once. */
  of(
    provider: Provider,
    key: ProviderKey | undefined,
    dialect: Dialect,
  ): RequestHead | Promise<RequestHead> {
    const value = key?.reveal();
    const slot = { provider, id: key?.id ?? '', dialect };
    if (value instanceof Promise) return value.then((secret) => this.#with(secret, slot));
    return this.#with(value, slot);
  }

  #with(value: string | undefined, { provider, id, dialect }: Slot): RequestHead {
    let known = this.#known.get(provider);
    if (!known) this.#known.set(provider, (known = new Map()));
    const before = known.get(id);
    if (before && before.value === value) return before;
    const headers = {
      'content-type': 'application/json',
      // Answers are read as they come, and passed on as they are.
      'accept-encoding': 'identity',
      ...(value === undefined ? {} : dialect.credential(value)),
      ...provider.headers,
    };
    const secrets = new Secrets([...Object.values(provider.headers), ...(value ? [value] : [])]);
    const head = { value, headers, secrets };
    known.set(id, head);
    return head;
  }
}

interface Slot {
  readonly provider: Provider;
  readonly id: string;
  readonly dialect: Dialect;
}

import type { Dialect } from '../dialects/dialect.ts';
import type { Provider, ProviderKey } from '../providers/provider.ts';

export type RequestHeaders = Readonly<Record<string, string>>;

interface Known {
  readonly value: string | undefined;
  readonly headers: RequestHeaders;
}

/** What stands in front of every request to a provider; made anew only when its key changes. */
export class HeaderBook {
  readonly #known = new WeakMap<Provider, Map<string, Known>>();

  /** At once for keys that are known at once. */
  of(
    provider: Provider,
    key: ProviderKey | undefined,
    dialect: Dialect,
  ): RequestHeaders | Promise<RequestHeaders> {
    const value = key?.reveal();
    const slot = { provider, id: key?.id ?? '', dialect };
    if (value instanceof Promise) return value.then((secret) => this.#with(secret, slot));
    return this.#with(value, slot);
  }

  #with(value: string | undefined, { provider, id, dialect }: Slot): RequestHeaders {
    let known = this.#known.get(provider);
    if (!known) this.#known.set(provider, (known = new Map()));
    const before = known.get(id);
    if (before && before.value === value) return before.headers;
    const headers = {
      'content-type': 'application/json',
      ...(value === undefined ? {} : dialect.credential(value)),
      ...provider.headers,
    };
    known.set(id, { value, headers });
    return headers;
  }
}

interface Slot {
  readonly provider: Provider;
  readonly id: string;
  readonly dialect: Dialect;
}

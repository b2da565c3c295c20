import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const requirePeer = createRequire(resolve('bench/peers/package.json'));

/**
 * A package of `bench/peers`, which `scripts/bench.mjs` installs. It is not there when types are checked,
 * so the caller says what it uses of it.
 */
export function loadPeer(name: string): unknown {
  return requirePeer(name);
}

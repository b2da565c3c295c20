import { createHash } from 'node:crypto';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import type { Standing } from './server-login.ts';

/** Seals standings, each for one place: a sealed text that is moved elsewhere does not open. */
export class StandingBox {
  readonly #sealer: Pick<Sealer, 'seal' | 'unseal'>;

  constructor(sealer: Pick<Sealer, 'seal' | 'unseal'>) {
    this.#sealer = sealer;
  }

  seal(standing: Standing, place: string): string {
    return this.#sealer.seal(Buffer.from(JSON.stringify(standing)), contextOf(place));
  }

  unseal(sealed: string, place: string): Standing {
    const plain = this.#sealer.unseal(sealed, contextOf(place));
    // Nothing else is sealed under this context.
    return JSON.parse(plain.toString('utf8')) as Standing;
  }
}

/** The place of the login that was begun with this state. */
export function flowContext(state: string): string {
  return `flow ${hashOf(state)}`;
}

/** What stands for a state where who reads it must not learn it. */
export function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url');
}

function contextOf(place: string): string {
  return `registry authorization ${place}`;
}

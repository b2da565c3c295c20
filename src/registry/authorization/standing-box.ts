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

function contextOf(place: string): string {
  return `registry authorization ${place}`;
}

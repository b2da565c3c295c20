import { hiddenSecret, secretFieldsOf } from '../../components/secret-fields.ts';
import type { Component } from '../../components/component.ts';
import { writeOutput, readOutput } from './outputs.ts';
import type { Sealer } from '../../../kit/secrets/sealing.ts';

const context = 'workflow output';
/** How every sealed field begins in the journal. */
const sealedStart = '{"$sealed":"';

/**
 * The secrets in the outputs of one execution: known by the object that holds them, so that they are
 * found again where a Loop, a Parallel or the result takes that object over.
 */
export class OutputSecrets {
  readonly #sealer: EngineSealer;
  readonly #fields = new WeakMap<object, ReadonlySet<string>>();

  constructor(sealer: EngineSealer) {
    this.#sealer = sealer;
  }

  /** Says which fields of an output are secret. */
  note(component: Component, output: unknown): void {
    const names = secretFieldsOf(component.output);
    if (names.length > 0 && isObject(output)) this.#fields.set(output, new Set(names));
  }

  /** An output as the journal keeps it. */
  seal(output: unknown): string {
    return this.#write(output, (secret) => {
      const plain = Buffer.from(JSON.stringify(secret));
      return { $sealed: this.#sealer.seal(plain, context) };
    });
  }

  /** An output as it is told and answered. */
  hide(output: unknown): unknown {
    return readOutput(this.#write(output, () => hiddenSecret));
  }

  /** What `seal` has written, with its secrets. */
  open(text: string | undefined): unknown {
    if (!text?.includes(sealedStart)) return readOutput(text);
    const opened = new Map<object, Set<string>>();
    const { open } = { open: (sealed: string) => this.#unseal(sealed) };
    const output: unknown = JSON.parse(text, function read(this: object, name, value: unknown) {
      const secret = isSealed(value) ? open(value.$sealed) : undefined;
      if (secret === undefined) return value;
      const names = opened.get(this) ?? new Set();
      opened.set(this, names.add(name));
      return secret.value;
    });
    for (const [holder, names] of opened) this.#fields.set(holder, names);
    return output;
  }

  #write(output: unknown, replace: (secret: unknown) => unknown): string {
    const fields = this.#fields;
    return writeOutput(output, function write(this: object, name, value: unknown) {
      return fields.get(this)?.has(name) ? replace(value) : value;
    });
  }

  /** Undefined for what only looks like ours. */
  #unseal(sealed: string): { readonly value: unknown } | undefined {
    try {
      return { value: JSON.parse(this.#sealer.unseal(sealed, context).toString()) };
    } catch {
      return undefined;
    }
  }
}

/** An output of the journal as it is answered. */
export function readShownOutput(text: string | undefined): unknown {
  if (!text?.includes(sealedStart)) return readOutput(text);
  return JSON.parse(text, (_name, value: unknown) => (isSealed(value) ? hiddenSecret : value));
}

function isSealed(value: unknown): value is { readonly $sealed: string } {
  return isObject(value) && '$sealed' in value && typeof value.$sealed === 'string';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export type EngineSealer = Pick<Sealer, 'seal' | 'unseal'>;

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSealer, type Sealer } from '../../kit/secrets/sealing.ts';
import { writeSecretFile } from '../../kit/secrets/secret-file.ts';
import type { ChainHead } from './chain.ts';

/** A head of the chain, signed by who has the key file. */
export interface SignedHead extends ChainHead {
  readonly signature: string;
}

const purpose = 'audit checkpoint';

/**
 * Signs heads of the chain, and keeps the newest in `audit-checkpoint.json` in the data folder: who
 * can write the database alone can neither forge one nor make this one go away.
 */
export class CheckpointKey {
  readonly #sealer: Sealer;
  readonly #path: string;

  constructor(sealer: Sealer, dataFolder: string) {
    this.#sealer = sealer;
    this.#path = join(dataFolder, 'audit-checkpoint.json');
  }

  sign(head: ChainHead): SignedHead {
    return { ...head, signature: this.#sealer.mark(messageOf(head), purpose) };
  }

  isSigned(head: SignedHead): boolean {
    return this.#sealer.isMark(head.signature, messageOf(head), purpose);
  }

  /** On the disk when this resolves. */
  async keep({ seq, hash, signature }: SignedHead): Promise<void> {
    const kept = { seq, hash: hash.toString('hex'), signature };
    await writeSecretFile(this.#path, `${JSON.stringify(kept)}\n`);
  }

  /** The head that was kept last; undefined when there is none, or nothing that could be one. */
  async readKept(): Promise<SignedHead | undefined> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}';
      throw error;
    });
    return parseHead(text);
  }
}

/** The key of a data folder, for those who verify without a running service; rejects without one. */
export async function openCheckpointKey(dataFolder: string): Promise<CheckpointKey> {
  const sealer = await openSealer({ folder: join(dataFolder, 'secrets'), mayCreate: false });
  return new CheckpointKey(sealer, dataFolder);
}

function messageOf({ seq, hash }: ChainHead): string {
  return `${seq} ${hash.toString('hex')}`;
}

function parseHead(text: string): SignedHead | undefined {
  try {
    const kept = JSON.parse(text) as Partial<Record<keyof SignedHead, unknown>>;
    const { seq, hash, signature } = kept;
    const isHead =
      Number.isSafeInteger(seq) && typeof hash === 'string' && typeof signature === 'string';
    return isHead ? { seq: Number(seq), hash: Buffer.from(hash, 'hex'), signature } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

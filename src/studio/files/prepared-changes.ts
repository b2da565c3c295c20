import { Fault } from '../../kit/errors.ts';
import { diskFault, type Blob, type Blobs, type WrittenBlob } from './blobs.ts';
import type { ChangeOutcome, PreparedChange } from './commit-plan.ts';
import type { FilePlace } from './disk-notes.ts';
import type { KeptContent, WantedChange } from './file.ts';
import { contentMissing } from './file-faults.ts';
import type { KeptContents } from './kept-contents.ts';
import { isWellFormed, toPath } from './paths.ts';
import { sideBySide } from './side-by-side.ts';

export interface PreparationParts {
  readonly blobs: Blobs;
  readonly kept: KeptContents;
}

const atOnce = 16;

/**
 * Changes whose contents are on the disk, twice, before anything is decided about them: in the store, held
 * until this is disposed, and in the workspace's own place.
 */
export class PreparedChanges implements AsyncDisposable {
  readonly #parts: PreparationParts;
  readonly #place: FilePlace;
  /** In the order of what was wanted, with Faults of what is refused as it is. */
  readonly prepared: (PreparedChange | Fault)[] = [];
  /** Contents that wait to be kept. */
  readonly #written = new Map<Blob, WrittenBlob>();
  readonly #outcomes = new Map<PreparedChange, ChangeOutcome>();

  private constructor(parts: PreparationParts, place: FilePlace) {
    this.#parts = parts;
    this.#place = place;
  }

  /** Rejects where nothing can be written at all. */
  static async of(
    parts: PreparationParts,
    place: FilePlace,
    wanted: readonly WantedChange[],
  ): Promise<PreparedChanges> {
    const changes = new PreparedChanges(parts, place);
    try {
      await changes.#write(wanted);
      await changes.#stage();
      await changes.#keep();
      return changes;
    } catch (error) {
      await changes[Symbol.asyncDispose]();
      throw diskFault(error);
    }
  }

  /** Has them stored; answers what came of each of what was wanted. */
  async store(
    store: (items: readonly PreparedChange[]) => Promise<readonly ChangeOutcome[]>,
  ): Promise<readonly ChangeOutcome[]> {
    const items = this.#items();
    const outcomes = items.length === 0 ? [] : await store(items);
    for (const [index, item] of items.entries()) {
      const outcome = outcomes[index];
      if (outcome) this.#outcomes.set(item, outcome);
    }
    const named = items.filter((item) => item.wanted.content !== undefined && this.#isUsed(item));
    const hashes = named.flatMap(({ wanted: { content } }) =>
      isKept(content) ? [content.kept] : [],
    );
    await this.#parts.kept.name(this.#place.workspaceId, hashes);
    return this.prepared.map((one) => {
      if (one instanceof Fault) return one;
      return this.#outcomes.get(one) ?? new Fault('internal', 'the change was not carried out');
    });
  }

  /** Nothing stays of what was refused: it would take room that nobody counts. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { blobs, kept } = this.#parts;
    const unused = this.#items().filter((item) => !this.#isUsed(item));
    await blobs.forget([...this.#written.values()]);
    for (const { blob } of this.#items()) {
      if (blob && !this.#written.has(blob)) blobs.release(blob.hash);
    }
    await this.#place.folder.discard(unused.flatMap(({ staged }) => staged ?? []));
    for (const item of unused) {
      // Where it is not known what came of it, it may be named yet: it goes when it is old.
      if (item.blob && this.#outcomes.has(item)) await kept.drop(item.blob.hash);
    }
  }

  #items(): PreparedChange[] {
    return this.prepared.filter((one): one is PreparedChange => !(one instanceof Fault));
  }

  #isUsed(item: PreparedChange): boolean {
    const outcome = this.#outcomes.get(item);
    if (!outcome || outcome instanceof Fault) return false;
    return outcome.outcome === 'applied' || outcome.conflictCopy !== undefined;
  }

  async #write(wanted: readonly WantedChange[]): Promise<void> {
    const asked = wanted.flatMap(({ content }) => (isKept(content) ? [content.kept] : []));
    const { kept } = this.#parts;
    const own = asked.length === 0 ? new Map() : await kept.find(this.#place.workspaceId, asked);
    const prepared = await sideBySide(wanted, atOnce, async (one) => {
      try {
        const path = toPath(one.path);
        if (!isWellFormed(one.opId ?? '')) throw flawedOpId();
        return await this.#prepare({ ...one, path }, own);
      } catch (error) {
        return Fault.from(error);
      }
    });
    this.prepared.push(...prepared);
  }

  async #prepare(wanted: WantedChange, own: ReadonlyMap<string, number>): Promise<PreparedChange> {
    const { blobs } = this.#parts;
    const { content, hash } = wanted;
    if (content === undefined) return { wanted };
    if (isKept(content)) {
      // What others have sent is not to be had by its hash alone.
      const blob = own.has(content.kept) ? await blobs.holdKept(content.kept) : undefined;
      if (!blob) throw contentMissing(content.kept);
      return { wanted, blob };
    }
    const written = await blobs.write(content, hash);
    const blob = { hash: written.hash, size: written.size };
    this.#written.set(blob, written);
    return { wanted, blob };
  }

  /** Copies are made before anything waits for the disk, so that all of it waits at once. */
  async #stage(): Promise<void> {
    const contents = this.#items().flatMap(({ blob }) => (blob ? [blob] : []));
    if (contents.length === 0) return;
    const { folder } = this.#place;
    const names = await folder.stage(contents, (blob, target) =>
      this.#parts.blobs.copy(this.#written.get(blob) ?? blob, target),
    );
    const left = names.values();
    for (const [index, item] of this.prepared.entries()) {
      if (item instanceof Fault || !item.blob) continue;
      this.prepared[index] = { ...item, staged: left.next().value ?? '' };
    }
    await folder.settle(names);
  }

  async #keep(): Promise<void> {
    await this.#parts.blobs.keep([...this.#written.values()]);
    this.#written.clear();
  }
}

function flawedOpId(): Fault {
  return new Fault('invalid', 'opId holds half of a character', { reason: 'validation_error' });
}

function isKept(content: WantedChange['content']): content is KeptContent {
  return content !== undefined && 'kept' in content;
}

import { Fault } from '../../kit/errors.ts';
import { diskFault, hashStream } from './blobs.ts';
import { operationKey, readChanges, readChangesByOp, type Operation } from './change-store.ts';
import {
  CommitPlan,
  decide,
  type ChangeOutcome,
  type Decision,
  type PreparedChange,
  type Write,
} from './commit-plan.ts';
import { noteDisk, type DiskNotesParts, type FilePlace } from './disk-notes.ts';
import type { AppliedChange, FileChange, FileRecord } from './file.ts';
import { findCollisions, readFile } from './file-store.ts';
import { folderOf } from './folder-anchor.ts';
import { conflictPath } from './paths.ts';
import { noteRemovals } from './removal-notes.ts';
import { sideBySide } from './side-by-side.ts';
import { cutWaves } from './waves.ts';

export interface FileCommitsParts extends DiskNotesParts {
  /** The folder holds a change. */
  readonly noteWritten: (change: { readonly workspaceId: string; readonly seq: number }) => void;
}

const attemptsMax = 5;
const copiesMax = 50;
const waveMax = 1_000;
const atOnce = 8;

/** Decides what becomes of wanted changes, and carries them out in the log and in the folder. */
export class FileCommits {
  readonly #parts: FileCommitsParts;

  constructor(parts: FileCommitsParts) {
    this.#parts = parts;
  }

  /**
   * Stores changes and puts them in the folder; the caller has the workspace's lock. Those whose paths are
   * not in each other's way are stored together.
   */
  async commit(
    place: FilePlace,
    items: readonly PreparedChange[],
  ): Promise<Map<PreparedChange, ChangeOutcome>> {
    const outcomes = new Map<PreparedChange, ChangeOutcome>();
    for (const wave of cutWaves(items, pathsOf, waveMax).flatMap(cutRepeats)) {
      try {
        for (const [item, outcome] of await this.#commitWave(place, wave)) {
          outcomes.set(item, outcome);
        }
      } catch (error) {
        // What was stored before is told as such.
        for (const item of wave) outcomes.set(item, Fault.from(diskFault(error)));
      }
    }
    return outcomes;
  }

  /** After a crash: what is stored is put in the folder, unless somebody has put something of their own there. */
  async finish(place: FilePlace, record: FileRecord): Promise<void> {
    const { workspaceId, folder } = place;
    const near = { after: record.seq - 2, limit: 2 };
    const changes = await readChanges(this.#parts.sql, workspaceId, near);
    const own = changes.find(({ seq }) => seq === record.seq);
    await this.#finishMove(place, { record, before: changes[0] });
    const file = await folder.open(record.path);
    const hash = file && (await hashStream(file.createReadStream()));
    if (hash !== undefined && hash !== record.hash && hash !== own?.baseHash) {
      await noteDisk(this.#parts, place, [record.path]);
      return;
    }
    const { path, isExecutable } = record;
    await folder.put(path, { hash: record.hash, isExecutable, blobs: this.#parts.blobs });
    this.#parts.noteWritten({ workspaceId, seq: record.seq });
  }

  /** The old name of a file that was moved goes. */
  async #finishMove(
    { folder }: FilePlace,
    { record, before }: { readonly record: FileRecord; readonly before: FileChange | undefined },
  ): Promise<void> {
    if (before?.operation !== 'delete' || before.seq !== record.seq - 1) return;
    if (before.baseHash !== record.hash) return;
    const file = await folder.open(before.path);
    const hash = file && (await hashStream(file.createReadStream()));
    if (hash === before.baseHash) await folder.remove(before.path);
  }

  async #commitWave(
    place: FilePlace,
    wave: readonly PreparedChange[],
  ): Promise<Map<PreparedChange, ChangeOutcome>> {
    const earlier = await this.#earlier(place, wave);
    const items = wave.filter((item) => !earlier.has(item));
    if (items.length === 0) return earlier;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const plan = await this.#plan(place, items);
      if (await this.#carryOut(place, plan)) return new Map([...earlier, ...plan.outcomes]);
    }
    throw new Fault('conflict', 'others change these files all the time', {
      reason: 'file_busy',
      retryAfter: 1,
    });
  }

  async #plan(place: FilePlace, items: readonly PreparedChange[]): Promise<CommitPlan> {
    const { state, faults } = await noteDisk(this.#parts, place, items.flatMap(pathsOf));
    const plan = new CommitPlan(state, place.quotaBytes);
    const decisions = new Map<PreparedChange, Decision>();
    for (const item of items) {
      const fault = pathsOf(item)
        .map((path) => faults.get(path))
        .find((one) => one !== undefined);
      const decision = fault ? ({ kind: 'answer', outcome: fault } as const) : decide(item, state);
      decisions.set(
        item,
        decision.kind === 'beside' ? await this.#beside(place, item, decision) : decision,
      );
    }
    const refusals = await this.#refusals(place, [...decisions.values()].filter(isWrite));
    for (const [item, decision] of decisions) {
      if (decision.kind === 'answer') plan.outcomes.set(item, decision.outcome);
      else if (decision.kind === 'remove') plan.remove(item, decision.record);
      else if (isWrite(decision)) {
        const refusal = refusals.get(decision);
        if (refusal) plan.outcomes.set(item, refusal);
        else plan.write(item, decision);
      }
    }
    return plan;
  }

  /** False when others have stored something since the plan was made. */
  async #carryOut(place: FilePlace, plan: CommitPlan): Promise<boolean> {
    if (plan.changes.length === 0) return true;
    const { workspaceId, folder } = place;
    const { log, stamps, noteWritten } = this.#parts;
    // The folder is first, so that nothing comes back after a crash; what that leaves is found by the note.
    const noted = await noteRemovals(folder, plan.removals);
    await sideBySide(plan.removals, atOnce, (path) => folder.remove(path));
    for (const path of plan.removals) stamps.forget(workspaceId, path);
    const end = { lastSeq: (plan.changes[0]?.seq ?? 1) - 1, usedBytes: 0, forgottenSeq: 0 };
    const isStored = await log.store(workspaceId, { end }, plan);
    await folder.discard(noted);
    if (!isStored) return false;
    for (const path of plan.left) await folder.remove(path);
    const failures = await folder.place(plan.files);
    noteFailures(plan, failures);
    for (const { path, seq, hash } of plan.changes) {
      if (hash !== undefined && !failures.has(path)) noteWritten({ workspaceId, seq });
    }
    return true;
  }

  /** What came of changes that are sent once more. */
  async #earlier(
    { workspaceId }: FilePlace,
    wave: readonly PreparedChange[],
  ): Promise<Map<PreparedChange, ChangeOutcome>> {
    const { sql } = this.#parts;
    const outcomes = new Map<PreparedChange, ChangeOutcome>();
    const operations = wave.flatMap((item) => operationOf(item) ?? []);
    const changes = await readChangesByOp(sql, workspaceId, operations);
    for (const item of changes.size === 0 ? [] : wave) {
      const operation = operationOf(item);
      const change = operation && changes.get(operationKey(operation));
      if (!change) continue;
      const outcome = isOf(change, item) ? await this.#outcomeOf(item, change) : reused(item);
      outcomes.set(item, outcome);
    }
    return outcomes;
  }

  async #outcomeOf({ wanted }: PreparedChange, change: FileChange): Promise<AppliedChange> {
    const { sql } = this.#parts;
    const { workspaceId, seq, conflictOf } = change;
    const record = await readFile(sql, workspaceId, wanted.path);
    const now = record ? { record } : {};
    if (conflictOf === undefined) return { outcome: 'applied', seq, ...now };
    const conflictCopy = await readFile(sql, workspaceId, change.path);
    return { outcome: 'conflict', seq, ...now, ...(conflictCopy ? { conflictCopy } : {}) };
  }

  /** The server's version keeps the path; the loser lies beside it. */
  async #beside(
    { workspaceId }: FilePlace,
    { wanted }: PreparedChange,
    { record: winner, blob }: Extract<Decision, { kind: 'beside' }>,
  ): Promise<Decision> {
    const at = new Date();
    for (let count = 0; count < copiesMax; count += 1) {
      const device = count === 0 ? wanted.deviceId : `${wanted.deviceId}-${count}`;
      const path = conflictPath(wanted.path, device, at);
      const there = await readFile(this.#parts.sql, workspaceId, path);
      if (there && there.hash !== blob.hash) continue;
      if (there) {
        const { seq } = there;
        const outcome = { outcome: 'conflict', seq, record: winner, conflictCopy: there } as const;
        return { kind: 'answer', outcome };
      }
      const isExecutable = wanted.isExecutable ?? winner.isExecutable;
      return { kind: 'write', path, blob, isExecutable, winner };
    }
    throw new Fault('conflict', 'too many conflicts at once', { reason: 'file_busy' });
  }

  /** Why some writes cannot be: another file is in the way, or something in the folder is. */
  async #refusals(place: FilePlace, writes: readonly Write[]): Promise<Map<Write, Fault>> {
    const refusals = new Map<Write, Fault>();
    const made = writes.filter(({ record }) => !record);
    const paths = made.map(({ path }) => path);
    const collisions = await findCollisions(this.#parts.sql, place.workspaceId, paths);
    for (const write of made) {
      const other = collisions.get(write.path);
      if (other !== undefined && other !== write.movedFrom?.path) {
        refusals.set(write, collision(write.path, other));
      }
    }
    const flaws = new Map<string, Promise<void>>();
    const open = writes.filter((write) => !refusals.has(write));
    await sideBySide(open, atOnce, async (write) => {
      const { path } = write;
      const folder = folderOf(path);
      const parents = flaws.get(folder) ?? place.folder.makeParents(path);
      flaws.set(folder, parents);
      try {
        await parents;
        await place.folder.requirePlace(path);
      } catch (error) {
        if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
        refusals.set(write, error);
      }
    });
    return refusals;
  }
}

/** What is stored, and yet could not be put in the folder, is told as a failure. */
function noteFailures({ outcomes }: CommitPlan, failures: ReadonlyMap<string, unknown>): void {
  for (const [item, outcome] of outcomes) {
    const made = outcome instanceof Fault ? undefined : (outcome.conflictCopy ?? outcome.record);
    const failure = made && failures.get(made.path);
    if (failure !== undefined) outcomes.set(item, Fault.from(diskFault(failure)));
  }
}

function pathsOf({ wanted: { path, movedFrom } }: PreparedChange): readonly string[] {
  return movedFrom === undefined ? [path] : [path, movedFrom];
}

/** A change that is sent twice at once comes in a wave of its own, where the first one is known. */
function cutRepeats(wave: readonly PreparedChange[]): PreparedChange[][] {
  const waves: PreparedChange[][] = [];
  const counts = new Map<string, number>();
  for (const item of wave) {
    const operation = operationOf(item);
    const key = operation && operationKey(operation);
    const count = key === undefined ? 0 : (counts.get(key) ?? 0);
    if (key !== undefined) counts.set(key, count + 1);
    (waves[count] ??= []).push(item);
  }
  return waves;
}

function operationOf({ wanted: { deviceId, opId } }: PreparedChange): Operation | undefined {
  return opId === undefined ? undefined : { deviceId, opId };
}

function isOf(change: FileChange, { wanted, blob }: PreparedChange): boolean {
  return (change.conflictOf ?? change.path) === wanted.path && change.hash === blob?.hash;
}

function reused({ wanted: { opId, path } }: PreparedChange): Fault {
  return new Fault('conflict', 'another change of this device has the same opId', {
    reason: 'op_reused',
    detail: { opId, path },
  });
}

function isWrite(decision: Decision): decision is Write {
  return decision.kind === 'write';
}

function collision(path: string, other: string): Fault {
  return new Fault('invalid', `${path} and ${other} cannot both be there`, {
    reason: 'path_collision',
    detail: { path, other },
  });
}

import { setImmediate } from 'node:timers/promises';
import type { Log } from '../../kit/log.ts';
import { lacksPartition } from '../intake/trace-store.ts';
import { readLog, readParts, storeFold, type BlockPlace, type LogRow } from './block-store.ts';
import { addBlock, packCells } from './cell-block.ts';
import { readCellLog } from './cell-log.ts';
import { aheadMinutesMax, bucketOf, keptMinutes, type Cell } from './cells.ts';
import type { Level } from './series.ts';
import type { SeriesSql } from './tables.ts';

export interface FoldingOptions {
  readonly sql: SeriesSql;
  /** Has the partitions of today ready. */
  readonly readyPartitions: () => Promise<void>;
  readonly log: Log;
}

const intervalMs = 10_000;

/** Rows of the log that become blocks in one statement. */
const rowsMax = 64;
/** And what they take, about: others wait behind the statement. */
const bytesMax = 256 * 1024;

/**
 * A part of a block that is larger than what is added to it by more than this stays as it is beside a new
 * one: so a block is written a few times, not at every fold, however large it becomes.
 */
const growth = 8;
const smallBytes = 4_096;

/** Moves what was added to the series from the log to the blocks, every ten seconds. */
export class Folding implements AsyncDisposable {
  readonly #options: FoldingOptions;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: FoldingOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#start(), intervalMs).unref();
  }

  /** Waits for the statement at hand; what is in the log stays there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#running = this.#running.then(() => this.#run());
  }

  async #run(): Promise<void> {
    try {
      while (!this.#isStopped && (await foldLog(this.#options.sql, Date.now())));
    } catch (error) {
      if (lacksPartition(error)) await this.#ready();
      else this.#options.log.warn({ err: error }, 'the log of the series could not be folded');
    }
  }

  /** The clock may have jumped to a day that nobody was ready for. */
  async #ready(): Promise<void> {
    const { readyPartitions, log } = this.#options;
    await readyPartitions().catch((error: unknown) => {
      log.error({ err: error }, 'the partitions of the series could not be made');
    });
  }
}

/** Moves the oldest rows of the log to the blocks; answers whether there may be more. */
export async function foldLog(sql: SeriesSql, nowMs: number): Promise<boolean> {
  const found = await readLog(sql, rowsMax);
  const rows = firstOf(found);
  if (rows.length === 0) return false;
  const blocks = new OpenBlocks(Math.floor(nowMs / 60_000));
  for (const { body } of rows) {
    blocks.addLogged(body);
    await setImmediate();
  }
  const former = await readParts(sql, blocks.places());
  for (const part of former) blocks.addPart(part, part.body);
  const logIds = rows.map(({ id }) => id);
  const isStored = await storeFold(sql, { logIds, former, parts: blocks.pack() });
  return isStored && (rows.length < found.length || found.length === rowsMax);
}

function firstOf(rows: readonly LogRow[]): readonly LogRow[] {
  let bytes = 0;
  const last = rows.findIndex(({ body }) => (bytes += body.length) >= bytesMax);
  return last < 0 ? rows : rows.slice(0, last + 1);
}

interface OpenBlock extends BlockPlace {
  readonly cells: Map<number, Cell>;
  /** Of what is added to it. */
  bytes: number;
}

const levels: readonly Level[] = ['minute', 'hour', 'day'];

/** Blocks in the making. */
class OpenBlocks {
  readonly #nowMinute: number;
  readonly #blocks = new Map<string, OpenBlock>();

  constructor(nowMinute: number) {
    this.#nowMinute = nowMinute;
  }

  /** Adds what is as old as the cells of a level are kept, and not far ahead of the clock. */
  addLogged(body: Uint8Array): void {
    for (const { kind, minute, block } of readCellLog(body)) {
      if (minute > this.#nowMinute + aheadMinutesMax) continue;
      for (const level of levels) {
        const bucket = bucketOf(minute, level);
        if (bucket < this.#nowMinute - keptMinutes[level]) continue;
        const open = this.#at({ level, kind, bucket });
        open.bytes += block.length;
        addBlock(block, open.cells, { hasBins: hasBins(open) });
      }
    }
  }

  addPart({ level, kind, bucket }: BlockPlace, body: Uint8Array): void {
    addBlock(body, this.#at({ level, kind, bucket }).cells, { hasBins: true });
  }

  places() {
    return [...this.#blocks.values()].map(({ level, kind, bucket, bytes }) => ({
      level,
      kind,
      bucket,
      bytesMax: smallBytes + growth * bytes,
    }));
  }

  pack() {
    return [...this.#blocks.values()].flatMap(({ level, kind, bucket, cells }) => {
      const body = packCells(cells);
      return body === undefined ? [] : { level, kind, bucket, body };
    });
  }

  #at(place: BlockPlace): OpenBlock {
    const { level, kind, bucket } = place;
    const key = `${level} ${kind} ${bucket}`;
    let block = this.#blocks.get(key);
    if (block === undefined)
      this.#blocks.set(key, (block = { ...place, cells: new Map(), bytes: 0 }));
    return block;
  }
}

/** By the minute self times have none: nobody asks for it, and it would be most of what is stored. */
function hasBins({ level, kind }: BlockPlace): boolean {
  return level !== 'minute' || kind !== 'self';
}

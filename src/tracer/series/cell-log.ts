import { ByteReader, ByteWriter } from '../bytes.ts';
import { writeCells } from './cell-block.ts';
import type { Cell } from './cells.ts';
import { seriesKinds, type SeriesKind } from './series.ts';

/** What was added to the series of a kind within a minute. */
export interface LoggedBlock {
  readonly kind: SeriesKind;
  /** Since the epoch. */
  readonly minute: number;
  readonly block: Uint8Array;
}

/**
 * Packs what is added to cells of minutes: of each kind and minute its number, the minute, how many bytes
 * follow, and a block (see cell-block.ts). Hours and days are made of the minutes.
 */
export class CellLogWriter {
  readonly #writer = new ByteWriter();
  readonly #block = new ByteWriter();

  write(kind: SeriesKind, minute: number, cells: ReadonlyMap<number, Cell>): void {
    this.#block.clear();
    if (!writeCells(this.#block, cells)) return;
    this.#writer.byte(seriesKinds.indexOf(kind));
    this.#writer.varint(minute);
    this.#writer.varint(this.#block.length);
    this.#writer.append(this.#block.bytes);
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#writer.finish();
  }
}

/** What lies in a row of the log. */
export function* readCellLog(body: Uint8Array): Generator<LoggedBlock> {
  const reader = new ByteReader(body);
  while (!reader.isOver) {
    const kind = seriesKinds[reader.byte()];
    const minute = reader.varint();
    const block = reader.take(reader.varint());
    // Of a kind that a later version counts nothing can be said.
    if (kind !== undefined) yield { kind, minute, block };
  }
}

import { ByteReader, ByteWriter } from '../bytes.ts';
import { Cell } from './cells.ts';

/*
 * Cells of many series as bytes: the number of the form, then cell by cell. In the form 1, by series id:
 * the id less the one before, a byte of marks, the count, the errors, the sum, and the histogram: how many
 * bins, then each bin less the one before with how many lie in it. What a mark denies is left out. The form
 * 0 is what the migration 005 makes in SQL.
 */

const wideForm = 0;
const packedForm = 1;

const marks = { errors: 1, floatSum: 2, bins: 4 } as const;

/** Beyond it a sum is stored as a float: whole numbers of either sign are doubled. */
const wholeMax = 2 ** 52;

/** Cells of some series, by their ids. */
export type CellsById = ReadonlyMap<number, Cell>;

/** Packs cells; undefined where nothing was added to any of them in the end. */
export function packCells(cells: CellsById): Uint8Array<ArrayBuffer> | undefined {
  const writer = new ByteWriter();
  const isPacked = writeCells(writer, cells);
  return isPacked ? writer.finish() : undefined;
}

/** The same behind what was written; false where there was nothing to write. */
export function writeCells(writer: ByteWriter, cells: CellsById): boolean {
  const ids = [...cells.keys()].toSorted((one, other) => one - other);
  let last = 0;
  writer.byte(packedForm);
  const emptyLength = writer.length;
  for (const id of ids) {
    const cell = cells.get(id);
    if (!cell) continue;
    const bins = filledBins(cell);
    if (bins.length === 0 && cell.count === 0 && cell.errors === 0 && cell.sum === 0) continue;
    writer.varint(id - last);
    last = id;
    writeCell(writer, cell, bins);
  }
  return writer.length > emptyLength;
}

function filledBins({ bins }: Cell): number[] {
  const filled: number[] = [];
  for (const [bin, count] of bins) if (count !== 0) filled.push(bin);
  return filled.length < 2 ? filled : filled.toSorted((one, other) => one - other);
}

function writeCell(writer: ByteWriter, cell: Cell, bins: readonly number[]): void {
  const { count, errors, sum } = cell;
  const isFloat = !Number.isInteger(sum) || Math.abs(sum) >= wholeMax;
  writer.byte(
    (errors === 0 ? 0 : marks.errors) |
      (isFloat ? marks.floatSum : 0) |
      (bins.length === 0 ? 0 : marks.bins),
  );
  writer.signed(count);
  if (errors !== 0) writer.signed(errors);
  if (isFloat) writer.float(sum);
  else writer.signed(sum);
  if (bins.length === 0) return;
  writer.varint(bins.length);
  let last = 0;
  for (const bin of bins) {
    writer.varint(bin - last);
    writer.signed(cell.bins.get(bin) ?? 0);
    last = bin;
  }
}

export interface AddOptions {
  /** Only these series; absent means all. */
  readonly ids?: ReadonlySet<number> | undefined;
  /** Whether histograms are wanted too. */
  readonly hasBins: boolean;
}

/** Adds the cells of a block to others. */
export function addBlock(block: Uint8Array, cells: Map<number, Cell>, options: AddOptions): void {
  const reader = new ByteReader(block);
  const form = reader.byte();
  if (form !== wideForm && form !== packedForm)
    throw new Error(`a block of cells is of form ${form}`);
  const read = form === wideForm ? addWideCell : addPackedCell;
  for (let last = 0; !reader.isOver;) {
    const id = form === wideForm ? reader.int64() : last + reader.varint();
    last = id;
    const isWanted = options.ids === undefined || options.ids.has(id);
    read(reader, isWanted ? cellOf(cells, id) : undefined, options.hasBins);
  }
}

function cellOf(cells: Map<number, Cell>, id: number): Cell {
  let cell = cells.get(id);
  if (cell === undefined) cells.set(id, (cell = new Cell()));
  return cell;
}

/** Reads a cell and adds it, if there is anything to add it to. */
function addPackedCell(reader: ByteReader, cell: Cell | undefined, hasBins: boolean): void {
  const marked = reader.byte();
  const count = reader.signed();
  const errors = marked & marks.errors ? reader.signed() : 0;
  const sum = marked & marks.floatSum ? reader.float() : reader.signed();
  cell?.add(count, errors, sum);
  let left = marked & marks.bins ? reader.varint() : 0;
  for (let bin = 0; left > 0; left -= 1) {
    bin += reader.varint();
    const inBin = reader.signed();
    if (hasBins) cell?.addBin(bin, inBin);
  }
}

function addWideCell(reader: ByteReader, cell: Cell | undefined, hasBins: boolean): void {
  const count = reader.int64();
  const errors = reader.int64();
  const sum = reader.float();
  cell?.add(count, errors, sum);
  for (let left = reader.int32(); left > 0; left -= 1) {
    const bin = reader.int16();
    const inBin = reader.int32();
    if (hasBins) cell?.addBin(bin, inBin);
  }
}

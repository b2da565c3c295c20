import { basename, dirname, join } from 'node:path';

/** More parts than any model has; a name that announces more is an ordinary one. */
const partsMax = 512;
const partPattern = /^(.+)-(\d{5})-of-(\d{5})\.gguf$/i;

/** What the name of a file says when the file is one part of a split model. */
interface PartName {
  /** The name without the part's number and without `.gguf`. */
  readonly stem: string;
  /** From 1 on. */
  readonly number: number;
  readonly count: number;
}

/** Reads a name as llama.cpp writes and wants them; undefined for a model of one file. */
export function readPartName(file: string): PartName | undefined {
  const [, stem, number, count] = partPattern.exec(file) ?? [];
  if (stem === undefined || Number(count) > partsMax) return undefined;
  const part = { stem, number: Number(number), count: Number(count) };
  return part.number >= 1 && part.number <= part.count ? part : undefined;
}

/** The names of all files of the model that a file belongs to, in order; often only its own. */
export function namesOfParts(file: string): readonly string[] {
  const part = readPartName(file);
  return part ? partNames(part.stem, part.count, file.slice(-extensionLength)) : [file];
}

/** The files of the model that begins at a path, in order. */
export function pathsOfParts(path: string): readonly string[] {
  const [only, ...later] = namesOfParts(basename(path));
  if (only === undefined || later.length === 0) return [path];
  return [only, ...later].map((name) => join(dirname(path), name));
}

/** Where the files of a model of several parts stand, when one of one file stands at this path. */
export function splitPath(path: string, count: number): readonly string[] {
  return count === 1 ? [path] : partNames(path.slice(0, -extensionLength), count, '.gguf');
}

const extensionLength = '.gguf'.length;

function partNames(stem: string, count: number, extension: string): readonly string[] {
  const names = Array.from(
    { length: count },
    (_, i) => `${stem}-${digits(i + 1)}-of-${digits(count)}`,
  );
  return names.map((name) => `${name}${extension}`);
}

function digits(number: number): string {
  return String(number).padStart(5, '0');
}

import { namesOfParts } from './split-files.ts';
import { isModelName, nameOfFile, withoutLatest } from './model-name.ts';

/** A file of the models folder that is not listed, and why. */
export interface Stray {
  readonly file: string;
  readonly reason: string;
}

interface Choice {
  /** One file for each model, in the order of their names. */
  readonly files: readonly string[];
  readonly strays: readonly Stray[];
}

/**
 * Picks the files that stand for a model of their own: those whose names nobody could ask for are
 * strays, and of several that differ in case or in the tag `latest` only, all but the first.
 */
export function chooseFiles(found: readonly string[], reserved?: string): Choice {
  const chosen = new Map<string, string>();
  const strays: Stray[] = [];
  for (const file of found.toSorted()) {
    const name = nameOfFile(file);
    if (name === undefined) {
      if (isLonelyPart(file, found)) strays.push({ file, reason: 'the first part is missing' });
      continue;
    }
    const key = withoutLatest(name).toLowerCase();
    const first = chosen.get(key);
    if (!isModelName(name)) strays.push({ file, reason: 'its name cannot be a model name' });
    else if (isReserved(name, reserved)) strays.push({ file, reason: 'its name is reserved' });
    else if (first === undefined) chosen.set(key, file);
    else strays.push({ file, reason: `${first} has the same name` });
  }
  return { files: [...chosen.values()], strays };
}

/** Whether a file is a later part of a split model that nothing stands for. */
function isLonelyPart(file: string, found: readonly string[]): boolean {
  const [first = file] = namesOfParts(file);
  return first !== file && !found.includes(first);
}

/** Whether a name is the reserved one, whatever its case and tag. */
export function isReserved(name: string, reserved: string | undefined): boolean {
  return reserved !== undefined && name.replace(/:[^:]*$/, '').toLowerCase() === reserved;
}

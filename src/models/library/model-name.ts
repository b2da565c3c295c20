import { Fault } from '../../kit/errors.ts';
import { readPartName } from './split-files.ts';

const extension = '.gguf';
const namePattern = /^[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*)*(:[a-z0-9][\w.-]*)?$/i;
/** With the number of a part, `.json` and a name of its own while it is written, at most 255. */
const fileNameBytesMax = 190;
const latestTag = ':latest';

/**
 * The name as it is shown: without the tag `latest`, which every name without a tag has. Fault
 * `invalid` for what cannot be a name; one that passes is safe as a part of a path.
 */
export function parseModelName(text: string): string {
  const name = text.trim();
  if (isModelName(name)) return withoutLatest(name);
  throw new Fault('invalid', 'a model name has letters, digits, "._-/" and one tag after ":"', {
    detail: { param: 'model' },
  });
}

/** Whether a text can be a model's name. */
export function isModelName(text: string): boolean {
  const isSound = namePattern.test(text) && !text.includes('..');
  return isSound && fileNameOf(text).length <= fileNameBytesMax;
}

/** The file that a model of this name has in the models folder when it is not split. */
export function fileNameOf(name: string): string {
  return `${name.replaceAll('/', '+').replace(':', '@')}${extension}`;
}

/** The name of the model in a file of the models folder; undefined when it is no model. */
export function nameOfFile(file: string): string | undefined {
  if (!file.toLowerCase().endsWith(extension)) return undefined;
  const part = readPartName(file);
  // The first part of a split model stands for all of them.
  if (part && part.number > 1) return undefined;
  const stem = part?.stem ?? file.slice(0, -extension.length);
  return stem === '' ? undefined : withoutLatest(stem.replaceAll('+', '/').replace('@', ':'));
}

/** Whether two names mean the same model: case and the tag `latest` make no difference. */
export function isSameName(one: string, other: string): boolean {
  return withoutLatest(one).toLowerCase() === withoutLatest(other).toLowerCase();
}

/** The model of a name: the very name goes before one that differs in case or in the tag `latest`. */
export function findNamed<T extends { readonly name: string }>(
  models: readonly T[],
  name: string,
): T | undefined {
  const exact = models.find((model) => model.name === name);
  return exact ?? models.find((model) => isSameName(model.name, name));
}

/** A name without the tag that every name has by itself. */
export function withoutLatest(name: string): string {
  return name.toLowerCase().endsWith(latestTag) ? name.slice(0, -latestTag.length) : name;
}

import { Fault } from '../../kit/errors.ts';

const extension = '.gguf';
const namePattern = /^[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*)*(:[a-z0-9][\w.-]*)?$/i;
const fileNameBytesMax = 200;
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

/** The file that a model of this name has in the models folder. */
export function fileNameOf(name: string): string {
  return `${name.replaceAll('/', '+').replace(':', '@')}${extension}`;
}

/** The name of the model in a file of the models folder; undefined when it is no model. */
export function nameOfFile(file: string): string | undefined {
  if (!file.toLowerCase().endsWith(extension) || isLaterShard(file)) return undefined;
  const stem = file.slice(0, -extension.length);
  return stem === '' ? undefined : withoutLatest(stem.replaceAll('+', '/').replace('@', ':'));
}

/** Whether two names mean the same model: case and the tag `latest` make no difference. */
export function isSameName(one: string, other: string): boolean {
  return withoutLatest(one).toLowerCase() === withoutLatest(other).toLowerCase();
}

/** The first shard of a model stands for all of them. */
function isLaterShard(file: string): boolean {
  const [, number] = /-(\d{5})-of-\d{5}\.gguf$/i.exec(file) ?? [];
  return number !== undefined && number !== '00001';
}

/** A name without the tag that every name has by itself. */
export function withoutLatest(name: string): string {
  return name.toLowerCase().endsWith(latestTag) ? name.slice(0, -latestTag.length) : name;
}

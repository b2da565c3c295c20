import { Fault } from '../../../kit/errors.ts';
import type { Job } from '../job.ts';

const filesMax = 50;
const contextCharsMax = 200_000;
const otherCharsMax = 20_000;

/**
 * What a task gives besides its prompt, as text for a model: the files that `context.files` names, from
 * the workspace, and whatever else stands in `context`, as JSON. Empty where it gives nothing.
 */
export async function contextText(job: Job): Promise<string> {
  const { files, ...others } = job.input.context ?? {};
  const parts = await Promise.all(namesOf(files).map((path) => fileText(job, path)));
  const rest = Object.keys(others).length === 0 ? '' : JSON.stringify(others, null, 2);
  if (rest.length > otherCharsMax) throw tooLarge('what input.context holds besides files');
  const text = [...parts, ...(rest === '' ? [] : [`Further context:\n${rest}`])].join('\n\n');
  if (text.length > contextCharsMax) throw tooLarge('the files that input.context names');
  return text;
}

/** A file as models read it: its path, and its content in a fence that it does not hold itself. */
export function fencedText(path: string, content: string): string {
  const longest = Math.max(2, ...[...content.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const end = content.endsWith('\n') || content === '' ? '' : '\n';
  return `${fence}path=${path}\n${content}${end}${fence}`;
}

/** The paths that `context.files` gives; Fault `invalid` for what is no list of them. */
export function namesOf(files: unknown): readonly string[] {
  if (files === undefined) return [];
  const isList = Array.isArray(files) && files.every((one) => typeof one === 'string');
  if (isList && files.length <= filesMax) return files;
  throw new Fault('invalid', `input.context.files is a list of at most ${filesMax} paths.`);
}

async function fileText(job: Job, path: string): Promise<string> {
  if (!job.workspace) {
    throw new Fault('invalid', 'input.context.files needs an agent in a workspace.');
  }
  const content = await job.workspace.door.read(path);
  if (content !== undefined) return fencedText(path, content);
  throw new Fault('invalid', `The workspace has no file ${path}.`);
}

function tooLarge(what: string): Fault {
  return new Fault('invalid', `It is too much for a model: ${what}.`);
}

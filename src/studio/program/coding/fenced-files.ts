import { Fault } from '../../../kit/errors.ts';
import { workspacePath } from '../suite/workspace-path.ts';

/** A file as a model that calls no tools writes it. */
export interface FencedFile {
  readonly path: string;
  readonly content: string;
}

/** What models are told of the form. */
export const fencedFilesForm = [
  'Write each file that you make or change completely, in a fenced code block of its own whose info',
  'string is path= and the file’s path in the workspace, for example:',
  '',
  '```path=src/greeting.ts',
  "export const greeting = 'Hello';",
  '```',
  '',
  'A file that holds three backticks stands between fences of four. Write nothing but whole files so.',
].join('\n');

const opening = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const named = /^\s*(?:[\w+#.-]+\s+)?path=(?:"([^"]+)"|(\S+))\s*$/;

/**
 * The files in an answer: fenced blocks (CommonMark 0.31, section 4.5) whose info string names a path.
 * Other blocks are no files. Fault `upstream` for a file that does not end, stands twice or has a path
 * that the workspace cannot have: then none of them is to be written.
 */
export function readFencedFiles(text: string): readonly FencedFile[] {
  const files = new Map<string, FencedFile>();
  for (const { info, content } of blocksOf(text.split(/\r?\n/))) {
    const path = pathOf(info);
    if (path === undefined) continue;
    if (!content) throw malformed(`the file ${path} does not end`);
    if (files.has(path)) throw malformed(`the file ${path} stands twice`);
    files.set(path, { path, content: content.map((line) => `${line}\n`).join('') });
  }
  return [...files.values()];
}

interface Block {
  readonly info: string;
  /** Undefined when the block does not end. */
  readonly content: readonly string[] | undefined;
}

function blocksOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const [, fence = '', info = ''] = opening.exec(lines[index] ?? '') ?? [];
    if (fence === '' || (fence.startsWith('`') && info.includes('`'))) continue;
    const end = endOf(lines, index + 1, fence);
    blocks.push({ info, content: end === -1 ? undefined : lines.slice(index + 1, end) });
    if (end === -1) break;
    index = end;
  }
  return blocks;
}

function endOf(lines: readonly string[], from: number, fence: string): number {
  const [mark = ''] = fence;
  return lines.findIndex((line, index) => {
    const text = line.trim();
    if (index < from || /^ {4}/.test(line) || text.length < fence.length) return false;
    return text === mark.repeat(text.length);
  });
}

function pathOf(info: string): string | undefined {
  const [, quoted, plain] = named.exec(info) ?? [];
  const given = quoted ?? plain;
  if (given === undefined) return undefined;
  try {
    return workspacePath(given);
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : 'a path is none');
  }
}

function malformed(why: string): Fault {
  return new Fault('upstream', `The model’s answer cannot be used: ${why}`, {
    reason: 'answer_malformed',
  });
}

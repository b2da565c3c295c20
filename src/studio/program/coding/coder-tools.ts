import { Fault } from '../../../kit/errors.ts';
import { workspaceOf, type Job } from '../job.ts';
import type { ToolCall, ToolOffer } from '../suite/model.ts';
import { runWorkspaceTests, summaryOf } from '../templates/tester.ts';
import { searchWorkspace } from './search.ts';

type Input = Readonly<Record<string, unknown>>;

/** Something that the model may have done. */
export interface CoderTool {
  readonly offer: ToolOffer;
  /** What the model is told of it; a Fault is told to it too. */
  readonly call: (input: Input) => Promise<string>;
}

const resultCharsMax = 32_000;
const listedMax = 500;
const foundMax = 100;
const argumentsCharsMax = 2 * 1024 * 1024;

const text = (description: string) => ({ type: 'string', description });
const number = (description: string) => ({ type: 'integer', minimum: 1, description });

/** What a tool takes; all of it but what is named optional. */
function parametersOf(properties: Input, optional: readonly string[] = []): Input {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The tools of a coder: those of its workspace, and those of the registry that the task names. */
export async function coderTools(job: Job): Promise<readonly CoderTool[]> {
  const registry = await job.tools.list();
  return [...fileTools(job), ...(await testTools(job)), ...registry];
}

/** Does a call of the model; whatever goes wrong in it is told to the model, not thrown. */
export async function callTool(
  tools: readonly CoderTool[],
  { function: { name, arguments: given } }: ToolCall,
  signal: AbortSignal,
): Promise<string> {
  const tool = tools.find((one) => one.offer.name === name);
  if (!tool) return `There is no tool ${name.slice(0, 64)}.`;
  const input = readArguments(given);
  if (!input) return 'The arguments are not a JSON object: write them again.';
  try {
    const result = await tool.call(input);
    return result.length > resultCharsMax
      ? `${result.slice(0, resultCharsMax)}\n[cut here: ask for less]`
      : result;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Fault && error.code !== 'unauthenticated') return error.message;
    throw error;
  }
}

function fileTools(job: Job): CoderTool[] {
  return [listTool(job), readTool(job), writeTool(job), searchTool(job)];
}

function listTool(job: Job): CoderTool {
  const { door } = workspaceOf(job);
  const description = 'List the files of the workspace by path.';
  const properties = { prefix: text('only paths that begin so') };
  return {
    offer: { name: 'list_files', description, parameters: parametersOf(properties, ['prefix']) },
    call: async ({ prefix }) => {
      const files = await door.list(textOf(prefix) ?? '');
      const lines = files.slice(0, listedMax).map(({ path, size }) => `${path} (${size} bytes)`);
      const more = files.length - lines.length;
      return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n') || 'No files.';
    },
  };
}

function readTool(job: Job): CoderTool {
  const { door } = workspaceOf(job);
  const description = 'Read a file of the workspace, or some of its lines.';
  const properties = {
    path: text('of the file, relative to the workspace'),
    from: number('the first line'),
    lines: number('how many'),
  };
  return {
    offer: {
      name: 'read_file',
      description,
      parameters: parametersOf(properties, ['from', 'lines']),
    },
    call: async ({ path, from, lines }) => {
      const content = await door.read(needText(path, 'path'));
      if (content === undefined) return 'There is no such file.';
      return content === '' ? 'The file is empty.' : linesOf(content, from, lines);
    },
  };
}

function writeTool(job: Job): CoderTool {
  const { door } = workspaceOf(job);
  const description = 'Write a whole file of the workspace. One that is there must be read first.';
  const properties = {
    path: text('of the file, relative to the workspace'),
    content: text('all of it'),
  };
  return {
    offer: { name: 'write_file', description, parameters: parametersOf(properties) },
    call: async ({ path, content }) => {
      const wanted = needText(path, 'path');
      await door.write(wanted, needText(content, 'content'));
      job.tell(`wrote ${wanted}`);
      return 'Written.';
    },
  };
}

function searchTool(job: Job): CoderTool {
  const workspace = workspaceOf(job);
  const description = 'Find the lines of all files that hold a text, whatever its case.';
  const properties = {
    text: text('what to look for'),
    prefix: text('only in paths that begin so'),
  };
  return {
    offer: { name: 'search', description, parameters: parametersOf(properties, ['prefix']) },
    call: async ({ text: wanted, prefix }) => {
      const options = { prefix: textOf(prefix) ?? '', limit: foundMax };
      const found = await searchWorkspace(workspace, needText(wanted, 'text'), options);
      const lines = found.map(({ path, line, text: shown }) => `${path}:${line}: ${shown}`);
      return lines.join('\n') || 'Nothing was found.';
    },
  };
}

async function testTools(job: Job): Promise<CoderTool[]> {
  const { testCommand, folder } = workspaceOf(job);
  if (folder === undefined || (await testCommand()) === undefined) return [];
  const description = 'Run the tests of the workspace and see what they print.';
  return [
    {
      offer: { name: 'run_tests', description, parameters: parametersOf({}) },
      call: async () => {
        const report = await runWorkspaceTests(job);
        return `${summaryOf(report)}\n${report.output}`;
      },
    },
  ];
}

/** Models write nothing at all for a tool without parameters. */
function readArguments(given: string): Input | undefined {
  if (given.trim() === '') return {};
  if (given.length > argumentsCharsMax) return undefined;
  try {
    const value: unknown = JSON.parse(given);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function needText(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new Fault('invalid', `${name} is missing, or no text.`);
}

function linesOf(content: string, from: unknown, count: unknown): string {
  if (from === undefined && count === undefined) return content;
  const start = Number.isInteger(from) ? Math.max(1, Number(from)) : 1;
  const length = Number.isInteger(count) ? Math.max(1, Number(count)) : undefined;
  const lines = content.split(/(?<=\n)/).slice(start - 1);
  return (length === undefined ? lines : lines.slice(0, length)).join('') || 'No such lines.';
}

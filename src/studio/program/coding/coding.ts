import { Fault } from '../../../kit/errors.ts';
import type { AgentAnswer, Artefact } from '../../tasks/task.ts';
import { promptOf, workspaceOf, type Job } from '../job.ts';
import { noTools, type ChatMessage } from '../suite/model.ts';
import { answerOf } from '../templates/answer.ts';
import { contextText, fencedText } from '../templates/context.ts';
import { callTool, coderTools, type CoderTool } from './coder-tools.ts';
import { fencedFilesForm, readFencedFiles, type FencedFile } from './fenced-files.ts';
import { unifiedDiff } from './unified-diff.ts';

const roundsMax = 40;
const callsMax = 16;
const diffCharsMax = 256_000;
const listedMax = 200;

const instructions = [
  'You are a programmer in a workspace of files. Do what is asked, completely and with the least change;',
  'keep the style of the code that is there. Say at the end, in a few sentences, what you did.',
].join(' ');
const toolInstructions =
  'Look with list_files, search and read_file before you change anything. write_file writes whole files. If there is run_tests, run it when you are done.';

/**
 * Has a model change the workspace: with tools in at most 40 rounds, or, where the model knows none, by
 * files that its answer holds. What was written stays written when a later step fails.
 */
export async function code(job: Job): Promise<AgentAnswer> {
  const question = await questionOf(job);
  try {
    return await codeWithTools(job, question);
  } catch (error) {
    if (!(error instanceof Fault) || error.reason !== noTools) throw error;
    job.tell('asks for files, as the model calls no tools');
    return codeWithBlocks(job, question);
  }
}

async function questionOf(job: Job): Promise<string> {
  const prompt = promptOf(job);
  const context = await contextText(job);
  const files = await workspaceOf(job).door.list();
  const paths = files.slice(0, listedMax).map(({ path }) => path);
  const more = files.length > paths.length ? [`and ${files.length - paths.length} more`] : [];
  const listing = paths.length === 0 ? 'It is empty.' : [...paths, ...more].join('\n');
  const kind = job.type === 'refactor' ? 'Change its form and not what it does.' : '';
  return [`The workspace:\n${listing}`, context, prompt, kind]
    .filter((part) => part !== '')
    .join('\n\n');
}

async function codeWithTools(job: Job, question: string): Promise<AgentAnswer> {
  const tools = await coderTools(job);
  const offers = tools.map(({ offer }) => offer);
  const messages: ChatMessage[] = [
    { role: 'system', content: `${instructions} ${toolInstructions}` },
    { role: 'user', content: question },
  ];
  for (let round = 1; round <= roundsMax; round += 1) {
    const { text, toolCalls } = await job.model.ask(messages, offers);
    if (toolCalls.length === 0) return await finish(job, { text, messages });
    messages.push({ role: 'assistant', content: text, tool_calls: toolCalls });
    messages.push(...(await callAll(job, tools, toolCalls)));
  }
  return changesOf(job, `The work was ended after ${roundsMax} rounds; it may not be complete.`);
}

async function callAll(
  { signal, tell }: Job,
  tools: readonly CoderTool[],
  calls: readonly NonNullable<ChatMessage['tool_calls']>[number][],
): Promise<ChatMessage[]> {
  const results: ChatMessage[] = [];
  for (const [index, call] of calls.entries()) {
    signal.throwIfAborted();
    tell(`calls ${call.function.name.slice(0, 64)}`);
    const content =
      index < callsMax
        ? await callTool(tools, call, signal)
        : `At most ${callsMax} calls are done at once: ask again.`;
    results.push({ role: 'tool', tool_call_id: call.id, content });
  }
  return results;
}

async function codeWithBlocks(job: Job, question: string): Promise<AgentAnswer> {
  const messages: ChatMessage[] = [
    { role: 'system', content: `${instructions}\n\n${fencedFilesForm}` },
    { role: 'user', content: question },
  ];
  const { text } = await job.model.ask(messages);
  return finish(job, { text, messages });
}

/** The end of the work; files that stand in the answer are written, after one repair at most. */
async function finish(
  job: Job,
  { text, messages }: { readonly text: string; readonly messages: readonly ChatMessage[] },
): Promise<AgentAnswer> {
  const first = await tryFiles(job, text);
  const isNowhere = first.length === 0 && wroteNothing(job) && /^ {0,3}(```|~~~)/m.test(text);
  if (typeof first !== 'string' && !isNowhere) return writeAll(job, text, first);
  const flaw = typeof first === 'string' ? first : 'The code stands in blocks that name no file.';
  job.tell('asks the model to write its files again');
  const answer = await job.model.ask([
    ...messages,
    { role: 'assistant', content: text },
    { role: 'user', content: `${flaw}\n\n${fencedFilesForm}` },
  ]);
  const second = await tryFiles(job, answer.text);
  if (typeof second !== 'string') return writeAll(job, answer.text, second);
  throw new Fault('upstream', second, { reason: 'answer_malformed' });
}

function wroteNothing(job: Job): boolean {
  return workspaceOf(job).door.written().length === 0;
}

/** The files of an answer, or why they cannot be written, in words for the model. */
async function tryFiles(job: Job, text: string): Promise<readonly FencedFile[] | string> {
  const { door } = workspaceOf(job);
  try {
    const files = readFencedFiles(text);
    const unread: string[] = [];
    for (const { path } of files) {
      if (door.isKnown(path)) continue;
      const content = await door.read(path);
      if (content !== undefined) unread.push(fencedText(path, content));
    }
    if (unread.length === 0) return files;
    return `These files are there already. Write them again with what they hold in mind:\n\n${unread.join('\n\n')}`;
  } catch (error) {
    job.signal.throwIfAborted();
    if (error instanceof Fault && error.status < 500) return error.message;
    if (error instanceof Fault && error.reason === 'answer_malformed') return error.message;
    throw error;
  }
}

async function writeAll(
  job: Job,
  text: string,
  files: readonly FencedFile[],
): Promise<AgentAnswer> {
  for (const { path, content } of files) {
    await workspaceOf(job).door.write(path, content);
    job.tell(`wrote ${path}`);
  }
  return changesOf(job, text);
}

/** The answer with the files that were written and one diff of them all. */
function changesOf(job: Job, text: string): AgentAnswer {
  const written = workspaceOf(job).door.written();
  const artefacts: Artefact[] = written.map(({ path, hash }) => ({ kind: 'file', path, hash }));
  let diff = '';
  const left: string[] = [];
  for (const file of written) {
    const one = unifiedDiff(file);
    if (diff.length + one.length > diffCharsMax) left.push(file.path);
    else diff += one;
  }
  if (diff !== '') artefacts.push({ kind: 'diff', text: diff });
  const note = left.length > 0 ? `\n\nToo large for the diff: ${left.join(', ')}.` : '';
  return answerOf(job, `${text}${note}`, artefacts);
}

/**
 * Answers the held-out examination through the GGUF file, greedily and with the prompts that the
 * models service builds, and measures the perplexity: evaluate.ts MODEL EXAMINATION RESULT
 */
import { readFile, writeFile } from 'node:fs/promises';
import { readGgufFileInfo, type ChatWrapper, type Token } from 'node-llama-cpp';
import type { Prompt } from '../../src/models/inference/request.ts';
import { Batcher } from '../../src/models/runtime/child/batcher.ts';
import { readChatFormat } from '../../src/models/runtime/child/chat-format.ts';
import { preparePrompt } from '../../src/models/runtime/child/prompt.ts';
import { Sequence } from '../../src/models/runtime/child/sequence.ts';
import { Context } from '../../src/models/runtime/llama/context.ts';
import { openLibrary } from '../../src/models/runtime/llama/library.ts';
import { Model } from '../../src/models/runtime/llama/model.ts';
import { Sampler } from '../../src/models/runtime/llama/sampler.ts';
import { resolveRequest } from '../../src/models/runtime/request.ts';

interface Question {
  readonly system: string;
  readonly question: string;
  readonly answer: string;
}

interface Examination {
  readonly questions: readonly Question[];
  readonly texts: readonly string[];
}

interface Subject {
  readonly model: Model;
  readonly context: Context;
  readonly wrapper: ChatWrapper;
}

const tokensMax = 120;

const [modelPath, examinationPath, resultPath] = process.argv.slice(2);
if (!modelPath || !examinationPath || !resultPath)
  throw new Error('usage: evaluate.ts MODEL EXAMINATION RESULT');
const examination: Examination = JSON.parse(await readFile(examinationPath, 'utf8'));
const examinee = await openSubject(modelPath);
const answers: string[] = [];
let answerLoss = { nats: 0, tokens: 0 };
for (const question of examination.questions) {
  const prompt = promptOf(examinee, question);
  answers.push(await answer(examinee, prompt));
  const end = examinee.model.vocabulary.tokenize('<|end|>', { withMarks: true });
  const right = [...examinee.model.vocabulary.tokenize(question.answer), ...end];
  answerLoss = sum(answerLoss, await measure(examinee, prompt.tokens, right));
}
let textLoss = { nats: 0, tokens: 0 };
for (const text of examination.texts) {
  const begin = prepare(examinee, { text: '' }).tokens;
  const tokens = examinee.model.vocabulary.tokenize(text);
  textLoss = sum(textLoss, await measure(examinee, begin, tokens));
}
const result = {
  answers,
  perplexity: { answers: perplexity(answerLoss), texts: perplexity(textLoss) },
};
await writeFile(resultPath, `${JSON.stringify(result)}\n`);

async function openSubject(path: string): Promise<Subject> {
  const library = openLibrary((level, message) => process.stderr.write(`${level}: ${message}\n`));
  const model = await Model.load(library, path);
  const contextTokens = model.trainContextTokens;
  const context = await Context.open(model, {
    sequences: 1,
    contextTokens,
    batchTokens: contextTokens,
    threads: 1,
    makesVectors: false,
  });
  const info = await readGgufFileInfo(path);
  const wrapper = readChatFormat({ path, info, vocabulary: model.vocabulary });
  return { model, context, wrapper };
}

/** As the service does it for a request that says nothing else. */
function prepare({ model, wrapper }: Subject, prompt: Prompt) {
  return preparePrompt(model.vocabulary, wrapper, resolveRequest({ prompt }));
}

function promptOf(subject: Subject, { system, question }: Question) {
  const messages = [{ role: 'user', content: question }] as const;
  const head = system === '' ? [] : [{ role: 'system', content: system } as const];
  return prepare(subject, { messages: [...head, ...messages] });
}

async function answer(
  { model, context }: Subject,
  { tokens: prompt, stopTokens }: ReturnType<typeof preparePrompt>,
): Promise<string> {
  const { sampling } = resolveRequest({ prompt: { text: '' }, temperature: 0 });
  using sampler = new Sampler(model, {
    sampling,
    penalties: undefined,
    said: [],
  });
  const given: Token[] = [];
  await new Batcher(context).read({
    sequence: new Sequence(0, model),
    prompt,
    sharedTokens: 0,
    signal: AbortSignal.timeout(60_000),
    sample: (place) => sampler.sample(context, place, undefined),
    take: (token) => {
      if (stopTokens.has(token) || model.vocabulary.endsAnswer(token)) return false;
      return given.push(token) < tokensMax;
    },
  });
  return model.vocabulary.detokenize(given);
}

/** How badly the model expects these tokens after those, in nats. */
async function measure({ context }: Subject, before: Token[], tokens: readonly Token[]) {
  const last = before.length - 1;
  context.forget(0, 0);
  context.batch.clear();
  for (const [position, token] of [...before, ...tokens.slice(0, -1)].entries())
    context.batch.add({ token, position, sequence: 0, isWanted: position >= last });
  await context.decode();
  const nats = tokens.map((token, i) => lossOf(context.logitsAt(last + i), token));
  return { nats: nats.reduce((total, nat) => total + nat, 0), tokens: tokens.length };
}

/** The negative logarithm of a token's probability. */
function lossOf(logits: Float32Array, token: Token): number {
  const highest = logits.reduce((one, other) => Math.max(one, other));
  const sumOfAll = logits.reduce((total, logit) => total + Math.exp(logit - highest), 0);
  return Math.log(sumOfAll) + highest - (logits[token] ?? Number.NaN);
}

function sum(a: typeof answerLoss, b: typeof answerLoss) {
  return { nats: a.nats + b.nats, tokens: a.tokens + b.tokens };
}

function perplexity({ nats, tokens }: typeof answerLoss): number {
  return Math.exp(nats / tokens);
}

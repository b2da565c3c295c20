/**
 * Answers the held-out examination through the GGUF file, greedily and with the prompts that the
 * models service builds, and measures the perplexity: evaluate.ts MODEL EXAMINATION RESULT
 */
import { readFile, writeFile } from 'node:fs/promises';
import {
  getLlama,
  LlamaLogLevel,
  resolveChatWrapper,
  type ChatWrapper,
  type LlamaContextSequence,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import type { Prompt } from '../../src/models/inference/request.ts';
import { preparePrompt } from '../../src/models/runtime/child/prompt.ts';
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
  readonly model: LlamaModel;
  readonly wrapper: ChatWrapper;
  readonly sequence: LlamaContextSequence;
}

const tokensMax = 120;
// The defaults would cut the unlikely tokens off.
const wholeDistribution = { temperature: 1, topK: 0, topP: 1, minP: 0 };

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
  const end = examinee.model.tokenize('<|end|>', true);
  const right = [...examinee.model.tokenize(question.answer), ...end];
  answerLoss = sum(answerLoss, await measure(examinee, prompt.tokens, right));
}
let textLoss = { nats: 0, tokens: 0 };
for (const text of examination.texts) {
  const begin = prepare(examinee, { text: '' }).tokens;
  const tokens = examinee.model.tokenize(text);
  textLoss = sum(textLoss, await measure(examinee, begin, tokens));
}
const result = {
  answers,
  perplexity: { answers: perplexity(answerLoss), texts: perplexity(textLoss) },
};
await writeFile(resultPath, `${JSON.stringify(result)}\n`);

async function openSubject(path: string): Promise<Subject> {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    maxThreads: 1,
    logLevel: LlamaLogLevel.warn,
  });
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createContext({ contextSize: model.trainContextSize });
  return { model, wrapper: resolveChatWrapper(model), sequence: context.getSequence() };
}

/** As the service does it for a request that says nothing else. */
function prepare({ model, wrapper }: Subject, prompt: Prompt) {
  return preparePrompt(model, wrapper, resolveRequest({ prompt }));
}

function promptOf(subject: Subject, { system, question }: Question) {
  const messages = [{ role: 'user', content: question }] as const;
  const head = system === '' ? [] : [{ role: 'system', content: system } as const];
  return prepare(subject, { messages: [...head, ...messages] });
}

async function answer(
  { model, sequence }: Subject,
  { tokens, stopTokens }: ReturnType<typeof preparePrompt>,
): Promise<string> {
  await sequence.clearHistory();
  const given: Token[] = [];
  for await (const token of sequence.evaluate(tokens, { temperature: 0 })) {
    if (stopTokens.has(token) || given.length === tokensMax) break;
    given.push(token);
  }
  return model.detokenize(given);
}

/** How badly the model expects these tokens after those, in nats. */
async function measure({ sequence }: Subject, before: Token[], tokens: readonly Token[]) {
  await sequence.clearHistory();
  const last = before.length - 1;
  const input = [...before, ...tokens.slice(0, -1)].map((token, i): [Token, object] => [
    token,
    i < last ? {} : { generateNext: { probabilities: true, options: wholeDistribution } },
  ]);
  const outputs = await sequence.controlledEvaluate(input);
  const nats = tokens.map((token, i) => {
    const probabilities = outputs[last + i]?.next?.probabilities;
    return -Math.log(Math.max(probabilities?.get(token) ?? 0, 1e-12));
  });
  return { nats: nats.reduce((total, nat) => total + nat, 0), tokens: tokens.length };
}

function sum(a: typeof answerLoss, b: typeof answerLoss) {
  return { nats: a.nats + b.nats, tokens: a.tokens + b.tokens };
}

function perplexity({ nats, tokens }: typeof answerLoss): number {
  return Math.exp(nats / tokens);
}

import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { artefactSchema, taskResultFields } from '../schemas/tasks.ts';
import type { AgentAnswer } from './task.ts';
import type { AttemptOutcome } from './work.ts';

const answerBytesMax = 2 ** 20;
const checked = Compile(
  Type.Object({ ...taskResultFields, artefacts: Type.Array(artefactSchema) }),
);

/**
 * What an agent's answer is worth: what is no AgentAnswer is kept as text, and what is larger than 1 MiB
 * is a failure of the agent.
 */
export function outcomeOfAnswer(answer: unknown): AttemptOutcome {
  const json = JSON.stringify(answer ?? null);
  if (Buffer.byteLength(json) > answerBytesMax) {
    const message = 'the agent’s answer is larger than 1 MiB';
    return { status: 'failed', failure: { code: 'agent_failed', message }, isRetryable: false };
  }
  if (!checked.Check(answer)) {
    const text = typeof answer === 'string' ? answer : json;
    return { status: 'completed', result: { text: answer === null ? '' : text }, artefacts: [] };
  }
  const { text, usage, model, artefacts } = cleaned(answer);
  const result = { text, ...(usage && { usage }), ...(model !== undefined && { model }) };
  return { status: 'completed', result, artefacts };
}

/** Without what the schema does not name. */
function cleaned(answer: AgentAnswer): AgentAnswer {
  return checked.Clean(structuredClone(answer)) as AgentAnswer;
}

import type { AgentAnswer, Artefact } from '../../tasks/task.ts';
import type { Job } from '../job.ts';

const textCharsMax = 100_000;

/** An answer with what the model took; a text beyond all measure is cut, and says so. */
export function answerOf(
  { model }: Pick<Job, 'model'>,
  text: string,
  artefacts: readonly Artefact[] = [],
): AgentAnswer {
  const shown = text.length > textCharsMax ? `${text.slice(0, textCharsMax)}\n[cut here]` : text;
  const { usage, model: name } = model.spent();
  const isAsked = usage.promptTokens + usage.completionTokens > 0;
  return {
    text: shown,
    artefacts,
    ...(isAsked ? { usage } : {}),
    ...(name === undefined ? {} : { model: name }),
  };
}

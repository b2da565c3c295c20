import type { ChatRequest } from '../../conversation/request.ts';
import { budgetOf, effortOf } from '../effort.ts';
import type { Json } from '../json.ts';
import type { ModelTraits } from './models.ts';

/** The least that Anthropic lets a model think. */
export const budgetMin = 1024;
const answerTokens = 4096;

/** Whether the request asks the model to think. */
export function asksToThink({ reasoning }: ChatRequest): boolean {
  return reasoning !== undefined && reasoning.effort !== 'none';
}

/** The parameters that say how much to think; an effort shrinks to what fits into the answer. */
export function writeThinking(request: ChatRequest, traits: ModelTraits): Json {
  const { reasoning, maxTokens } = request;
  if (!reasoning) return {};
  if (reasoning.effort === 'none')
    return traits.thinksByDefault === true ? { thinking: { type: 'disabled' } } : {};
  if (traits.thinking === 'effort') return { thinking: { type: 'adaptive' } };
  const wanted = budgetOf(reasoning) ?? budgetMin;
  const fits = reasoning.budgetTokens !== undefined || maxTokens === undefined;
  const budget = fits ? wanted : Math.max(budgetMin, Math.min(wanted, Math.floor(maxTokens / 2)));
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

/** The effort, for models that are told to think by one. */
export function writeEffort({ reasoning }: ChatRequest, traits: ModelTraits): string | undefined {
  if (!reasoning || reasoning.effort === 'none' || traits.thinking !== 'effort') return undefined;
  const effort = effortOf(reasoning);
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' ? traits.greatestEffort : effort;
}

/** Anthropic wants a limit; thoughts count towards it. */
export function writeMaxTokens({ maxTokens, reasoning }: ChatRequest): number {
  if (maxTokens !== undefined) return maxTokens;
  return answerTokens + (reasoning ? (budgetOf(reasoning) ?? 0) : 0);
}

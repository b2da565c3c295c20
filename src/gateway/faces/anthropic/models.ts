import type { IncomingHttpHeaders } from 'node:http';
import type { Target } from '../../providers/provider.ts';
import { invalid, type Fields } from './fields.ts';

/** Which part of the list is asked for, as Anthropic's clients turn its pages. */
export interface ModelPage {
  /** The most that come; 20 when absent. */
  readonly limit?: number | undefined;
  /** The last one of the page before. */
  readonly after_id?: string | undefined;
  /** The first one of the page behind. */
  readonly before_id?: string | undefined;
}

const limitDefault = 20;

/** Whether a request comes from a client of Anthropic's API: all of them name its version. */
export function speaksAnthropic(headers: IncomingHttpHeaders): boolean {
  return headers['anthropic-version'] !== undefined;
}

/** A page of Anthropic's list of models; throws `invalid` for a place in it that is none. */
export function writeModels(all: readonly Target[], page: ModelPage): Fields {
  const { limit = limitDefault, after_id: after, before_id: before } = page;
  const start = after === undefined ? 0 : placeOf(all, after, 'after_id') + 1;
  const end = before === undefined ? all.length : placeOf(all, before, 'before_id');
  // Backwards, a page ends where the one behind it begins.
  const isBackwards = before !== undefined && after === undefined;
  const asked = all.slice(start, end);
  const shown = isBackwards ? asked.slice(-limit) : asked.slice(0, limit);
  return {
    data: shown.map((target) => writeModel(target)),
    has_more: shown.length < asked.length,
    first_id: shown[0]?.model.name ?? null,
    last_id: shown.at(-1)?.model.name ?? null,
  };
}

/** A model in Anthropic's words, under the name that it was asked for by. */
export function writeModel({ model }: Target, id = model.name): Fields {
  return {
    type: 'model',
    id,
    display_name: model.name,
    created_at: new Date(model.createdAt * 1000).toISOString(),
    max_input_tokens: model.contextWindow,
    max_tokens: model.maxOutput ?? null,
    capabilities: null,
    lifecycle: 'active',
    deprecated_at: null,
    line: null,
  };
}

function placeOf(all: readonly Target[], id: string, param: keyof ModelPage): number {
  const place = all.findIndex(({ model }) => model.name === id);
  if (place < 0) throw invalid(param, 'is no model of the list');
  return place;
}

import type { Fields } from './fields.ts';

/** What others let a model be told and no LLMNode here, as each of them spells it. */
const unheard =
  /^(top_?[pk]|min_?p|(frequency|presence|repeat|repetition)_?penalty|stop(_?sequences?)?|seed|n|timeout|max_?retries|json_?mode|response_?format|reasoning_?effort|logit_?bias|base_?(url|path)|num_?ctx)$/i;

/** In words, which settings of a model are left out; undefined where none is set. */
export function unheardSettings(settings: Fields): string | undefined {
  const names = Object.entries(settings)
    .filter(([name, value]) => unheard.test(name) && isSet(value))
    .map(([name]) => name);
  return names.length > 0 ? `left out: ${names.join(', ')}` : undefined;
}

function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== '' && value !== false;
}

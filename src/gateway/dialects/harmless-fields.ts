/**
 * Fields that change nothing of an answer, so that a dialect without a word for them may leave them
 * out: who asks, what is kept for the provider's dashboard, and how its queues and caches are used.
 * Cache marks and the `detail` of images are of that kind too: all providers but Anthropic remember
 * prompts by themselves, and only OpenAI prices images by detail.
 */
const harmlessFields: ReadonlySet<string> = new Set([
  'user',
  'metadata',
  'store',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'cache_control',
]);

const noNames: ReadonlySet<string> = new Set();

/**
 * The first of the fields that a dialect may not leave out, by its name. `known` are those that it
 * can say. A field that is null, false or an empty list counts as absent, but for switches that false
 * turns off; an empty object is a value, as `web_search_options: {}` is.
 */
export function firstUnsaid(
  fields: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string> = noNames,
): string | undefined {
  for (const name in fields) {
    if (harmlessFields.has(name) || known.has(name) || isAbsent(name, fields[name])) continue;
    return name;
  }
  return undefined;
}

/** On unless a request says otherwise. */
const switches: ReadonlySet<string> = new Set(['enable_thinking', 'include_reasoning', 'think']);

function isAbsent(name: string, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (value === false) return !switches.has(name);
  return Array.isArray(value) && value.length === 0;
}

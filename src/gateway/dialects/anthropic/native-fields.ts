import { isRecord } from '../untrusted.ts';

type Form = (value: unknown) => boolean;

const isText: Form = (value) => typeof value === 'string';

/**
 * Fields of Anthropic's own that clients of other APIs may say, each in Anthropic's form: what OpenAI
 * calls the same and means differently is none. Those of its trials (`context_management`,
 * `mcp_servers`) are not among them, because only Anthropic's clients can name a trial, in a header.
 */
const forms: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['metadata', (value) => isRecord(value) && Object.keys(value).every((key) => key === 'user_id')],
  ['service_tier', (value) => value === 'auto' || value === 'standard_only'],
  ['cache_control', isRecord],
  ['container', isRecord],
  ['inference_geo', isText],
  ['output_config', isRecord],
  ['speed', (value) => value === 'standard' || value === 'fast'],
  ['thinking', isRecord],
  ['user_profile_id', isText],
]);

/** Whether a field of a request means in another API's words what it means in Anthropic's. */
export function isNative(name: string, value: unknown): boolean {
  return forms.get(name)?.(value) ?? false;
}

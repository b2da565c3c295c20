import type { Code, Fault } from '../../kit/errors.ts';

/** Why an agent of the studio could not do a task, beside `agent_failed` for all that is none of these. */
const reasons = [
  'answer_malformed',
  'file_changed',
  'file_unreadable',
  'forbidden',
  'model_not_found',
  'no_test_command',
  'path_invalid',
  'service_failed',
  'service_unavailable',
  'task_invalid',
  'test_command_failed',
  'type_not_supported',
] as const;
const known: ReadonlySet<string> = new Set(reasons);

const byCode: Partial<Readonly<Record<Code, (typeof reasons)[number]>>> = {
  deadline: 'service_unavailable',
  exhausted: 'service_unavailable',
  forbidden: 'forbidden',
  invalid: 'task_invalid',
  too_large: 'task_invalid',
  unavailable: 'service_unavailable',
  unimplemented: 'type_not_supported',
  upstream: 'service_failed',
};

const form = /^([a-z_]{1,40}): ([^]+)$/;

/** The agent's words, before them the reason: the mesh carries one text of a failure. */
export function tellFailure({ code, reason = '', message }: Fault): string {
  const told = known.has(reason) ? reason : byCode[code];
  return told === undefined ? message : `${told}: ${message}`;
}

/** The same taken apart; `agent_failed` for what tells no reason, as other agents' failures do not. */
export function readFailure(text: string): { readonly code: string; readonly message: string } {
  const [, code = '', message = ''] = form.exec(text) ?? [];
  return known.has(code) ? { code, message } : { code: 'agent_failed', message: text };
}

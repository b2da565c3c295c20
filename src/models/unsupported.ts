import { Fault } from '../kit/errors.ts';

/** Fields of OpenAI's chat API that change the answer and that the local runtime does not know. */
const unsupportedFields = ['tools', 'tool_choice', 'functions', 'logit_bias', 'logprobs', 'audio'];

/** Refuses by name what would else be silently ignored. */
export function refuseUnsupported(body: object): void {
  const fields = body as Readonly<Record<string, unknown>>;
  const named = unsupportedFields.find((field) => isAsked(fields[field]));
  if (named) throw unsupported(named);
  if (typeof fields['n'] === 'number' && fields['n'] !== 1) throw unsupported('n');
  const format = fields['response_format'] as { type?: unknown } | null | undefined;
  if (format && format.type !== 'text') throw unsupported('response_format');
}

function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

function unsupported(param: string): Fault {
  return new Fault('invalid', `${param} is not supported by local models`, {
    reason: 'unsupported_parameter',
    detail: { param },
  });
}

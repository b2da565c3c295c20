import { execFileSync } from 'node:child_process';
import OpenAI from 'openai';
import { expect } from 'vitest';

/** Runs the `curl` line that the suite printed, as a person would, and answers the access token. */
export function logInAsPrinted(output: string): string {
  const line = output.split('\n').find((one) => one.trim().startsWith('curl '));
  if (!line) throw new Error(`no curl line was printed:\n${output}`);
  const answer = execFileSync('sh', ['-c', line], { encoding: 'utf8' });
  const { access_token } = JSON.parse(answer) as { access_token: string };
  return access_token;
}

/** Asks the gateway through OpenAI's own client, plain and streamed, at both of its addresses. */
export async function completeWithOpenAi(gatewayUrl: string, token: string): Promise<void> {
  await completeAt(`${gatewayUrl}/v1`, token);
  const completion = await completeAt(`${gatewayUrl}/api/v1`, token);
  expect(completion.usage).toMatchObject({ cost: 0 });
  expect(completion).toMatchObject({ provider: 'local' });
}

async function completeAt(baseURL: string, token: string): Promise<OpenAI.ChatCompletion> {
  const openai = new OpenAI({ baseURL, apiKey: token, maxRetries: 0 });
  const request = {
    model: 'auto-route',
    messages: [{ role: 'user' as const, content: 'Say something.' }],
    max_tokens: 16,
  };
  const completion = await openai.chat.completions.create(request);
  expect(completion.choices[0]?.message.content).toMatch(/\S/);
  expect(completion.usage?.completion_tokens).toBeGreaterThan(0);

  const options = { stream: true as const, stream_options: { include_usage: true } };
  const stream = await openai.chat.completions.create({ ...request, ...options });
  let text = '';
  let finishReason: string | null | undefined;
  let tokens = 0;
  for await (const { choices, usage } of stream) {
    text += choices[0]?.delta.content ?? '';
    finishReason = choices[0]?.finish_reason ?? finishReason;
    tokens = usage?.completion_tokens ?? tokens;
  }
  expect(text).toMatch(/\S/);
  expect(['stop', 'length']).toContain(finishReason);
  expect(tokens).toBeGreaterThan(0);
  return completion;
}

interface TracedSpan {
  readonly service: string;
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

/** The spans of the newest completion's trace, as the tracer tells of it. */
export async function completionSpans(
  tracerUrl: string,
  token: string,
): Promise<readonly TracedSpan[]> {
  const read = async (path: string) => {
    const answer = await fetch(`${tracerUrl}/api/v1/traces${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return answer.json() as Promise<{ traces: { traceId: string }[]; spans: TracedSpan[] }>;
  };
  const name = encodeURIComponent('POST /api/v1/chat/completions');
  const [newest] = (await read(`?name=${name}&limit=1`)).traces;
  return newest ? (await read(`/${newest.traceId}`)).spans : [];
}

/** True when a completion's spans hang together: gateway's server span -> its call -> models' server span. */
export function isCompletionTrace(spans: readonly TracedSpan[]): boolean {
  return spans.some((inner) => {
    if (inner.service !== 'models' || inner.name !== 'POST /v1/chat/completions') return false;
    const call = spans.find(({ spanId }) => spanId === inner.parentSpanId);
    const outer = spans.find(({ spanId }) => spanId === call?.parentSpanId);
    return call?.service === 'gateway' && outer?.name === 'POST /api/v1/chat/completions';
  });
}

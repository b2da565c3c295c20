import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { CopyButton } from '../ui/copy-button.tsx';
import { useServiceStates } from './states.ts';

/** How a program asks the gateway, with this suite's own address. */
export function FirstSteps(): ReactNode {
  const gateway = useServiceStates().data?.find(({ name }) => name === 'gateway')?.url;
  if (gateway === undefined) return null;
  return (
    <section className="section" aria-labelledby="first-steps">
      <h2 id="first-steps">Ask a model from your own program</h2>
      <p className="faint">
        Make a key under <Link href="/access">Access</Link>, then point OpenAI’s client at the
        gateway:
      </p>
      <div className="snippet">
        <pre className="json">{snippetFor(gateway)}</pre>
        <CopyButton text={snippetFor(gateway)} />
      </div>
    </section>
  );
}

function snippetFor(gateway: string): string {
  return `const openai = new OpenAI({ baseURL: '${gateway}/v1', apiKey: process.env.ENNEAD_API_KEY });
const answer = await openai.chat.completions.create({
  model: 'auto-route',
  messages: [{ role: 'user', content: 'Hello' }],
});`;
}

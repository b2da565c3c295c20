import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
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
      <Snippet text={snippetFor(gateway)} />
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

function Snippet({ text }: { readonly text: string }): ReactNode {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
  };
  return (
    <div className="snippet">
      <pre className="json">{text}</pre>
      <button type="button" onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

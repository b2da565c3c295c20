import type { ChatRequest, Message, TextPart } from '../conversation/request.ts';

type RewriteTogether = (texts: readonly string[]) => readonly string[];

/**
 * The request with texts rewritten together that are parts of one message, or of one result of a call,
 * with nothing between them: a provider reads them as one. A part of which nothing is left is left out.
 * The same object when nothing changed.
 */
export function rewriteNeighbours(request: ChatRequest, rewrite: RewriteTogether): ChatRequest {
  const messages = request.messages.map((message) => rewriteMessage(message, rewrite));
  const isSame = messages.every((message, at) => message === request.messages[at]);
  return isSame ? request : { ...request, messages };
}

function rewriteMessage(message: Message, rewrite: RewriteTogether): Message {
  if (message.role === 'tool') {
    const parts = message.parts.map((part) => {
      const content = rewriteParts(part.content, rewrite);
      return content === part.content ? part : { ...part, content };
    });
    const isSame = parts.every((part, at) => part === message.parts[at]);
    return isSame ? message : { ...message, parts };
  }
  const parts = rewriteParts<Message['parts'][number]>(message.parts, rewrite);
  // Parts keep their types.
  return parts === message.parts ? message : ({ ...message, parts } as Message);
}

function rewriteParts<P extends { readonly type: string }>(
  parts: readonly P[],
  rewrite: RewriteTogether,
): readonly P[] {
  if (parts.length < 2) return parts;
  const rewritten = runsOf(parts).flatMap((run) => rewriteRun(run, rewrite));
  const isSame = rewritten.every((part, at) => part === parts[at]);
  return isSame && rewritten.length === parts.length ? parts : rewritten;
}

function rewriteRun<P extends { readonly type: string }>(
  run: readonly P[],
  rewrite: RewriteTogether,
): readonly P[] {
  if (run.length < 2) return run;
  const before = run.map((part) => (isText(part) ? part.text : ''));
  const after = rewrite(before);
  return run.flatMap((part, at) => {
    const text = after[at] ?? '';
    if (text === before[at]) return [part];
    return text === '' ? [] : [{ ...part, text }];
  });
}

/** Texts that stand side by side together, all else by itself. */
function runsOf<P extends { readonly type: string }>(parts: readonly P[]): readonly P[][] {
  const runs: P[][] = [];
  let open: P[] | undefined;
  for (const part of parts) {
    if (open && isText(part)) open.push(part);
    else runs.push((open = [part]));
    if (!isText(part)) open = undefined;
  }
  return runs;
}

function isText(part: { readonly type: string }): part is TextPart {
  return part.type === 'text';
}

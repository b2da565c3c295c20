import type { Dialect, DialectName } from '../dialects/dialect.ts';
import { writeExact } from '../dialects/exact-json.ts';
import { callIdLengthOf } from '../catalogue/call-ids.ts';
import type { ChatRequest } from '../conversation/request.ts';
import type { Target } from '../providers/provider.ts';
import type { RequestHeaders } from '../upstream/request-headers.ts';
import type { Outgoing } from '../upstream/upstreams.ts';
import { hasOwnFields, noHeaders, ownFields, type PreparedAsk } from './ask.ts';
import { withCallIds } from './call-ids.ts';
import { appendMember, spliceMembers } from './splice.ts';

export type Dialects = Readonly<Record<DialectName, Dialect>>;

/** Whether a chat's answer comes back as the bytes that it is, and goes to the provider so where it fits. */
export function passesThrough(asked: PreparedAsk, { provider }: Target): boolean {
  if (asked.isChanged || asked.guard || asked.request.needsTranslation) return false;
  return asked.face.dialect === provider.dialect;
}

/** What a provider is sent for a chat, in its own dialect, under these headers. */
export function writeOutgoing(
  asked: PreparedAsk,
  { target, headers }: { readonly target: Target; readonly headers: RequestHeaders },
  dialect: Dialect,
): Outgoing {
  const { model } = target;
  const isTranslated = asked.face.dialect !== target.provider.dialect;
  const all =
    isTranslated || asked.headers === noHeaders ? headers : { ...headers, ...asked.headers };
  const request = fitTo(target, asked.request);
  if (request !== asked.request || !passesThrough(asked, target)) {
    const { path, body } = dialect.writeChat(request, model.name);
    return { target, path, headers: all, body: writeExact(body) };
  }
  const path = dialect.chatPath(model.name, asked.request.isStream);
  return { target, path, headers: all, body: patch(asked, model.name) };
}

/** The request with nothing in it that this provider refuses for its form alone. */
function fitTo(target: Target, request: ChatRequest): ChatRequest {
  const length = callIdLengthOf(target);
  return length === undefined ? request : withCallIds(request, length);
}

/** The caller's own bytes, but for what the provider must not see or must be told. */
function patch(asked: PreparedAsk, model: string): string {
  const { body, text } = asked;
  const isAsSent = body['model'] === model && !hasOwnFields(body);
  const options = streamOptionsOf(asked);
  // The usual cases, for which nothing has to be looked for in the text.
  if (isAsSent && options === undefined) return text;
  if (isAsSent && options === usageWanted) return appendMember(text, 'stream_options', options);
  const changes = new Map<string, string | undefined>();
  if (hasOwnFields(body)) for (const name of ownFields) changes.set(name, undefined);
  if (body['model'] !== model) changes.set('model', JSON.stringify(model));
  if (options !== undefined) changes.set('stream_options', options);
  return spliceMembers(text, changes);
}

const usageWanted = '{"include_usage":true}';

/** What OpenAI's streams are told, as JSON: what one took is only said when it is asked for. */
function streamOptionsOf({ body, request, face }: PreparedAsk): string | undefined {
  if (face.dialect !== 'openai' || !request.isStream || request.wantsUsage) return undefined;
  const given = body['stream_options'];
  if (given === undefined) return usageWanted;
  return JSON.stringify({ ...given, include_usage: true });
}

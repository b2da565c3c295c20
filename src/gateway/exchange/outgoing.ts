import type { Dialect, DialectName } from '../dialects/dialect.ts';
import type { Target } from '../providers/provider.ts';
import type { RequestHeaders } from '../upstream/request-headers.ts';
import type { Outgoing } from '../upstream/upstreams.ts';
import { hasOwnFields, noHeaders, ownFields, type PreparedAsk } from './ask.ts';
import { appendMember, spliceMembers } from './splice.ts';

export type Dialects = Readonly<Record<DialectName, Dialect>>;

/** Whether a chat goes to a provider, and its answer comes back, as the bytes that they are. */
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
  if (!passesThrough(asked, target)) {
    const { path, body } = dialect.writeChat(asked.request, model.name);
    return { target, path, headers, body: JSON.stringify(body) };
  }
  const path = dialect.chatPath(model.name, asked.request.isStream);
  const body = patch(asked, model.name);
  if (asked.headers === noHeaders) return { target, path, headers, body };
  return { target, path, headers: { ...headers, ...asked.headers }, body };
}

/** The caller's own bytes, but for what the provider must not see or must be told. */
function patch({ body, text, request, face }: PreparedAsk, model: string): string {
  const changes = new Map<string, string | undefined>();
  if (hasOwnFields(body)) for (const name of ownFields) changes.set(name, undefined);
  if (body['model'] !== model) changes.set('model', JSON.stringify(model));
  if (face.dialect === 'openai' && request.isStream && !request.wantsUsage) {
    // What a stream took is only said when it is asked for.
    const given = body['stream_options'];
    const options = JSON.stringify({ ...(given as object | undefined), include_usage: true });
    // The usual case, for which nothing has to be looked for in the text.
    if (given === undefined && changes.size === 0) {
      return appendMember(text, 'stream_options', options);
    }
    changes.set('stream_options', options);
  }
  return changes.size === 0 ? text : spliceMembers(text, changes);
}

import { WrittenJson, WrittenJsonText, type WrittenBytes } from '../../kit/answers/written-json.ts';
import type { Lookup } from '../cache/answer-cache.ts';
import { replayAnswer } from '../conversation/replay.ts';
import { writeExact } from '../dialects/exact-json.ts';
import type { PreparedAsk } from './ask.ts';
import { billHit } from './bill.ts';
import { readCached } from './cached-answers.ts';
import type { ExchangeParts, Provenance, TellHead } from './parts.ts';
import type { StreamEdge } from './streams/passage.ts';
import { annotateUsage, type Note } from './streams/relay.ts';

type Hit = Extract<Lookup, { readonly state: 'hit' }>;

/** The answer that the cache has, as it was worded when it was made. */
export async function giveHit(
  asked: PreparedAsk,
  hit: Hit,
  { tellHead, parts }: { readonly tellHead: TellHead; readonly parts: ExchangeParts },
): Promise<WrittenBytes> {
  await billHit(asked, hit.answer, parts);
  tellHead(provenanceOf(hit));
  const { face, request } = asked;
  const { body } = hit.answer;
  if (face.dialect) return new WrittenJson(body);
  const answer = readCached(face, parts.dialects, body);
  return new WrittenJsonText(writeExact(face.writeAnswer(answer, request)));
}

/** The answer that the cache has, told as a stream. */
export async function tellHit(
  asked: PreparedAsk,
  hit: Hit,
  { edge, parts }: { readonly edge: StreamEdge; readonly parts: ExchangeParts },
): Promise<void> {
  await billHit(asked, hit.answer, parts);
  edge.tellHead(provenanceOf(hit));
  const { face, request, isAnnotated } = asked;
  const about = isAnnotated ? noteOf(hit) : undefined;
  const writer = face.openStream(request);
  for (const piece of replayAnswer(readCached(face, parts.dialects, hit.answer.body))) {
    const words = writer.write(piece);
    const text = about ? annotateUsage(words, about) : words;
    if (text !== '' && !edge.sink.write(text)) await edge.sink.drained();
  }
}

/** What the answer cost when it was made, as its body says. */
function noteOf({ answer: { body, provider } }: Hit): Note {
  const { usage } = JSON.parse(body.toString()) as { usage?: { cost?: number } };
  return { provider, cost: usage?.cost ?? 0 };
}

function provenanceOf({ key, ageSeconds, similarity, answer }: Hit): Provenance {
  const state = similarity === undefined ? 'HIT' : 'SEMANTIC';
  const { provider, model } = answer;
  return { provider, model, cost: 0, attempts: 0, cache: { state, key, ageSeconds, similarity } };
}

import { LRUCache } from 'lru-cache';
import type { Face, FaceStream } from '../face.ts';

type Json = Readonly<Record<string, unknown>>;

const bytesMax = 32 * 1024 * 1024;
const ttlMs = 60 * 60 * 1_000;
/** The events that hold a whole response; in a text their quotes would be escaped. */
const ending = /"type":"response\.(?:completed|incomplete)"/;

/**
 * The items of answers for as long as a conversation may refer to them by their ids, as clients of the
 * Responses API do unless they say `store: false`: an hour, in this replica, up to 32 MiB for all.
 */
export class ItemMemory {
  readonly #items = new LRUCache<string, Json>({
    maxSize: bytesMax,
    ttl: ttlMs,
    sizeCalculation: (item, key) => key.length + JSON.stringify(item).length,
  });

  /** The face for one request of a caller, who can refer to nobody else's items. */
  faceOf(face: Face, subject: string): Face {
    let isKept = true;
    const remember = (response: Json) => {
      if (isKept) this.#remember(response, subject);
    };
    return {
      ...face,
      read: (body) => {
        isKept = body['store'] !== false;
        return face.read(this.#withItems(body, subject));
      },
      writeAnswer: (answer, request) => {
        const said = face.writeAnswer(answer, request);
        remember(said);
        return said;
      },
      openStream: (request) => listening(face.openStream(request), remember),
    };
  }

  #remember({ output }: Json, subject: string): void {
    if (!Array.isArray(output)) return;
    for (const item of output as Json[]) {
      if (typeof item['id'] === 'string') this.#items.set(`${subject} ${item['id']}`, item);
    }
  }

  /** The body with what it refers to in its place; an unknown reference is left for the face to refuse. */
  #withItems(body: Json, subject: string): Json {
    const { input } = body;
    if (!Array.isArray(input) || !input.some(isReference)) return body;
    const items = input.map((item: unknown) =>
      isReference(item) ? (this.#items.get(`${subject} ${item.id}`) ?? item) : item,
    );
    return { ...body, input: items };
  }
}

function listening(stream: FaceStream, remember: (response: Json) => void): FaceStream {
  return {
    get eventCount() {
      return stream.eventCount;
    },
    write: (event) => {
      const text = stream.write(event);
      if (event.type === 'end') remember(responseIn(text));
      return text;
    },
  };
}

interface Reference {
  readonly type: 'item_reference';
  readonly id: string;
}

function isReference(item: unknown): item is Reference {
  const { type, id } = (item ?? {}) as Partial<Reference>;
  return type === 'item_reference' && typeof id === 'string';
}

function responseIn(text: string): Json {
  const line = text.split('\n').find((one) => one.startsWith('data:') && ending.test(one));
  const { response } = JSON.parse(line?.slice('data:'.length) ?? '{}') as { response?: Json };
  return response ?? {};
}

import type { Citation } from '../../conversation/request.ts';
import { listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { countIn } from './count-in.ts';

/** The `url_citation` annotations of a message or delta; undefined where there are none. */
export function citationsIn(message: Json): readonly Citation[] | undefined {
  const found = listIn(message['annotations']).flatMap((annotation) => {
    const { type, url_citation: cited } = recordIn(annotation);
    const { url, title, start_index: start, end_index: end } = recordIn(cited);
    const address = textIn(url);
    if (type !== 'url_citation' || address === undefined) return [];
    const place = { start: countIn(start) ?? 0, end: countIn(end) ?? 0 };
    return [{ url: address, title: textIn(title) ?? '', ...place }];
  });
  return found.length > 0 ? found : undefined;
}

/** The same in OpenAI's words. */
export function writeCitations(citations: readonly Citation[]): Record<string, unknown>[] {
  return citations.map(({ url, title, start, end }) => ({
    type: 'url_citation',
    url_citation: { url, title, start_index: start, end_index: end },
  }));
}

import { newId } from '../../../kit/ids.ts';
import type { Answer } from '../../conversation/answer.ts';
import { textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { countIn } from './count-in.ts';

/** What names an answer or a chunk; some servers leave the id or the time out, or tell fractions of a second. */
export function readHead(body: Json): Pick<Answer, 'id' | 'model' | 'createdAt'> {
  return {
    id: textIn(body['id']) ?? newId('chat'),
    model: textIn(body['model']) ?? '',
    createdAt: Math.floor(countIn(body['created']) ?? Date.now() / 1000),
  };
}

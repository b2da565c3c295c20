import type { Answer } from '../../api/contracts.ts';

export type Chunk = Answer<'chat', 'GET /api/chat/stream'>;

/** A call of a tool as the stream tells it. */
export interface LiveCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly needsApproval: boolean;
  readonly isApproved?: boolean;
  readonly result?: CallResult;
}

export interface CallResult {
  readonly content: string;
  readonly isError: boolean;
}

/** An answer as far as it was told; a turn has several where tools are called. */
export interface LiveAnswer {
  readonly messageId: string;
  readonly model: string;
  readonly text: string;
  /** What the model thinks apart from its answer; it is stored nowhere. */
  readonly reasoning: string;
  readonly calls: readonly LiveCall[];
}

/** A turn that this page reads. */
export interface LiveTurn {
  /** Absent until the first word. */
  readonly id?: string;
  /** What was asked here; shown until it is among what is stored. */
  readonly question?: Question;
  readonly answers: readonly LiveAnswer[];
  readonly status: 'running' | 'ended' | 'failed';
  readonly error?: Error;
}

export interface Question {
  readonly text: string;
  /** The last place of the conversation when it was asked. */
  readonly after: number;
}

/** The turn with one more event. */
export function takeChunk(turn: LiveTurn, chunk: Chunk): LiveTurn {
  const { id, model, message_id: messageId } = chunk;
  const known = turn.answers.find((answer) => answer.messageId === messageId);
  const answer = known ?? { messageId, model, text: '', reasoning: '', calls: [] };
  const next = addCall(addText(answer, chunk), chunk);
  const answers = known
    ? turn.answers.map((other) => (other === known ? next : withCallNews(other, chunk)))
    : [...turn.answers.map((other) => withCallNews(other, chunk)), next];
  return { ...turn, id, answers };
}

function addText(answer: LiveAnswer, { model, choices }: Chunk): LiveAnswer {
  // Fields beside the contract's are those of OpenAI's API.
  const delta: { content?: string; reasoning_content?: string } = choices[0]?.delta ?? {};
  return {
    ...answer,
    model,
    text: answer.text + (delta.content ?? ''),
    reasoning: answer.reasoning + (delta.reasoning_content ?? ''),
  };
}

function addCall(answer: LiveAnswer, chunk: Chunk): LiveAnswer {
  const told = withCallNews(answer, chunk);
  if (!chunk.tool_call) return told;
  const { call_id: id, name, arguments: text, needs_approval: needsApproval } = chunk.tool_call;
  if (told.calls.some((call) => call.id === id)) return told;
  return { ...told, calls: [...told.calls, { id, name, arguments: text, needsApproval }] };
}

/** What comes of a call may be told when another answer has begun. */
function withCallNews(answer: LiveAnswer, { approval, tool_result: result }: Chunk): LiveAnswer {
  if (!approval && !result) return answer;
  const calls = answer.calls.map((call): LiveCall => {
    if (call.id === approval?.call_id) return { ...call, isApproved: approval.approved };
    if (call.id !== result?.call_id) return call;
    return { ...call, result: { content: result.content, isError: result.is_error } };
  });
  return { ...answer, calls };
}

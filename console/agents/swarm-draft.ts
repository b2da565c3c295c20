import type { InputOf } from '../api/contracts.ts';
import { readObject } from '../ui/entry-text.ts';

/** The form of a swarm as it is written. */
export interface SwarmDraft {
  readonly name: string;
  readonly members: readonly string[];
  /** What is asked; it stands in the task's input as `question`. */
  readonly question: string;
  /** More of the input as a JSON object, or nothing. */
  readonly input: string;
  /** Equal votes that decide; empty for what the number of members asks for. */
  readonly threshold: string;
  readonly timeoutSeconds: string;
}

type NewSwarm = NonNullable<InputOf<'mesh', 'POST /api/v1/swarms'>['body']>;

/** The type of the task that is voted on, when it is made here. */
const taskType = 'question';

/** What is sent for a draft; throws a sentence where the draft itself cannot be read. */
export function swarmOf(draft: SwarmDraft): NewSwarm {
  const { name, members, question, input, threshold, timeoutSeconds } = draft;
  const more = input.trim() === '' ? {} : readObject(input, 'the further input');
  return {
    name,
    agents: [...members],
    task: { type: taskType, input: { ...(question ? { question } : {}), ...more } },
    consensus: {
      ...(threshold === '' ? {} : { threshold: Number(threshold) }),
      ...(timeoutSeconds === '' ? {} : { timeout: Math.round(Number(timeoutSeconds) * 1_000) }),
    },
  };
}

/** How many equal votes of so many members decide at least, and how many may lie. */
export function quorumOf(memberCount: number): { readonly quorum: number; readonly liars: number } {
  const liars = Math.max(0, Math.floor((memberCount - 1) / 3));
  return { quorum: Math.floor((memberCount + liars) / 2) + 1, liars };
}

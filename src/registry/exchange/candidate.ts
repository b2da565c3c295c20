import type { NewConnection } from './registrar.ts';

/** What an entry of a document came to. */
export type Candidate =
  | {
      readonly input: NewConnection;
      readonly needs: readonly string[];
      /** What of the entry was passed over, by its names. */
      readonly unknown?: readonly string[];
    }
  | {
      readonly name: string;
      readonly skipped: 'input_needed' | 'disabled' | 'unsupported' | 'ambiguous';
      readonly needs?: readonly string[];
      /** What of the entry has no counterpart here, by its names. */
      readonly unknown?: readonly string[];
    };

/** `unknown` names the parts of the entry without which it would be another server. */
export function unsupported(name: string, unknown: readonly string[] = []): Candidate {
  return { name, skipped: 'unsupported', ...(unknown.length > 0 ? { unknown } : {}) };
}

export function inputNeeded(name: string, needs: readonly string[]): Candidate {
  return { name, skipped: 'input_needed', needs: [...new Set(needs)] };
}

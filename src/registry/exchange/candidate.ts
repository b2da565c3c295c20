import type { NewConnection } from './registrar.ts';

/** What an entry of a document came to. */
export type Candidate =
  | { readonly input: NewConnection; readonly needs: readonly string[] }
  | {
      readonly name: string;
      readonly skipped: 'input_needed' | 'disabled' | 'unsupported';
      readonly needs?: readonly string[];
    };

export function unsupported(name: string): Candidate {
  return { name, skipped: 'unsupported' };
}

export function inputNeeded(name: string, needs: readonly string[]): Candidate {
  return { name, skipped: 'input_needed', needs: [...new Set(needs)] };
}

import { isAnswered, isKeyProved, isProved, type Proof, type Statement } from './schnorr.ts';

/** One check of a proof, as it travels to the thread that does it. */
export type ProofTask =
  | {
      readonly kind: 'statement';
      readonly publicKey: string;
      readonly statement: Statement;
      readonly proof: Proof;
    }
  | {
      readonly kind: 'key';
      readonly publicKey: string;
      readonly agentId: string;
      readonly proof: Proof;
    }
  | { readonly kind: 'answer'; readonly publicKey: string; readonly proof: Proof };

/** Does the check: one or two milliseconds of arithmetic. */
export function isTaskProved(task: ProofTask): boolean {
  const { kind, publicKey, proof } = task;
  if (kind === 'statement') return isProved(publicKey, task.statement, proof);
  if (kind === 'key') return isKeyProved(publicKey, task.agentId, proof);
  return isAnswered(publicKey, proof);
}
